using FastPort.Interop.Tests.Peers;
using FastPort.Protocol;

namespace FastPort.Interop.Tests.NodeClient;

/// <summary>A server with the diagnostics on a free port, and the peer that plays scenarios against it.</summary>
internal sealed class NodeScenario : IAsyncDisposable
{
    private readonly FastPortServer? _server;
    private readonly ServerProcess? _process;

    private NodeScenario(FastPortServer server)
    {
        _server = server;
        Port = server.Endpoints[0].Port;
    }

    private NodeScenario(ServerProcess process)
    {
        _process = process;
        Port = process.Port;
    }

    public int Port { get; }

    // The peer connects to a port, or to a WebSocket's URL.
    private string Target => _server?.Endpoints[0] is { Scheme: "ws" } endpoint ? $"{endpoint}" : $"{Port}";

    /// <summary>The server, which is in this process.</summary>
    public FastPortServer Server =>
        _server ?? throw new InvalidOperationException("The server is another process: only its port is known.");

    /// <summary>A server in this process, for scenarios that look into it or need options or handlers of their own.</summary>
    public static async Task<NodeScenario> StartAsync(Action<FastPortServerOptions>? configure = null, Action<MessageHandlers>? map = null)
    {
        var options = new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } };
        configure?.Invoke(options);
        MessageHandlers handlers = new MessageHandlers().MapDiagnostics();
        map?.Invoke(handlers);
        var server = new FastPortServer(options, handlers);
        await server.StartAsync();
        return new NodeScenario(server);
    }

    /// <summary>
    /// A server with diagnostics and routing, for scenarios that need only its port: the program that
    /// <see cref="ServerProcess.Variable"/> names, where it names one, otherwise a server in this process.
    /// </summary>
    public static async Task<NodeScenario> StartWithPortAsync() => ServerProcess.Program is { } program
        ? new NodeScenario(await ServerProcess.StartAsync(program))
        : await StartAsync(static options => options.Routing.Relay = options.Routing.Topics = options.Routing.Peers = true);

    /// <summary>Plays one scenario with one server.</summary>
    public static async Task<T> PlayOnceAsync<T>(string scenario, object? arguments = null)
    {
        await using NodeScenario node = await StartWithPortAsync();
        return await node.PlayAsync<T>(scenario, arguments);
    }

    public async Task<T> PlayAsync<T>(string scenario, object? arguments = null)
    {
        using NodeProcess process = NodeProcess.Start("client.mjs", scenario, Target, NodeProcess.ToJson(arguments ?? new { }));
        return await process.FinishAsync<T>();
    }

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
        {
            await _server.DisposeAsync();
        }

        if (_process is not null)
        {
            await _process.DisposeAsync();
        }
    }
}
