using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <content>Requests that are in flight or wait when the connection is lost.</content>
public sealed partial class ReconnectTests
{
    [Fact]
    public async Task What_waits_for_a_server_that_comes_back_with_other_namespaces_reaches_no_other_node()
    {
        VariableNode other = null!;
        using var port = new HeldPort();
        string url = $"opc.tcp://127.0.0.1:{port.Number}/test";
        TestServer server = await TestServer.StartAsync(static space => Add(space, "urn:wanted", 5), o => o.Endpoints[0] = url);
        await using OpcUaClient client = await server.ConnectAsync(Quick);
        await using OpcUaSubscription subscription = await client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(10) });
        NodeId wanted = client.Namespaces.MakeId("urn:wanted", 1);
        Events events = new(client);
        await server.DisposeAsync();
        await events.Disconnected.InTimeAsync();
        Task<StatusCode[]> writing = client.WriteAsync([new(wanted, 6)]).AsTask();
        Task<DataValue[]> reading = client.ReadAsync([wanted]).AsTask();
        Task<IReadOnlyList<OpcUaMonitoredItem>> adding = subscription.AddItemsAsync([new MonitoredItemOptions(wanted)]).AsTask();

        await using TestServer next = await TestServer.StartAsync(
            space =>
            {
                other = Add(space, "urn:other", 7);
                Add(space, "urn:wanted", 8);
            },
            o => o.Endpoints[0] = url);

        foreach (Task waiting in (Task[])[writing, reading])
        {
            OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => waiting.InTimeAsync());
            Assert.Equal((StatusCodes.BadServerNotConnected, false), (e.Status, e.MayHaveExecuted));
            Assert.Contains("different namespaces", e.Message, StringComparison.Ordinal);
        }

        Assert.Equal(client.Namespaces.MakeId("urn:wanted", 1), Assert.Single(await adding.InTimeAsync()).Options.Node);
        Assert.Equal([8], await subscription.NumbersAsync(1));
        Assert.Equal(7, other.Value.Value.Get<int>());
        Assert.Equal(7, (await client.ReadAsync([wanted]))[0].Value.Get<int>());
    }

    [Fact]
    public async Task Of_many_requests_only_those_in_flight_fail_when_the_network_breaks()
    {
        const int Cuts = 10;
        await using TestServer server = await StartAsync(5);
        await using var relay = new TcpRelay(server.Server.Endpoints[0].Port);
        await using OpcUaClient client = await OpcUaClient.ConnectAsync(relay.Url, Quick);
        using var enough = new CancellationTokenSource();
        Task<int>[] readers = [.. Enumerable.Range(0, 8).Select(_ => Task.Run(() => ReadAsync(client, enough.Token)))];

        for (int i = 0; i < Cuts; i++)
        {
            Events events = new(client);
            relay.Cut();
            await events.Reconnected.InTimeAsync();
        }

        await enough.CancelAsync();
        int[] failures = await Task.WhenAll(readers).InTimeAsync();
        Assert.All(failures, static count => Assert.InRange(count, 0, Cuts));

        static async Task<int> ReadAsync(OpcUaClient client, CancellationToken enough)
        {
            int failures = 0;
            while (!enough.IsCancellationRequested)
            {
                try
                {
                    Assert.Equal(5, (await client.ReadAsync([Number], CancellationToken.None))[0].Value.Get<int>());
                }
                catch (OpcUaException e)
                {
                    Assert.True(e.MayHaveExecuted, e.Message);
                    failures++;
                }
            }

            return failures;
        }
    }

    [Fact]
    public async Task Requests_in_flight_at_the_loss_may_have_been_executed()
    {
        await using var server = new ScriptedServer();
        var arrived = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        server.On<WriteRequest>(_ =>
        {
            arrived.TrySetResult();
            return Task.CompletedTask;
        });
        await using OpcUaClient client = await server.ConnectAsync();
        Task<StatusCode[]> write = client.WriteAsync([new(Number, 1)]).AsTask();
        await arrived.Task.InTimeAsync();

        server.Cut();

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => write.InTimeAsync());
        Assert.True(e.MayHaveExecuted);
        Assert.Contains("may have executed", e.Message, StringComparison.Ordinal);
        server.On<WriteRequest>(static call => call.FaultAsync(StatusCodes.BadUserAccessDenied));
        e = await Assert.ThrowsAsync<OpcUaException>(() => client.WriteAsync([new(Number, 1)]).InTimeAsync());
        Assert.Equal((StatusCodes.BadUserAccessDenied, false), (e.Status, e.MayHaveExecuted));
    }
}
