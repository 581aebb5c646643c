using FastPort.Core.Tests.Support;
using FastPort.Transports;
using FastPort.Transports.InProcess;
using Xunit;

namespace FastPort.Core.Tests.Transports;

public sealed class TransportCollectionTests
{
    [Fact]
    public async Task A_mapped_scheme_is_served_over_another_and_keeps_its_name_and_path()
    {
        await using TestServer server = await TestServer.StartAsync(
            options: static o => o.Endpoints = ["game.tcp://127.0.0.1:0/lobby?x"],
            components: static h => h.Transports.MapScheme("game.tcp", over: "tcp"));

        Endpoint endpoint = Assert.Single(server.Server.Endpoints);
        Assert.Equal(("game.tcp", "/lobby", "x"), (endpoint.Scheme, endpoint.Path, endpoint.Query));
        Assert.NotEqual(0, endpoint.Port);
        await using var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = endpoint.ToString() }, transport: new TransportCollection()
                .MapScheme("GAME.tcp", over: "TCP"));
        await client.ConnectAsync(Patience.Token);
        Assert.Equal([1], await client.RequestAsync(TestServer.Echo, new byte[] { 1 }, cancellationToken: Patience.Token));
    }

    [Fact]
    public async Task A_mapped_scheme_has_its_default_port()
    {
        await using TestServer server = await TestServer.StartAsync();
        var transports = new TransportCollection().MapScheme("opc.tcp", over: "tcp", defaultPort: server.Endpoint.Port);
        await using var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = "opc.tcp://127.0.0.1/path" }, transport: transports);

        await client.ConnectAsync(Patience.Token);

        Assert.Equal([1], await client.RequestAsync(TestServer.Echo, new byte[] { 1 }, cancellationToken: Patience.Token));
    }

    [Fact]
    public async Task A_scheme_can_be_mapped_over_one_of_names()
    {
        string name = Guid.NewGuid().ToString("n");
        await using TestServer server = await TestServer.StartAsync(
            options: o => o.Endpoints = [$"game://{name}/lobby"], components: static h => h.Transports.MapScheme("game", over: "inproc"));
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = $"inproc://{name}/lobby" });

        await client.ConnectAsync(Patience.Token);

        Assert.Equal($"game://{name}/lobby", server.Endpoint.ToString());
    }

    [Fact]
    public async Task Failures_name_the_endpoint_as_it_was_written()
    {
        await using TestServer server = await TestServer.StartAsync();
        var taken = new FastPortServerOptions { Endpoints = { $"game.tcp://127.0.0.1:{server.Endpoint.Port}/x" } };
        var components = new FastPortServerComponents();
        components.Transports.MapScheme("game.tcp", over: "tcp");
        await using var second = new FastPortServer(taken, new FastPort.MessageHandlers(), components);
        await using var portless = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "game.tcp://127.0.0.1/x" } }, new FastPort.MessageHandlers(), components);

        var inUse = await Assert.ThrowsAsync<EndpointException>(() => second.StartAsync());
        var noPort = await Assert.ThrowsAsync<EndpointException>(() => portless.StartAsync());

        Assert.Equal(taken.Endpoints[0], inUse.Endpoint.ToString());
        Assert.Contains("the port is in use", inUse.Message, StringComparison.Ordinal);
        Assert.Contains("names no port", noPort.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("tcp", 1, "served by the library itself")]
    [InlineData("game.tcp", 1, "already mapped")]
    [InlineData("other", 65536, "defaultPort")]
    [InlineData("other", -1, "defaultPort")]
    public void A_mapping_that_makes_no_sense_is_refused(string scheme, int port, string problem)
    {
        var transports = new TransportCollection().MapScheme("game.tcp", over: "tcp");

        Assert.Contains(
            problem, Assert.ThrowsAny<ArgumentException>(() => transports.MapScheme(scheme, "tcp", port)).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_collection_without_transports_serves_nothing_by_itself()
    {
        Assert.False(new TransportCollection().MapScheme("game", over: "inproc").Supports("game"));
        Assert.True(new TransportCollection { new InProcessTransport() }.MapScheme("game", over: "inproc").Supports("game"));
        Assert.True(TransportCollection.CreateDefault().Supports("tcp"));
        var failure = Assert.Throws<EndpointException>(() => new TransportCollection().CreateConnector(Endpoint.Parse("tcp://h:1"), null!));
        Assert.Contains("No transport serves 'tcp'", failure.Message, StringComparison.Ordinal);
    }
}
