using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <content>Links, turns of polling, timestamps and what is logged.</content>
public sealed partial class MonitoredItemTests
{
    [Fact]
    public async Task A_change_of_one_item_triggers_the_report_of_another()
    {
        uint trigger = (await _session.MonitorAsync(_id, Number)).MonitoredItemId;
        await _session.CollectAsync(1);
        uint linked = (await _session.MonitorAsync(_id, Real, queueSize: 10, mode: MonitoringMode.Sampling)).MonitoredItemId;
        SetTriggeringResponse links = await LinkAsync(trigger, [linked, 99], [linked]);
        Assert.Equal([StatusCodes.Good, StatusCodes.BadMonitoredItemIdInvalid], links.AddResults!);
        Assert.Equal([StatusCodes.BadMonitoredItemIdInvalid], links.RemoveResults!);
        _real.Value = new DataValue(1.0);
        _real.Value = new DataValue(2.0);
        Set(1);

        List<MonitoredItemNotification> seen = await _session.CollectAsync(4);
        Assert.Equal([1, 0.0, 1.0, 2.0], seen.Select(static v => v.Value.Value.ToObject()!));

        Assert.Equal([StatusCodes.Good], (await LinkAsync(trigger, [], [linked])).RemoveResults!);
        _real.Value = new DataValue(3.0);
        Set(2);
        Set(3);
        Assert.DoesNotContain(await _session.CollectAsync(1), static v => v.ClientHandle == Real);
    }

    [Fact]
    public async Task Links_end_with_either_of_their_items()
    {
        uint trigger = (await _session.MonitorAsync(_id, Number)).MonitoredItemId;
        for (int i = 0; i < 25; i++)
        {
            uint linked = (await _session.MonitorAsync(_id, Real, mode: MonitoringMode.Sampling)).MonitoredItemId;
            Assert.Equal([StatusCodes.Good], (await LinkAsync(trigger, [linked], [])).AddResults!);
            Assert.Equal([StatusCodes.Good], (await LinkAsync(linked, [linked, trigger], []))!.AddResults!.Distinct());
            await DeleteAsync(linked);
        }

        Assert.Equal(0, _server.Server.Sessions.Subscriptions[_id].LinkCount);
        Assert.Equal(0, _server.Server.Sessions.Find(_session.Token)!.Subscriptions.LinkCount);
    }

    [Fact]
    public async Task The_links_of_a_session_are_limited_together()
    {
        StatusCode[] first = await LinkAllAsync(_id);
        StatusCode[] second = await LinkAllAsync(await _session.SubscribeAsync());

        Assert.All(first, static status => Assert.Equal(StatusCodes.Good, status));
        Assert.Equal(4, second.TakeWhile(static status => status.IsGood).Count());
        Assert.All(second.Skip(4), static status => Assert.Equal(StatusCodes.BadTooManyMonitoredItems, status));

        async Task<StatusCode[]> LinkAllAsync(uint subscription)
        {
            List<uint> items = [];
            for (int i = 0; i < 4; i++)
            {
                items.Add((await _session.MonitorAsync(subscription, Number)).MonitoredItemId);
            }

            List<StatusCode> statuses = [];
            foreach (uint item in items)
            {
                statuses.AddRange((await _session.CallAsync<SetTriggeringRequest, SetTriggeringResponse>(
                    new() { SubscriptionId = subscription, TriggeringItemId = item, LinksToAdd = [.. items] })).AddResults!);
            }

            return [.. statuses];
        }
    }

    [Fact]
    public async Task Many_items_are_polled_in_several_turns_so_that_requests_come_in_between()
    {
        const int Most = Subscription.MaxPollsAtOnce, Items = (2 * Most) + 10;
        var time = new FakeTimeProvider();
        int calls = 0;
        await using TestServer server = await TestServer.StartAsync(
            space => space.AddVariable<int>(AddressSpace.ObjectsFolder, new NodeId(2, Polled), "Polled", () => new DataValue(calls++)),
            time: time);
        using RawSession session = await RawSession.OpenAsync(server);
        uint id = await session.SubscribeAsync(1_000_000);
        var item = new MonitoredItemCreateRequest
        {
            ItemToMonitor = new ReadValueId { NodeId = new NodeId(2, Polled), AttributeId = (uint)AttributeId.Value },
            MonitoringMode = MonitoringMode.Reporting,
            RequestedParameters = new MonitoringParameters { SamplingInterval = 100 },
        };
        await session.CallAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(
            new() { SubscriptionId = id, ItemsToCreate = [.. Enumerable.Repeat(item, Items)] });
        Assert.Equal(Items, calls);

        // The gate is free after each call of a timer.
        List<int> turns = [];
        int before = calls;
        time.Fired = () =>
        {
            turns.AddRange(calls == before ? [] : [calls - before]);
            before = calls;
        };
        time.Advance(TimeSpan.FromMilliseconds(200));

        Assert.Equal([Most, Most, 10, Most, Most, 10], turns);
    }

    [Theory]
    [InlineData(TimestampsToReturn.Source, true, false)]
    [InlineData(TimestampsToReturn.Server, false, true)]
    [InlineData(TimestampsToReturn.Both, true, true)]
    [InlineData(TimestampsToReturn.Neither, false, false)]
    public async Task Only_the_times_that_were_asked_for_are_reported_and_read(
        TimestampsToReturn timestamps, bool hasSource, bool hasServer)
    {
        DateTime own = new(2001, 1, 1, 0, 0, 0, DateTimeKind.Utc);
        _number.Value = new DataValue(1, default, own, own) { SourcePicoseconds = 5, ServerPicoseconds = 6 };
        var node = new ReadValueId { NodeId = new NodeId(2, Number), AttributeId = (uint)AttributeId.Value };
        await _session.CallAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(new()
        {
            SubscriptionId = _id,
            TimestampsToReturn = timestamps,
            ItemsToCreate = [new MonitoredItemCreateRequest { ItemToMonitor = node, MonitoringMode = MonitoringMode.Reporting }],
        });
        var read = await _session.CallAsync<ReadRequest, ReadResponse>(new() { TimestampsToReturn = timestamps, NodesToRead = [node] });

        foreach (DataValue value in new[] { Assert.Single(await _session.CollectAsync(1)).Value, Assert.Single(read.Results!) })
        {
            Assert.Equal(hasSource ? (own, 5) : (default, 0), (value.SourceTimestamp, value.SourcePicoseconds));
            Assert.Equal((hasServer, 0), (value.ServerTimestamp > own, value.ServerPicoseconds));
            Assert.Equal(hasServer, value.ServerTimestamp != default);
        }
    }

    [Fact]
    public async Task Callbacks_that_throw_again_and_again_do_not_fill_the_log()
    {
        var time = new FakeTimeProvider();
        using var log = new RecordingLog();
        await using TestServer server = await TestServer.StartAsync(
            static space => space.AddVariable<int>(
                AddressSpace.ObjectsFolder,
                new NodeId(2, Failing),
                "Failing",
                static () => throw new InvalidOperationException("on purpose")),
            time: time,
            log: log);
        using RawSession session = await RawSession.OpenAsync(server);
        await session.MonitorAsync(await session.SubscribeAsync(1_000_000), Failing, sampling: 10);

        time.Advance(TimeSpan.FromSeconds(3));

        Assert.InRange(log.WithId(7007).Count, 1, 4);
    }
}
