using System.Diagnostics;
using System.Globalization;
using System.Net;
using System.Net.Sockets;
using Xunit;

namespace FastPort.Interop.Tests.HaProxy;

/// <summary>HAProxy in front of one server, as a child process that is killed by its id at the end.</summary>
internal sealed class HaProxyProcess : IAsyncDisposable
{
    private static readonly string? Program = PeerPrograms.Find("haproxy");

    private readonly Process _process;
    private readonly Task<string> _said;

    private HaProxyProcess(Process process, int port)
    {
        _process = process;
        _said = process.StandardError.ReadToEndAsync();
        Port = port;
    }

    /// <summary>That it is missing and how to get it; null where it is there.</summary>
    public static string? Problem => Program is null ? "There is no haproxy: install it, in Debian with `apt-get install haproxy`." : null;

    /// <summary>Where it listens, on 127.0.0.1.</summary>
    public int Port { get; }

    /// <summary>Starts it and waits until it listens.</summary>
    /// <param name="files">For its configuration.</param>
    /// <param name="bind">Options of its listener, such as a certificate; empty for none.</param>
    /// <param name="serverPort">The server behind it, on 127.0.0.1.</param>
    /// <param name="server">Options of the server's line, such as <c>send-proxy</c>.</param>
    /// <param name="mode">What it understands: <c>tcp</c> or <c>http</c>. Defaults to <c>tcp</c>.</param>
    /// <param name="pagesPort">Another server, on 127.0.0.1, that gets what is not for a WebSocket. Defaults to 0: there is none.</param>
    public static async Task<HaProxyProcess> StartAsync(
        TemporaryDirectory files, string bind, int serverPort, string server, string mode = "tcp", int pagesPort = 0)
    {
        Assert.True(Program is not null, Problem);
        for (int attempt = 0; ; attempt++)
        {
            int port = FreePort();
            await File.WriteAllTextAsync(
                files["haproxy.cfg"], Configuration(port, bind, serverPort, server, mode, pagesPort), Patience.Token);
            var start = new ProcessStartInfo(Program, ["-db", "-f", files["haproxy.cfg"]])
            {
                UseShellExecute = false,
                RedirectStandardError = true,
                RedirectStandardOutput = true,
            };
            var started = new HaProxyProcess(Process.Start(start)!, port);
            await Patience.UntilAsync(() => started._process.HasExited || Listens(port), "HAProxy listens");
            if (!started._process.HasExited)
            {
                return started;
            }

            // Somebody else may have taken the port in the meantime.
            string said = await started._said;
            await started.DisposeAsync();
            Assert.True(attempt < 3, $"HAProxy has ended:\n{said}");
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
        }

        await _said.InTimeAsync();
        _process.Dispose();
    }

    private static string Configuration(int port, string bind, int serverPort, string server, string mode, int pagesPort) => string.Create(
        CultureInfo.InvariantCulture,
        $"""
        global
            maxconn 100
        defaults
            mode {mode}
            timeout connect 10s
            timeout client 60s
            timeout server 60s
            timeout tunnel 1h
        listen fastport
            bind 127.0.0.1:{port} {bind}
            {(pagesPort == 0 ? string.Empty : "use_backend pages unless { hdr(upgrade) -i websocket }")}
            server fastport 127.0.0.1:{serverPort} {server}
        {(pagesPort == 0 ? string.Empty : $"backend pages\n    server pages 127.0.0.1:{pagesPort}")}

        """);

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }

    // By the kernel's table: a connection to find out would come through to the server.
    private static bool Listens(int port) => System.Net.NetworkInformation.IPGlobalProperties.GetIPGlobalProperties()
        .GetActiveTcpListeners().Any(listener => listener.Port == port);
}
