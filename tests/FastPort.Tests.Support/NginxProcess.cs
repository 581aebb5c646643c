using System.Diagnostics;
using System.Net;
using System.Net.NetworkInformation;
using System.Net.Sockets;
using Xunit;

namespace FastPort.Tests.Support;

/// <summary>nginx as a process in the foreground, which is ended by its id when disposed.</summary>
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
        Port = port;
    }

    /// <summary>That it is missing and how to get it; null where it is there.</summary>
    public static string? Problem => Program is null
        ? "There is no nginx: install it, in Debian with `apt-get install nginx-light`." : null;

    /// <summary>Where it listens, on 127.0.0.1.</summary>
    public int Port { get; }

    /// <summary>Starts it and waits until it listens.</summary>
    /// <param name="http">Gives its servers, as directives of <c>http</c>, for the port to listen to on 127.0.0.1.</param>
    public static async Task<NginxProcess> StartAsync(Func<int, string> http)
    {
        Assert.True(Problem is null, Problem);
        for (int attempt = 0; ; attempt++)
        {
            int port = FreePort();
            var directory = new TemporaryDirectory();
            string configuration = Path.Combine(directory.Path, "nginx.conf");
            await File.WriteAllTextAsync(configuration, Configuration(directory.Path, http(port)), Patience.Token);
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

    // One process, without a master: all that is not said has nginx's defaults.
    private static string Configuration(string directory, string http) =>
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
          {{http}}
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
