using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>What becomes of the values of monitored variables.</summary>
public sealed partial class MonitoredItemTests : IAsyncLifetime
{
    private const uint Number = 1;
    private const uint Real = 2;
    private const uint Text = 3;
    private const uint Polled = 4;
    private const uint Numbers = 5;
    private const uint Failing = 6;
    private const uint Overflow = 0x0480;

    private TestServer _server = null!;
    private RawSession _session = null!;
    private VariableNode _number = null!;
    private VariableNode _real = null!;
    private VariableNode _numbers = null!;
    private int _polls;
    private uint _id;

    public async ValueTask InitializeAsync()
    {
        _server = await TestServer.StartAsync(
            space =>
            {
                _number = space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, Number), "Number", 0, writable: true);
                _real = space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, Real), "Real", 0.0);
                space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, Text), "Text", "x");
                _numbers = space.AddArrayVariable(AddressSpace.ObjectsFolder, new NodeId(2, Numbers), "Numbers", new[] { 1, 2 });
                space.AddVariable<int>(
                    AddressSpace.ObjectsFolder, new NodeId(2, Polled), "Polled", () => new DataValue(Interlocked.Increment(ref _polls)));
                space.AddVariable<int>(
                    AddressSpace.ObjectsFolder, new NodeId(2, Failing), "Failing",
                    static () => throw new InvalidOperationException("on purpose"));
            },
            static o =>
            {
                o.MaxMonitoredItemsPerSession = 20;
                o.MaxQueuedValuesPerSession = 1500;
            });
        _session = await RawSession.OpenAsync(_server);
        _id = await _session.SubscribeAsync();
    }

    public async ValueTask DisposeAsync()
    {
        _session.Dispose();
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task Every_change_of_a_burst_is_reported_in_order()
    {
        await _session.MonitorAsync(_id, Number, queueSize: 1000);
        for (int i = 1; i < 500; i++)
        {
            Set(i);
        }

        List<MonitoredItemNotification> seen = await _session.CollectAsync(500);

        Assert.Equal(Enumerable.Range(0, 500), Ints(seen));
        Assert.All(seen, static v => Assert.Equal((Number, StatusCodes.Good), (v.ClientHandle, v.Value.Status)));
        Assert.All(seen, static v => Assert.InRange(v.Value.ServerTimestamp, v.Value.SourceTimestamp, DateTime.UtcNow.AddMinutes(1)));
    }

    [Fact]
    public async Task Changes_on_many_threads_end_with_the_last_one()
    {
        await _session.MonitorAsync(_id, Number);
        Parallel.For(1, 5000, Set);

        int last = -1;
        while (last != _number.Value.Value.Get<int>())
        {
            last = Ints(await _session.CollectAsync(1))[^1];
        }
    }

    [Theory]
    [InlineData(3u, true, new[] { 8, 9, 10 }, 0)]
    [InlineData(3u, false, new[] { 0, 1, 10 }, 2)]
    [InlineData(1u, true, new[] { 10 }, -1)]
    [InlineData(1u, false, new[] { 10 }, -1)]
    [InlineData(11u, true, new[] { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }, -1)]
    public async Task A_queue_that_overflows_says_so(uint size, bool discardOldest, int[] expected, int marked)
    {
        await _session.MonitorAsync(_id, Number, queueSize: size, discardOldest: discardOldest);
        for (int i = 1; i <= 10; i++)
        {
            Set(i);
        }

        List<MonitoredItemNotification> seen = await _session.CollectAsync(expected.Length);

        Assert.Equal(expected, Ints(seen));
        Assert.Equal(expected.Select((_, i) => i == marked ? Overflow : 0), seen.Select(static v => v.Value.Status.Value));
    }

    [Fact]
    public async Task An_absolute_deadband_leaves_small_changes_out()
    {
        await _session.MonitorAsync(_id, Real, queueSize: 100, filter: RawSession.Filter(DataChangeTrigger.StatusValue, 1, 1.0));
        foreach (double value in (double[])[0.5, -1.0, 1.0, 1.5, 2.0, 0.5, 3.0, double.NaN, double.NaN, 100])
        {
            _real.Value = new DataValue(value);
        }

        List<MonitoredItemNotification> seen = await _session.CollectAsync(5);

        Assert.Equal([0, 1.5, 3.0, double.NaN, 100], seen.Select(static v => v.Value.Value.Get<double>()));
    }

    [Fact]
    public async Task An_absolute_deadband_of_an_array_looks_at_each_element()
    {
        await _session.MonitorAsync(_id, Numbers, queueSize: 100, filter: RawSession.Filter(DataChangeTrigger.StatusValue, 1, 5));
        foreach (int[] value in (int[][])[[6, 7], [7, 2], [7], [13]])
        {
            _numbers.Value = new DataValue(Variant.FromArray(value));
        }

        List<MonitoredItemNotification> seen = await _session.CollectAsync(4);

        Assert.Equal([[1, 2], [7, 2], [7], [13]], seen.Select(static v => v.Value.Value.GetArray<int>()!));
    }

    [Fact]
    public async Task The_trigger_says_what_a_change_is()
    {
        DateTime time = new(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);
        StatusCode uncertain = new(0x4000_0000);
        await _session.MonitorAsync(_id, Number, queueSize: 100, filter: RawSession.Filter(DataChangeTrigger.Status));
        await ExpectAsync((0, 0), (4, uncertain.Value), (5, 0));
        await _session.MonitorAsync(_id, Number, queueSize: 100, filter: RawSession.Filter(DataChangeTrigger.StatusValue));
        await ExpectAsync((5, 0), (1, 0), (4, 0), (4, uncertain.Value), (5, 0));
        await _session.MonitorAsync(_id, Number, queueSize: 100, filter: RawSession.Filter(DataChangeTrigger.StatusValueTimestamp));
        await ExpectAsync((5, 0), (1, 0), (1, 0), (4, 0), (4, uncertain.Value), (5, 0));
        await _session.MonitorAsync(_id, Number, queueSize: 100, filter: RawSession.Filter(DataChangeTrigger.StatusValueTimestamp, 1, 2));
        await ExpectAsync((5, 0), (1, 0), (4, 0), (4, uncertain.Value), (5, 0));

        async Task ExpectAsync(params (int, uint)[] expected)
        {
            _number.Value = new DataValue(1, default, time);
            _number.Value = new DataValue(1, default, time.AddSeconds(1));
            _number.Value = new DataValue(4, default, time.AddSeconds(1));
            _number.Value = new DataValue(4, uncertain, time.AddSeconds(1));
            _number.Value = new DataValue(5, default, time.AddSeconds(1));
            List<MonitoredItemNotification> seen = await _session.CollectAsync(expected.Length);
            Assert.Equal(expected, seen.Select(static v => (v.Value.Value.Get<int>(), v.Value.Status.Value)));
            await DeleteAllAsync();
        }
    }

    [Theory]
    [InlineData(5.0)]
    [InlineData(40.0)]
    [InlineData(-1.0)]
    public async Task A_sampling_interval_leaves_values_out_but_not_the_last_one(double sampling)
    {
        MonitoredItemCreateResult item = await _session.MonitorAsync(_id, Number, sampling, queueSize: 1000);
        Assert.Equal(sampling < 0 ? 10 : sampling, item.RevisedSamplingInterval);
        for (int i = 1; i <= 500; i++)
        {
            Set(i);
        }

        List<int> seen = [];
        while (seen.LastOrDefault() != 500)
        {
            seen.AddRange(Ints(await _session.CollectAsync(1)));
        }

        Assert.Equal(0, seen[0]);
        Assert.Equal(seen.Distinct().Order(), seen);
    }

    [Fact]
    public async Task A_variable_that_is_read_by_a_callback_is_polled()
    {
        MonitoredItemCreateResult item = await _session.MonitorAsync(_id, Polled, sampling: 0, queueSize: 100);
        Assert.Equal(10, item.RevisedSamplingInterval);

        int[] seen = Ints(await _session.CollectAsync(5));

        Assert.Equal(Enumerable.Range(seen[0], seen.Length), seen);
    }

    [Fact]
    public async Task A_callback_that_throws_gives_a_bad_value()
    {
        await _session.MonitorAsync(_id, Failing);
        Assert.Equal(StatusCodes.BadInternalError, (await _session.CollectAsync(1))[0].Value.Status);
        await _session.MonitorAsync(_id, Number);
        Assert.Equal(0, Ints(await _session.CollectAsync(1))[0]);
    }

    [Fact]
    public async Task Other_attributes_are_reported_once()
    {
        await _session.MonitorAsync(_id, Number, attribute: AttributeId.BrowseName);
        Assert.Equal("Number", (await _session.CollectAsync(1))[0].Value.Value.Get<QualifiedName>().Name);
    }

    [Fact]
    public async Task An_item_that_is_only_sampled_keeps_its_values_and_a_disabled_one_none()
    {
        uint item = (await _session.MonitorAsync(_id, Number, queueSize: 10, mode: MonitoringMode.Sampling)).MonitoredItemId;
        Set(1);
        Assert.Empty(RawSession.Values(await _session.PublishAsync()));
        Assert.Equal([StatusCodes.Good, StatusCodes.BadMonitoredItemIdInvalid], await SetModeAsync(MonitoringMode.Reporting, item, 99));
        Assert.Equal<int[]>([0, 1], Ints(await _session.CollectAsync(2)));

        await SetModeAsync(MonitoringMode.Disabled, item);
        Assert.False(_number.IsWatched);
        Set(2);
        Set(3);
        await SetModeAsync(MonitoringMode.Reporting, item);
        Assert.Equal<int[]>([3], Ints(await _session.CollectAsync(1)));
    }

    [Fact]
    public async Task An_item_is_modified_and_deleted()
    {
        uint item = (await _session.MonitorAsync(_id, Number, queueSize: 10)).MonitoredItemId;
        Set(1);
        Set(2);
        var modified = await _session.CallAsync<ModifyMonitoredItemsRequest, ModifyMonitoredItemsResponse>(new()
        {
            SubscriptionId = _id,
            ItemsToModify =
            [
                new() { MonitoredItemId = item, RequestedParameters = new() { ClientHandle = 77, QueueSize = 2, DiscardOldest = true } },
                new() { MonitoredItemId = 99 },
            ],
        });
        Assert.Equal([StatusCodes.Good, StatusCodes.BadMonitoredItemIdInvalid], modified.Results!.Select(static r => r.StatusCode));
        List<MonitoredItemNotification> seen = await _session.CollectAsync(2);
        Assert.Equal([1, 2], Ints(seen));
        Assert.Equal(77u, seen[1].ClientHandle);

        Assert.Equal([StatusCodes.Good, StatusCodes.BadMonitoredItemIdInvalid], await DeleteAsync(item, item));
        Assert.False(_number.IsWatched);
    }

    [Fact]
    public async Task Items_that_cannot_be_monitored_say_why()
    {
        ExtensionObject unknown = new(new ExpandedNodeId(new NodeId(0, 725)), ExtensionObjectEncoding.Binary, new byte[4]);
        ExtensionObject broken = new(new ExpandedNodeId(new NodeId(0, 724)), ExtensionObjectEncoding.Binary, new byte[4]);
        const DataChangeTrigger Any = DataChangeTrigger.StatusValue;
        await ExpectAsync(StatusCodes.BadNodeIdUnknown, 99);
        await ExpectAsync(StatusCodes.BadAttributeIdInvalid, Number, attribute: (AttributeId)99);
        await ExpectAsync(StatusCodes.BadAttributeIdInvalid, Number, attribute: AttributeId.EventNotifier);
        await ExpectAsync(StatusCodes.BadMonitoringModeInvalid, Number, mode: (MonitoringMode)7);
        await ExpectAsync(StatusCodes.BadMonitoredItemFilterUnsupported, Number, unknown);
        await ExpectAsync(StatusCodes.BadMonitoredItemFilterInvalid, Number, broken);
        await ExpectAsync(StatusCodes.BadMonitoredItemFilterInvalid, Number, RawSession.Filter((DataChangeTrigger)9));
        await ExpectAsync(StatusCodes.BadMonitoredItemFilterUnsupported, Number, RawSession.Filter(Any, 2, 5));
        await ExpectAsync(StatusCodes.BadDeadbandFilterInvalid, Number, RawSession.Filter(Any, 9, 5));
        await ExpectAsync(StatusCodes.BadDeadbandFilterInvalid, Number, RawSession.Filter(Any, 1, -1));
        await ExpectAsync(StatusCodes.BadDeadbandFilterInvalid, Number, RawSession.Filter(Any, 1, double.NaN));
        await ExpectAsync(StatusCodes.BadFilterNotAllowed, Text, RawSession.Filter(Any, 1, 1));
        await ExpectAsync(StatusCodes.BadFilterNotAllowed, Number, RawSession.Filter(Any), attribute: AttributeId.BrowseName);
        Assert.False(_number.IsWatched);

        async Task ExpectAsync(
            StatusCode expected, uint node, ExtensionObject? filter = null, AttributeId attribute = AttributeId.Value,
            MonitoringMode mode = MonitoringMode.Reporting) =>
            Assert.Equal(expected, (await _session.MonitorAsync(_id, node, filter: filter, attribute: attribute, mode: mode)).StatusCode);
    }

    [Fact]
    public async Task Wishes_are_revised_and_items_are_limited()
    {
        MonitoredItemCreateResult item = await _session.MonitorAsync(_id, Number, double.NaN, queueSize: 0);
        Assert.Equal((10.0, 1u), (item.RevisedSamplingInterval, item.RevisedQueueSize));
        item = await _session.MonitorAsync(_id, Number, double.PositiveInfinity, queueSize: uint.MaxValue);
        Assert.Equal((3_600_000.0, 1000u), (item.RevisedSamplingInterval, item.RevisedQueueSize));
        for (int i = 0; i < 18; i++)
        {
            item = await _session.MonitorAsync(_id, Number);
            Assert.Equal(StatusCodes.Good, item.StatusCode);
        }

        Assert.Equal(StatusCodes.BadTooManyMonitoredItems, (await _session.MonitorAsync(_id, Number)).StatusCode);
        await DeleteAsync(item.MonitoredItemId);
        Assert.Equal(StatusCodes.Good, (await _session.MonitorAsync(_id, Number)).StatusCode);
    }

    [Fact]
    public async Task The_queues_of_a_session_are_limited_together()
    {
        uint item = (await _session.MonitorAsync(_id, Number, queueSize: 1000)).MonitoredItemId;
        Assert.Equal(500u, (await _session.MonitorAsync(_id, Number, queueSize: 1000)).RevisedQueueSize);
        Assert.Equal(1u, (await _session.MonitorAsync(_id, Number, queueSize: 1000)).RevisedQueueSize);
        await DeleteAsync(item);
        Assert.Equal(999u, (await _session.MonitorAsync(_id, Number, queueSize: 1000)).RevisedQueueSize);
    }

    [Fact]
    public async Task Requests_that_make_no_sense_are_refused_and_the_session_goes_on()
    {
        uint[] many = new uint[10_001];
        Assert.Equal(StatusCodes.BadNothingToDo, await StatusAsync<DeleteMonitoredItemsRequest, DeleteMonitoredItemsResponse>(default));
        Assert.Equal(StatusCodes.BadNothingToDo, await StatusAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(default));
        Assert.Equal(StatusCodes.BadNothingToDo, await StatusAsync<ModifyMonitoredItemsRequest, ModifyMonitoredItemsResponse>(default));
        Assert.Equal(StatusCodes.BadNothingToDo, await StatusAsync<SetTriggeringRequest, SetTriggeringResponse>(default));
        Assert.Equal(
            StatusCodes.BadSubscriptionIdInvalid,
            await StatusAsync<DeleteMonitoredItemsRequest, DeleteMonitoredItemsResponse>(new() { MonitoredItemIds = [1] }));
        Assert.Equal(
            StatusCodes.BadTooManyOperations,
            await StatusAsync<DeleteMonitoredItemsRequest, DeleteMonitoredItemsResponse>(
                new() { SubscriptionId = _id, MonitoredItemIds = many }));
        Assert.Equal(
            StatusCodes.BadTooManyOperations,
            await StatusAsync<SetTriggeringRequest, SetTriggeringResponse>(new() { SubscriptionId = _id, LinksToAdd = many }));
        Assert.Equal(
            StatusCodes.BadMonitoredItemIdInvalid,
            await StatusAsync<SetTriggeringRequest, SetTriggeringResponse>(new() { SubscriptionId = _id, LinksToAdd = [1] }));
        Assert.Equal(
            StatusCodes.BadMonitoringModeInvalid,
            await StatusAsync<SetMonitoringModeRequest, SetMonitoringModeResponse>(
                new() { SubscriptionId = _id, MonitoringMode = (MonitoringMode)(-1), MonitoredItemIds = [1] }));
        Assert.Equal(
            StatusCodes.BadTimestampsToReturnInvalid,
            await StatusAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(
                new()
                {
                    SubscriptionId = _id,
                    TimestampsToReturn = (TimestampsToReturn)4,
                    ItemsToCreate = new MonitoredItemCreateRequest[1],
                }));
        Assert.Equal(StatusCodes.Good, (await _session.MonitorAsync(_id, Number)).StatusCode);
    }

    private static int[] Ints(List<MonitoredItemNotification> values) => [.. values.Select(static v => v.Value.Value.Get<int>())];

    private void Set(int value) => _number.Value = new DataValue(value);

    private async Task<StatusCode[]> SetModeAsync(MonitoringMode mode, params uint[] items) =>
        (await _session.CallAsync<SetMonitoringModeRequest, SetMonitoringModeResponse>(
            new() { SubscriptionId = _id, MonitoringMode = mode, MonitoredItemIds = items })).Results!;

    private Task<SetTriggeringResponse> LinkAsync(uint trigger, uint[] add, uint[] remove) =>
        _session.CallAsync<SetTriggeringRequest, SetTriggeringResponse>(
            new() { SubscriptionId = _id, TriggeringItemId = trigger, LinksToAdd = add, LinksToRemove = remove });

    private async Task<StatusCode[]> DeleteAsync(params uint[] items) =>
        (await _session.CallAsync<DeleteMonitoredItemsRequest, DeleteMonitoredItemsResponse>(
            new() { SubscriptionId = _id, MonitoredItemIds = items })).Results!;

    private Task DeleteAllAsync() => DeleteAsync([.. Enumerable.Range(1, 20).Select(static i => (uint)i)]);

    private async Task<StatusCode> StatusAsync<TRequest, TResponse>(TRequest request)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage => (await _session.TryAsync<TRequest, TResponse>(request)).Status;
}
