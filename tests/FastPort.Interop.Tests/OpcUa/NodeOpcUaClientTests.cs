using FastPort.Interop.Tests.Peers;
using FastPort.OpcBridge.Simulation;
using FastPort.OpcUa.Server;
using Xunit;

namespace FastPort.Interop.Tests.OpcUa;

/// <summary>node-opcua's client against our server with the simulation's nodes.</summary>
public sealed class NodeOpcUaClientTests : IAsyncLifetime
{
    private readonly OpcUaServer _server = new(
        new OpcUaServerOptions { Endpoints = { "opc.tcp://127.0.0.1:0" }, ApplicationUri = "urn:fastport:interop" });

    public async ValueTask InitializeAsync()
    {
        _ = new SimulatedNodes(_server.AddressSpace);
        await _server.StartAsync();
    }

    public ValueTask DisposeAsync() => _server.DisposeAsync();

    [NodeFact]
    public async Task Its_client_asks_for_endpoints_and_servers()
    {
        Endpoints seen = await PlayAsync<Endpoints>("endpoints");

        Assert.Equal(["http://opcfoundation.org/UA/SecurityPolicy#None"], seen.Policies);
        Assert.Equal([_server.Endpoints[0].ToString()], seen.Urls);
        Assert.Equal(["urn:fastport:interop"], seen.Servers);
    }

    [NodeFact]
    public async Task Its_client_browses_the_whole_tree()
    {
        Tree seen = await PlayAsync<Tree>("browse");

        Assert.Equal(2002, seen.Simulation);
        Assert.InRange(seen.Nodes, 2050, 2200);
    }

    [NodeFact]
    public async Task Its_client_reads_2000_values()
    {
        Values seen = await PlayAsync<Values>("read");

        Assert.Equal((2000, 2000), (seen.Good, seen.Timestamps));
        Assert.Equal(999 * 1000 / 2, seen.Int32);
        Assert.Equal(799.0 / 2, seen.Double, 6);
        Assert.Equal(["tag-value-000000", "tag-value-000001"], seen.Strings);
    }

    [NodeFact]
    public async Task Its_client_writes_200_values()
    {
        Writes seen = await PlayAsync<Writes>("write");

        Assert.Equal((200, -199 * 200 / 2, "BadTypeMismatch"), (seen.Good, seen.Sum, seen.WrongType));
    }

    [NodeFact]
    public async Task Its_client_calls_methods()
    {
        Calls seen = await PlayAsync<Calls>("call");

        Assert.Equal(("Good", "Good", 1_000_000), (seen.Set, seen.Got, seen.Bytes));
        Assert.Equal(["Size"], seen.Inputs);
    }

    [NodeFact]
    public async Task Its_client_subscribes_to_changes()
    {
        Changes seen = await PlayAsync<Changes>("subscribe");

        Assert.Equal([0, 10, 20, 30], seen.Ints);
        Assert.Equal([0, 2, 4], seen.Doubles);
    }

    private async Task<T> PlayAsync<T>(string scenario)
    {
        using var node = NodeProcess.Start("opcua/client.mjs", scenario, _server.Endpoints[0].ToString());
        return await node.FinishAsync<T>();
    }

    private sealed record Endpoints(string[] Policies, string[] Urls, string[] Servers);

    private sealed record Tree(int Nodes, int Simulation);

    private sealed record Values(int Good, int Int32, double Double, string[] Strings, int Timestamps);

    private sealed record Writes(int Good, int Sum, string WrongType);

    private sealed record Changes(int[] Ints, double[] Doubles);

    private sealed record Calls(string Set, string Got, int Bytes, string[] Inputs);
}
