using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using FastPort.Core.Tests.Support;
using FastPort.Interop.Tests.Peers;
using Xunit;

namespace FastPort.Redis.Tests.Support;

/// <summary>An empty redis-server as a child process, which is killed by its id at the end.</summary>
internal sealed class RedisProcess : IAsyncDisposable
{
    private static readonly string? Program = PeerPrograms.Find("redis-server");

    private readonly string[] _options;
    private Process _process;

    private RedisProcess(Process process, int port, string[] options)
    {
        _process = process;
        _options = options;
        Port = port;
    }

    public int Id => _process.Id;

    /// <summary>That it is missing and how to get it; null where it is there.</summary>
    public static string? Problem =>
        Program is null ? "There is no redis-server: install it, in Debian with `apt-get install redis-server`." : null;

    public int Port { get; }

    public string Connection => string.Create(CultureInfo.InvariantCulture, $"127.0.0.1:{Port}");

    public static async Task<RedisProcess> StartAsync(params string[] options)
    {
        Assert.True(Program is not null, Problem);
        for (int attempt = 0; ; attempt++)
        {
            int port = FreePort();
            Process process = Run(port, options);
            if (await IsReadyAsync(process))
            {
                return new RedisProcess(process, port, options);
            }

            // Somebody else may have taken the port in the meantime.
            process.Dispose();
            Assert.True(attempt < 3, "redis-server does not start.");
        }
    }

    /// <summary>Redis in a network of its own, where it listens at port 6379 of every address, and at a Unix socket.</summary>
    public static async Task<RedisProcess> StartInNetworkAsync(string socket)
    {
        Assert.True(Program is not null, Problem);
        const int DefaultPort = 6379;
        string[] options = ["--bind", "0.0.0.0", "--protected-mode", "no", "--unixsocket", socket];
        var redis = new RedisProcess(Run(DefaultPort, options, NetworkNamespaces.Own), DefaultPort, options);
        if (!await IsReadyAsync(redis._process))
        {
            await redis.DisposeAsync();
            Assert.Fail("redis-server does not start in a network of its own.");
        }

        return redis;
    }

    /// <summary>Sends a signal by the command kill, for example STOP or CONT.</summary>
    public async Task SignalAsync(string signal)
    {
        using Process kill = Process.Start("kill", [$"-{signal}", _process.Id.ToString(CultureInfo.InvariantCulture)]);
        await kill.WaitForExitAsync(Patience.Token);
        Assert.Equal(0, kill.ExitCode);
    }

    public async Task KillAsync()
    {
        _process.Kill();
        await _process.WaitForExitAsync(Patience.Token);
        _process.Dispose();
    }

    /// <summary>Starts it again on the same port, empty.</summary>
    public async Task StartAgainAsync()
    {
        _process = Run(Port, _options);
        Assert.True(await IsReadyAsync(_process), "redis-server does not start again.");
    }

    public async ValueTask DisposeAsync() => await KillAsync();

    private static Process Run(int port, string[] options, IReadOnlyList<string>? launcher = null)
    {
        string[] command =
        [
            .. launcher ?? [], Program!, "--port", port.ToString(CultureInfo.InvariantCulture), "--bind", "127.0.0.1", "--save", "",
            "--appendonly", "no", .. options,
        ];
        return Process.Start(new ProcessStartInfo(command[0], command[1..])
        {
            UseShellExecute = false,
            RedirectStandardOutput = true,
        })!;
    }

    private static async Task<bool> IsReadyAsync(Process process)
    {
        while (await process.StandardOutput.ReadLineAsync(Patience.Token) is { } line)
        {
            if (line.Contains("Ready to accept connections", StringComparison.Ordinal))
            {
                // What it says later is read and dropped, so that it does not block.
                _ = process.StandardOutput.ReadToEndAsync(CancellationToken.None);
                return true;
            }
        }

        return false;
    }

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }
}
