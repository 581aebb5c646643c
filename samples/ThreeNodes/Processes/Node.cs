using System.Diagnostics;

namespace ThreeNodes.Processes;

/// <summary>One node: FastPort.Server, configured by its environment as a systemd unit configures it.</summary>
internal sealed class Node(string name, int port, int healthPort, int redisPort, bool isBehindProxy, string directory) : IAsyncDisposable
{
    private Child? _process;

    public string Name => name;

    public int Port => port;

    public int HealthPort => healthPort;

    public string Endpoint => $"tcp://127.0.0.1:{port}";

    public async Task StartAsync(CancellationToken cancellationToken)
    {
        var start = new ProcessStartInfo(
            Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet",
            [Path.Combine(AppContext.BaseDirectory, "FastPort.Server.dll")])
        {
            WorkingDirectory = directory,
        };

        IDictionary<string, string?> settings = start.Environment;
        settings["FastPort__Endpoints__0"] = Endpoint;
        settings["FastPort__Backplane__Connection"] = $"127.0.0.1:{redisPort}";
        settings["FastPort__Backplane__Node"] = name;
        settings["Dashboard__Url"] = $"http://127.0.0.1:{healthPort}";

        // Long enough for two health checks of the balancer, which then sends nobody here any more.
        settings["FastPort__DrainDelay"] = isBehindProxy ? "00:00:02" : "00:00:00";
        if (isBehindProxy)
        {
            settings["FastPort__TrustedProxies__0"] = "127.0.0.1";
        }

        settings["LatencyStats__EnableConsoleOutput"] = settings["LatencyStats__EnableFileOutput"] = "false";
        _process = await Child.StartAsync(name, start, "dashboard on", cancellationToken);
    }

    /// <summary>Stops it in order.</summary>
    /// <exception cref="ChildFailedException">It has not ended well.</exception>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        Child process = _process!;
        int code = await process.StopAsync(cancellationToken);
        if (code != 0)
        {
            throw new ChildFailedException($"{name} has ended with exit code {code}.");
        }

        await process.DisposeAsync();
        _process = null;
    }

    public ValueTask DisposeAsync() => _process?.DisposeAsync() ?? ValueTask.CompletedTask;
}
