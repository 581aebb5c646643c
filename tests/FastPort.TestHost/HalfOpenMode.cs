using System.Diagnostics;
using System.Globalization;
using Microsoft.Extensions.Logging;

namespace FastPort.TestHost;

/// <summary>
/// A server and a client that are cut off from each other without a FIN or a reset: the process runs in a network namespace of its own, and
/// takes down the loopback device for the line "down" on standard input ("up" brings it back, "send" sends from the server to the client).
/// Prints the log of both.
/// </summary>
internal static class HalfOpenMode
{
    /// <param name="transport">The transport of both sides.</param>
    /// <param name="settings">Timeouts of both sides in ms, all others being off: heartbeat=300 for example.</param>
    public static async Task RunAsync(TransportKind transport, IReadOnlyList<string> settings)
    {
        await SetLoopbackAsync("up");
        using var log = new ConsoleLog(LogLevel.Debug);
        var serverOptions = new FastPortServerOptions { Transport = transport };
        serverOptions.Endpoints.Add("tcp://127.0.0.1:0");
        Apply(settings, serverOptions.Session);
        await using var server = new FastPortServer(serverOptions, new MessageHandlers(), loggerFactory: log);
        await server.StartAsync();
        var clientOptions = new FastPortClientOptions
        {
            Endpoint = server.Endpoints[0].ToString(),
            Transport = transport,
            CloseTimeout = TimeSpan.Zero,
        };
        Apply(settings, clientOptions.Session);
        await using var client = new FastPortClient(clientOptions, loggerFactory: log);
        await client.ConnectAsync();
        Console.WriteLine("connected=1");
        while (Console.ReadLine() is { } line)
        {
            if (line == "send")
            {
                foreach (Session session in server.Sessions)
                {
                    session.TrySend(0x1000, new byte[100]);
                }
            }
            else
            {
                await SetLoopbackAsync(line);
            }

            Console.WriteLine("done=1");
        }
    }

    private static async Task SetLoopbackAsync(string state)
    {
        using Process ip = Process.Start("ip", ["link", "set", "lo", state]);
        await ip.WaitForExitAsync();
        if (ip.ExitCode != 0)
        {
            throw new InvalidOperationException($"ip link set lo {state} ended with {ip.ExitCode}.");
        }
    }

    private static void Apply(IReadOnlyList<string> settings, SessionOptions options)
    {
        options.HeartbeatInterval = Time("heartbeat");
        options.IdleTimeout = Time("idle");
        options.KeepAlive = Time("keepalive");
        options.UserTimeout = Time("user");
        options.WriteTimeout = options.HandshakeTimeout = options.FrameTimeout = TimeSpan.Zero;

        TimeSpan Time(string key) => TimeSpan.FromMilliseconds(
            settings.Where(s => s.StartsWith(key + "=", StringComparison.Ordinal))
                .Select(s => int.Parse(s[(key.Length + 1)..], CultureInfo.InvariantCulture)).FirstOrDefault());
    }
}
