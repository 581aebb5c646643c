using System.Diagnostics;
using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using FastPort.Tests.Browser;
using Xunit;

namespace FastPort.Dashboard.Tests.Support;

/// <summary>
/// nginx with its defaults in front of a dashboard, below <c>/fp/</c>, as a process in the foreground. It is ended by its id when disposed.
/// </summary>
internal sealed class NginxProcess : IAsyncDisposable
{
    private static readonly string? Program = PeerPrograms.Find("nginx");

    private readonly TemporaryDirectory _directory;
    private readonly Process _process;
    private readonly Task<string> _said;

    private NginxProcess(TemporaryDirectory directory, Process process, int port)
    {
        (_directory, _process) = (directory, process);
        _said = process.StandardError.ReadToEndAsync();
        Url = new Uri($"http://127.0.0.1:{port}/fp/");
    }

    /// <summary>That it is missing and how to get it; null where it is there.</summary>
    public static string? Problem => Program is null
        ? "There is no nginx: install it, in Debian with `apt-get install nginx-light`." : null;

    /// <summary>Where the dashboard is reached through it.</summary>
    public Uri Url { get; }

    /// <summary>Starts it and waits until it listens.</summary>
    /// <param name="dashboard">The dashboard behind it.</param>
    /// <param name="settings">Directives of its server, such as <c>gzip on;</c>.</param>
    public static async Task<NginxProcess> StartAsync(Uri dashboard, string settings)
    {
        Assert.True(Problem is null, Problem);
        for (int attempt = 0; ; attempt++)
        {
            int port = FreePort();
            var directory = new TemporaryDirectory();
            string configuration = Path.Combine(directory.Path, "nginx.conf");
            await File.WriteAllTextAsync(configuration, Configuration(directory.Path, port, dashboard, settings), Patience.Token);
            var start = new ProcessStartInfo(Program!, ["-p", directory.Path, "-c", configuration, "-e", "stderr"])
            {
                UseShellExecute = false,
                RedirectStandardError = true,
            };
            var started = new NginxProcess(directory, Process.Start(start)!, port);
            await Patience.UntilAsync(() => started._process.HasExited || Listens(port), "nginx listens");
            if (!started._process.HasExited)
            {
                return started;
            }

            // Somebody else may have taken the port in the meantime.
            string said = await started._said;
            await started.DisposeAsync();
            Assert.True(attempt < 3, $"nginx has ended:\n{said}");
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
        }

        await _process.WaitForExitAsync(Patience.Token);
        await _said;
        _process.Dispose();
        _directory.Dispose();
    }

    // One process, without a master, and nothing but a location: all that is not said has nginx's defaults.
    private static string Configuration(string directory, int port, Uri dashboard, string settings) =>
        $$"""
        daemon off;
        master_process off;
        pid {{directory}}/nginx.pid;
        events { }
        http {
          access_log off;
          client_body_temp_path {{directory}}/body;
          proxy_temp_path {{directory}}/proxy;
          fastcgi_temp_path {{directory}}/fastcgi;
          uwsgi_temp_path {{directory}}/uwsgi;
          scgi_temp_path {{directory}}/scgi;
          server {
            listen 127.0.0.1:{{port}};
            {{settings}}
            location /fp/ { proxy_pass {{dashboard.GetLeftPart(UriPartial.Authority)}}/; }
          }
        }

        """;

    private static int FreePort()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        return ((IPEndPoint)listener.LocalEndpoint).Port;
    }

    private static bool Listens(int port) =>
        IPGlobalProperties.GetIPGlobalProperties().GetActiveTcpListeners().Any(listener => listener.Port == port);
}

/// <summary>A test that needs nginx and Chromium: skipped where one is not installed, but not in the gate.</summary>
[AttributeUsage(AttributeTargets.Method)]
internal sealed class NginxTheoryAttribute : TheoryAttribute
{
    public NginxTheoryAttribute([CallerFilePath] string? sourceFile = null, [CallerLineNumber] int sourceLine = -1)
        : base(sourceFile, sourceLine) => Skip = PeerPrograms.SkipReason(NginxProcess.Problem) ?? Chromium.SkipReason;
}
