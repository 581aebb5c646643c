using FastPort.Connections;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <content>What comes when: intervals that change, clients that read late, requests that are given up.</content>
public sealed partial class SubscriptionTests
{
    [Fact]
    public async Task A_modified_subscription_publishes_at_its_new_interval()
    {
        uint id = await _session.SubscribeAsync(Long);
        await _session.MonitorAsync(id, 1);

        var terms = await _session.CallAsync<ModifySubscriptionRequest, ModifySubscriptionResponse>(
            new ModifySubscriptionRequest { SubscriptionId = id, RequestedPublishingInterval = 20, RequestedMaxKeepAliveCount = 5 });

        Assert.Equal((20.0, 15u, 5u), (terms.RevisedPublishingInterval, terms.RevisedLifetimeCount, terms.RevisedMaxKeepAliveCount));
        Assert.Single(await _session.CollectAsync(1));
    }

    [Fact]
    public void A_cycle_that_waits_for_the_lock_while_the_interval_changes_comes_when_the_new_one_is_over()
    {
        var time = new FakeTimeProvider();
        int fired = 0;
        List<long> seen = [];
        using var timer = new CycleTimer(time, () => fired++);
        timer.Start(TimeSpan.FromMilliseconds(100));
        time.Advance(TimeSpan.FromMilliseconds(100));
        Assert.Equal(1, fired);

        timer.Start(TimeSpan.FromSeconds(1));
        Run();
        Assert.Empty(seen);
        time.Advance(TimeSpan.FromSeconds(1));
        Run();
        Assert.Equal((2, time.GetTimestamp()), (fired, Assert.Single(seen)));

        void Run() => timer.Run(now =>
        {
            seen.Add(now);
            return false;
        });
    }

    [Fact]
    public async Task A_message_that_waits_until_large_responses_are_read_comes_then_and_not_a_cycle_later()
    {
        const int Large = 40_000_000;
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(
            static space =>
            {
                space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "Number", 0);
                space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 2), "Large", (ByteString)new byte[Large]);
            },
            static o => o.MaxMessageBytes = 2 * Large,
            time);
        using RawSession session = await RawSession.OpenAsync(server);
        uint id = await session.SubscribeAsync(5000);
        await session.MonitorAsync(id, 1);
        await session.SendPublishAsync();
        uint read = await session.SendAsync(new ReadRequest
        {
            NodesToRead = [new ReadValueId { NodeId = new NodeId(2, 2), AttributeId = (uint)AttributeId.Value }],
        });
        Connection connection = session.Channel.ServedBy(server);
        await Patience.UntilAsync(() => connection.PendingBytes > 2 * 1024 * 1024, "the response waits to be read");

        time.Advance(TimeSpan.FromSeconds(5));
        Assert.Equal(StatusCodes.Good, (await session.ReceiveAsync<ReadResponse>(read)).Status);

        Assert.Single(RawSession.Values((await session.NextAsync()).Response));
    }

    [Fact]
    public async Task A_request_that_its_client_has_given_up_gets_no_message()
    {
        var time = new FakeTimeProvider();
        VariableNode number = null!;
        await using TestServer server = await TestServer.StartAsync(
            space => number = space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "Number", 0), time: time);
        using RawSession session = await RawSession.OpenAsync(server);
        uint id = await session.SubscribeAsync(100);
        await session.MonitorAsync(id, 1);
        await session.SendPublishAsync();
        time.Advance(TimeSpan.FromMilliseconds(100));
        Assert.Equal(1u, (await session.NextAsync()).Response.NotificationMessage.SequenceNumber);

        uint given = await session.SendAsync(default(PublishRequest), timeoutHint: 50);
        await session.SendPublishAsync();

        // The request behind them is answered: both wait.
        await session.TryAsync<ReadRequest, ReadResponse>(default);
        time.Advance(TimeSpan.FromMilliseconds(60));
        number.Value = new DataValue(1);
        time.Advance(TimeSpan.FromMilliseconds(40));

        Assert.Equal(StatusCodes.BadTimeout, (await session.ReceiveAsync<PublishResponse>(given)).Status);
        PublishResponse next = (await session.NextAsync()).Response;
        Assert.Equal(2u, next.NotificationMessage.SequenceNumber);
        Assert.Equal(1, Assert.Single(RawSession.Values(next)).Value.Value.Get<int>());
    }
}
