using FastPort.OpcUa.Client;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>What clients learn of a server that stops (OPC 10000-5, 12.6).</summary>
public sealed class ShutdownStateTests
{
    private const uint ServerStatus = 2256;
    private const uint State = 2259;

    [Theory]
    [InlineData(State)]
    [InlineData(ServerStatus)]
    public async Task A_client_that_watches_the_state_is_told_before_the_channel_closes(uint node)
    {
        await using TestServer server = await TestServer.StartAsync();
        await using OpcUaClient client = await server.ConnectAsync(new OpcUaClientOptions { Reconnect = false });

        // No sample is due within the test: only the stop brings a second value.
        await using OpcUaSubscription subscription = await client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(10) });
        await subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(0, node)) { SamplingInterval = TimeSpan.FromHours(1) }]);

        Assert.Equal(ServerState.Running, StateOf(await subscription.Changes.ReadAsync(Patience.Token)));

        await server.Server.StopAsync(Patience.Token);

        Assert.Equal(ServerState.Shutdown, StateOf(await subscription.Changes.ReadAsync(Patience.Token)));
    }

    // In the structure behind the two times.
    private static ServerState StateOf(in DataChange change) => change.Value.Value.TryGet(out int state)
        ? (ServerState)state
        : (ServerState)BitConverter.ToInt32(change.Value.Value.Get<ExtensionObject>().Body.Span[16..]);
}
