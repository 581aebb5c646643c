using FastPort.Dispatch;
using FastPort.Hosting;
using FastPort.Interop.Tests.Peers;
using FastPort.Protocol.Diagnostics;

namespace FastPort.Interop.Tests.NodeClient;

/// <summary>A server with the diagnostics on a free port, and the peer that plays scenarios against it.</summary>
internal sealed class NodeScenario : IAsyncDisposable
{
    private NodeScenario(FastPortServer server) => Server = server;

    public FastPortServer Server { get; }

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

    /// <summary>Plays one scenario with one server.</summary>
    public static async Task<T> PlayOnceAsync<T>(string scenario, object? arguments = null)
    {
        await using NodeScenario node = await StartAsync();
        return await node.PlayAsync<T>(scenario, arguments);
    }

    public async Task<T> PlayAsync<T>(string scenario, object? arguments = null)
    {
        using NodeProcess process = NodeProcess.Start(
            "client.mjs", scenario, $"{Server.Endpoints[0].Port}", NodeProcess.ToJson(arguments ?? new { }));
        return await process.FinishAsync<T>();
    }

    public ValueTask DisposeAsync() => Server.DisposeAsync();
}
