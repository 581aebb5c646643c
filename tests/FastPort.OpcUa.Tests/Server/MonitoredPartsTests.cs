using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Deadbands in percent, parts of arrays, and the methods about monitored items.</summary>
public sealed class MonitoredPartsTests : IAsyncLifetime
{
    private const uint Analog = 1;
    private const uint Plain = 2;
    private const uint Array = 3;
    private const uint Text = 4;
    private static readonly NodeId ServerObject = new(0, 2253);

    private readonly FakeTimeProvider _time = new();
    private TestServer _server = null!;
    private RawSession _session = null!;
    private VariableNode _analog = null!;
    private VariableNode _array = null!;
    private uint _id;

    public async ValueTask InitializeAsync()
    {
        _server = await TestServer.StartAsync(
            space =>
            {
                NodeId objects = AddressSpace.ObjectsFolder;
                _analog = space.AddAnalogVariable(objects, new NodeId(2, Analog), "Analog", 0.0, low: -100, high: 300);
                space.AddVariable(objects, new NodeId(2, Plain), "Plain", 1.0);
                _array = space.AddArrayVariable(objects, new NodeId(2, Array), "Array", new[] { 1, 2, 3, 4 });
                space.AddVariable(objects, new NodeId(2, Text), "Text", "text");
            },
            time: _time);
        _session = await RawSession.OpenAsync(_server);
        _id = await _session.SubscribeAsync(100);
    }

    public async ValueTask DisposeAsync()
    {
        _session.Dispose();
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task A_deadband_in_percent_is_one_of_the_range()
    {
        // 10 % of 400.
        MonitoredItemCreateResult made = await _session.MonitorAsync(
            _id, Analog, queueSize: 100, filter: RawSession.Filter(DataChangeTrigger.StatusValue, deadbandType: 2, deadband: 10));
        Assert.Equal(StatusCodes.Good, made.StatusCode);
        foreach (double value in new[] { 40.0, 40.5, 80, 81, 1 })
        {
            _analog.Value = new DataValue(value);
        }

        Assert.Equal([0.0, 40.5, 81.0, 1.0], (await NextAsync()).Select(static v => v.Value.Value.Get<double>()));
    }

    [Theory]
    [InlineData(Analog, 100.5, 0x808E_0000)]
    [InlineData(Analog, -1.0, 0x808E_0000)]
    [InlineData(Plain, 10.0, 0x8044_0000)]
    [InlineData(Text, 10.0, 0x8045_0000)]
    [InlineData(Analog, 100.0, 0u)]
    public async Task Deadbands_in_percent_that_make_no_sense_are_refused(uint node, double percent, uint status)
    {
        MonitoredItemCreateResult made = await _session.MonitorAsync(
            _id, node, filter: RawSession.Filter(DataChangeTrigger.StatusValue, deadbandType: 2, deadband: percent));

        Assert.Equal(new StatusCode(status), made.StatusCode);
    }

    [Fact]
    public async Task Only_the_part_that_was_asked_for_is_reported_and_compared()
    {
        Assert.Equal(StatusCodes.Good, (await MonitorPartAsync("1:2")).StatusCode);
        Assert.Equal(StatusCodes.BadIndexRangeInvalid, (await MonitorPartAsync("2:1")).StatusCode);

        foreach (int[] value in new[] { new[] { 9, 2, 3, 9 }, [9, 2, 4, 9], [1], [7, 2] })
        {
            _array.Value = new DataValue(Variant.FromArray(value));
        }

        MonitoredItemNotification[] seen = await NextAsync();
        Assert.Equal([2, 3], seen[0].Value.Value.GetArray<int>()!);
        Assert.Equal([2, 4], seen[1].Value.Value.GetArray<int>()!);
        Assert.Equal(StatusCodes.BadIndexRangeNoData, seen[2].Value.Status);
        Assert.Equal([2], seen[3].Value.Value.GetArray<int>()!);
        Assert.Equal(4, seen.Length);
    }

    [Fact]
    public async Task A_sample_that_waits_for_the_end_of_its_interval_comes_before_later_values_when_the_item_is_modified()
    {
        MonitoredItemCreateResult made = await _session.MonitorAsync(_id, Analog, sampling: 1_000_000, queueSize: 10);
        _analog.Value = new DataValue(1.0);

        await _session.CallAsync<ModifyMonitoredItemsRequest, ModifyMonitoredItemsResponse>(new ModifyMonitoredItemsRequest
        {
            SubscriptionId = _id,
            ItemsToModify =
            [
                new MonitoredItemModifyRequest
                {
                    MonitoredItemId = made.MonitoredItemId,
                    RequestedParameters = new MonitoringParameters { SamplingInterval = 0, QueueSize = 10, DiscardOldest = true },
                },
            ],
        });
        _analog.Value = new DataValue(2.0);

        Assert.Equal([0.0, 1.0, 2.0], (await NextAsync()).Select(static v => v.Value.Value.Get<double>()));
    }

    [Fact]
    public async Task The_items_of_a_subscription_can_be_asked_for_and_their_values_sent_again()
    {
        MonitoredItemCreateResult one = await _session.MonitorAsync(_id, Analog, queueSize: 10);
        MonitoredItemCreateResult two = await _session.MonitorAsync(_id, Plain, mode: MonitoringMode.Sampling);
        await NextAsync();

        Variant[] handles = (await CallAsync(_session, 11492, _id)).OutputArguments!;
        Assert.Equal([one.MonitoredItemId, two.MonitoredItemId], handles[0].GetArray<uint>()!);
        Assert.Equal([Analog, Plain], handles[1].GetArray<uint>()!);

        // The last one sent is repeated; the one that waits is not followed by another.
        Assert.Equal(StatusCodes.Good, (await CallAsync(_session, 12873, _id)).StatusCode);
        Assert.Equal([0.0], (await NextAsync()).Select(static v => v.Value.Value.Get<double>()));
        _analog.Value = new DataValue(1.0);
        Assert.Equal(StatusCodes.Good, (await CallAsync(_session, 12873, _id)).StatusCode);
        Assert.Equal([1.0], (await NextAsync()).Select(static v => v.Value.Value.Get<double>()));
    }

    /// <summary>A hundred calls for a hundred thousand items each would hold the loop for some hundred milliseconds.</summary>
    [Fact]
    public async Task One_request_goes_through_so_many_items_and_its_first_method_through_all()
    {
        const int Items = 50_001, Each = 1000;
        var item = new MonitoredItemCreateRequest
        {
            ItemToMonitor = new ReadValueId { NodeId = new NodeId(2, Plain), AttributeId = (uint)AttributeId.Value },
        };
        for (int made = 0; made < Items; made += Each)
        {
            await _session.CallAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(new CreateMonitoredItemsRequest
            {
                SubscriptionId = _id,
                ItemsToCreate = [.. Enumerable.Repeat(item, Math.Min(Each, Items - made))],
            });
        }

        CallMethodRequest Method(uint id) =>
            new() { ObjectId = ServerObject, MethodId = new NodeId(0, id), InputArguments = [_id] };
        CallMethodResult[] results = (await _session.CallAsync<CallRequest, CallResponse>(
            new CallRequest { MethodsToCall = [Method(11492), Method(11492), Method(12873)] })).Results!;

        Assert.Equal(
            [StatusCodes.Good, StatusCodes.BadTooManyOperations, StatusCodes.BadTooManyOperations],
            results.Select(static result => result.StatusCode));
        Assert.Equal(Items, results[0].OutputArguments![0].GetArray<uint>()!.Length);
        Assert.Equal(StatusCodes.Good, (await CallAsync(_session, 11492, _id)).StatusCode);
    }

    [Fact]
    public async Task Subscriptions_of_other_sessions_are_not_told_about()
    {
        using RawSession other = await RawSession.OpenAsync(_server);

        Assert.Equal(StatusCodes.BadUserAccessDenied, (await CallAsync(other, 11492, _id)).StatusCode);
        Assert.Equal(StatusCodes.BadUserAccessDenied, (await CallAsync(other, 12873, _id)).StatusCode);
        Assert.Equal(StatusCodes.BadSubscriptionIdInvalid, (await CallAsync(other, 12873, _id + 1)).StatusCode);
    }

    private static async Task<CallMethodResult> CallAsync(RawSession session, uint method, uint subscription) =>
        Assert.Single((await session.CallAsync<CallRequest, CallResponse>(new CallRequest
        {
            MethodsToCall =
                [new CallMethodRequest { ObjectId = ServerObject, MethodId = new NodeId(0, method), InputArguments = [subscription] }],
        })).Results!);

    // A keep-alive comes when the subscription begins.
    private async Task<MonitoredItemNotification[]> NextAsync()
    {
        while (true)
        {
            await _session.SendPublishAsync();
            _time.Advance(TimeSpan.FromMilliseconds(100));
            (_, PublishResponse response) = await _session.NextAsync();
            if (RawSession.Values(response) is { Length: > 0 } values)
            {
                return values;
            }
        }
    }

    private async Task<MonitoredItemCreateResult> MonitorPartAsync(string range)
    {
        var made = await _session.CallAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(new CreateMonitoredItemsRequest
        {
            SubscriptionId = _id,
            ItemsToCreate =
            [
                new MonitoredItemCreateRequest
                {
                    ItemToMonitor = new ReadValueId { NodeId = new NodeId(2, Array), AttributeId = 13, IndexRange = range },
                    MonitoringMode = MonitoringMode.Reporting,
                    RequestedParameters = new MonitoringParameters { QueueSize = 10, DiscardOldest = true },
                },
            ],
        });
        return Assert.Single(made.Results!);
    }
}
