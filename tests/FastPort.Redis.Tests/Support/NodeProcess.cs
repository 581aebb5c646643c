namespace FastPort.Redis.Tests.Support;

/// <summary>FastPort.Server as a node in a process of its own, with a lease of 2 s.</summary>
internal sealed class NodeProcess : IAsyncDisposable
{
    private readonly ServerProcess _process;

    private NodeProcess(ServerProcess process, string endpoint)
    {
        _process = process;
        Endpoint = endpoint;
    }

    public string Endpoint { get; }

    /// <summary>What it has printed, its log included.</summary>
    public string Output => _process.Output + _process.Errors;

    public static ServerProcess Run(string redis, string name, params (string Key, string Value)[] settings) =>
        Run([], "tcp://127.0.0.1:0", redis, name, settings);

    /// <summary>The same, begun by another program that becomes it.</summary>
    public static ServerProcess Run(
        IReadOnlyList<string> launcher, string endpoint, string redis, string name, params (string Key, string Value)[] settings) =>
        ServerProcess.StartProgram(
            launcher,
            AppContext.BaseDirectory.Replace(
                Path.Combine("tests", "FastPort.Redis.Tests"), Path.Combine("src", "FastPort.Server"), StringComparison.Ordinal),
            "FastPort.Server.dll",
            ["--listen", endpoint],
            [
                ("FastPort__Routing__Relay", "true"),
                ("FastPort__Routing__Topics", "true"),
                ("FastPort__Routing__Peers", "true"),
                ("FastPort__Backplane__Connection", redis),
                ("FastPort__Backplane__Node", name),
                ("FastPort__Backplane__Lease", "00:00:02"),
                ("LatencyStats__EnableConsoleOutput", "false"),
                ("LatencyStats__EnableFileOutput", "false"),
                .. settings,
            ]);

    public static Task<NodeProcess> StartAsync(string redis, string name, params (string Key, string Value)[] settings) =>
        ListeningAsync(Run(redis, name, settings));

    /// <summary>The node, when it listens.</summary>
    public static async Task<NodeProcess> ListeningAsync(ServerProcess process)
    {
        try
        {
            return new NodeProcess(process, await process.ListeningAsync());
        }
        catch
        {
            await process.DisposeAsync();
            throw;
        }
    }

    public void Signal(int signal) => _process.Signal(signal);

    /// <summary>A client with a routing id, connected.</summary>
    public async Task<FastPortClient> ConnectAsync(string routingId, Action<FastPortClient>? prepare = null)
    {
        var client = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = Endpoint,
            RoutingId = routingId,
            RequestTimeout = Patience.Limit,
        });
        prepare?.Invoke(client);
        try
        {
            await client.ConnectAsync(Patience.Token);
            return client;
        }
        catch
        {
            await client.DisposeAsync();
            throw;
        }
    }

    /// <summary>The same for an id that is free when the lease of its node has ended.</summary>
    public async Task<FastPortClient> ConnectAgainAsync(string routingId, Action<FastPortClient> prepare)
    {
        CancellationToken limit = Patience.Token;
        while (true)
        {
            try
            {
                return await ConnectAsync(routingId, prepare);
            }
            catch (RequestFailedException e) when (e.Code is ErrorCode.DuplicateIdentity or ErrorCode.Unavailable)
            {
                await Task.Delay(50, limit);
            }
        }
    }

    public ValueTask DisposeAsync() => _process.DisposeAsync();
}
