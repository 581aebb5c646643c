using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>The values that monitored items hold are bounded in bytes.</summary>
public sealed partial class MonitoredBytesTests : IAsyncLifetime
{
    private const int Limit = 1_000_000;

    // 400 KB in memory.
    private const int Characters = 200_000;
    private const uint Text = 1;
    private const uint Number = 2;
    private const uint Numbers = 3;
    private const uint Asked = 4;
    private const uint Texts = 5;
    private const uint Strings = 6;
    private const int Large = 4_000_000;
    private const int LargeArray = 1_000_000;

    private readonly FakeTimeProvider _time = new();
    private TestServer _server = null!;
    private RawSession _session = null!;
    private VariableNode _text = null!;
    private VariableNode _number = null!;
    private VariableNode _numbers = null!;
    private VariableNode _texts = null!;
    private VariableNode _strings = null!;
    private int _askedCharacters = 100;
    private uint _id;

    public async ValueTask InitializeAsync()
    {
        _server = await TestServer.StartAsync(
            space =>
            {
                NodeId objects = AddressSpace.ObjectsFolder;
                _text = space.AddVariable(objects, new NodeId(2, Text), "Text", new string('a', Characters), writable: true);
                _number = space.AddVariable(objects, new NodeId(2, Number), "Number", 0);
                space.AddVariable<string>(
                    objects, new NodeId(2, Asked), "Asked", () => new DataValue(new string('a', _askedCharacters)));
                _numbers = space.AddArrayVariable(objects, new NodeId(2, Numbers), "Numbers", new double[1]);
                _texts = space.AddArrayVariable(objects, new NodeId(2, Texts), "Texts", new string[1]);
                _strings = space.AddArrayVariable(objects, new NodeId(2, Strings), "Strings", new ByteString[1]);
            },
            static o => o.MaxQueuedBytesPerSession = Limit,
            _time);
        _session = await RawSession.OpenAsync(_server);
        _id = await _session.SubscribeAsync(100);
    }

    public async ValueTask DisposeAsync()
    {
        _session.Dispose();
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task Parts_and_large_values_are_refused_when_there_are_too_many_bytes_and_small_ones_are_not()
    {
        MonitoredItemCreateResult[] made = await MonitorPartsAsync("1:199998", 10);

        // Each holds a part as what the next one is compared with, and in its queue.
        int good = made.TakeWhile(static result => result.StatusCode.IsGood).Count();
        Assert.InRange(good, 1, 3);
        Assert.All(made.Skip(good), static result => Assert.Equal(StatusCodes.BadTooManyMonitoredItems, result.StatusCode));
        Assert.Equal(StatusCodes.BadTooManyMonitoredItems, (await _session.MonitorAsync(_id, Text)).StatusCode);
        Assert.Equal(StatusCodes.Good, (await _session.MonitorAsync(_id, Number)).StatusCode);

        await _session.CallAsync<DeleteMonitoredItemsRequest, DeleteMonitoredItemsResponse>(new DeleteMonitoredItemsRequest
        {
            SubscriptionId = _id,
            MonitoredItemIds = [.. made.Take(good).Select(static result => result.MonitoredItemId)],
        });
        Assert.Equal(StatusCodes.Good, Assert.Single(await MonitorPartsAsync("1:199998", 1)).StatusCode);
    }

    [Fact]
    public async Task Parts_that_grow_later_are_bounded_too()
    {
        _text.Value = new DataValue("short");
        Assert.All(await MonitorPartsAsync("1:199998", 50), static result => Assert.Equal(StatusCodes.Good, result.StatusCode));
        await NextAsync();

        _text.Value = new DataValue(new string('b', Characters));

        DataValue[] seen = [.. (await NextAsync()).Select(static v => v.Value)];
        Assert.Equal(50, seen.Length);
        Assert.InRange(seen.Count(static value => value.Status.IsGood), 1, 3);
        Assert.All(seen.Where(static value => value.Status.IsBad), static value => Assert.Equal(
            (Variant.Null, StatusCodes.BadOutOfMemory), (value.Value, value.Status)));

        // Once there is room they come again.
        _text.Value = new DataValue("again");
        Assert.Equal(50, (await NextAsync()).Length);
        Assert.Equal(
            50, (await MonitorPartsAsync("0", 50)).Count(static result => result.StatusCode.IsGood));
    }

    [Fact]
    public async Task Items_without_room_for_large_values_do_not_wait_for_the_end_of_their_interval()
    {
        const int Items = 10;
        _text.Value = new DataValue("short");
        for (int i = 0; i < Items; i++)
        {
            await _session.MonitorAsync(_id, Text, sampling: 1_000_000);
        }

        await NextAsync();
        _text.Value = new DataValue(new string('b', Characters));

        // Three have kept it for later; beside them there was no room.
        Assert.Equal(Items - 3, (await NextAsync()).Length);
        _text.Value = new DataValue(new string('c', Characters));
        MonitoredItemNotification[] seen = await NextAsync();
        Assert.Equal(Items, seen.Length);
        Assert.All(seen, static v => Assert.StartsWith("c", v.Value.Value.Get<string>(), StringComparison.Ordinal));
    }

    [Fact]
    public async Task Items_without_room_for_large_values_keep_none_within_their_deadband()
    {
        const int Items = 10, Elements = 50_000;
        for (int i = 0; i < Items; i++)
        {
            await _session.MonitorAsync(
                _id, Numbers, filter: RawSession.Filter(DataChangeTrigger.StatusValue, deadbandType: 1, deadband: 10));
        }

        await NextAsync();
        _numbers.Value = new DataValue(Variant.FromArray(new double[Elements]));
        Assert.Equal(Items, (await NextAsync()).Length);

        _numbers.Value = new DataValue(Variant.FromArray(Enumerable.Repeat(1.0, Elements).ToArray()));
        Assert.Equal(Items, (await NextAsync()).Length);
    }

    [Fact]
    public async Task Parts_of_one_session_do_not_keep_others_from_theirs()
    {
        _text.Value = new DataValue("short");
        await MonitorPartsAsync($"{Large - 1}", 100);
        await NextAsync();
        using RawSession first = _session;
        _session = await RawSession.OpenAsync(_server);
        _id = await _session.SubscribeAsync(100);
        await MonitorPartsAsync("1:2", 1);
        await NextAsync();

        _text.Value = new DataValue(new string('b', Large));

        Assert.Equal("bb", Assert.Single(await NextAsync()).Value.Value.Get<string>());
    }

    [Fact]
    public async Task A_queue_of_large_values_keeps_the_newest()
    {
        await _session.MonitorAsync(_id, Text, queueSize: 1000);
        await _session.MonitorAsync(_id, Number, queueSize: 1000);
        const int Writes = 30;
        await WritePartsAsync(Writes);
        for (int i = 1; i <= Writes; i++)
        {
            _number.Value = new DataValue(i);
        }

        MonitoredItemNotification[] seen = await NextAsync();

        DataValue[] texts = [.. seen.Where(static v => v.ClientHandle == Text).Select(static v => v.Value)];
        Assert.InRange(texts.Length, 1, 4);
        Assert.Equal(new string('b', Writes) + new string('a', Characters - Writes), texts[^1].Value.Get<string>());
        Assert.Contains(texts, static value => (value.Status.Value & 0x0480) == 0x0480);
        Assert.Equal(Writes + 1, seen.Count(static v => v.ClientHandle == Number));

        // What was sent is not held any more.
        _text.Value = new DataValue(new string('c', Characters));
        _text.Value = new DataValue(new string('d', Characters));
        Assert.Equal(["c", "d"], (await NextAsync()).Select(static v => v.Value.Value.Get<string>()![..1]));
    }

    [Fact]
    public async Task Messages_that_nobody_acknowledges_are_kept_for_so_many_bytes_of_all_subscriptions_together()
    {
        uint[] ids = [_id, await _session.SubscribeAsync(100)];
        foreach (uint id in ids)
        {
            await _session.MonitorAsync(id, Text);
        }

        List<SubscriptionAcknowledgement> sent = [];
        for (int round = 0; round < 6; round++)
        {
            _text.Value = new DataValue(new string((char)('b' + round), Characters));
            Array.ForEach(ids, _ => Assert.True(_session.SendPublishAsync().IsCompleted));
            await _session.TryAsync<ReadRequest, ReadResponse>(default);
            _time.Advance(TimeSpan.FromMilliseconds(100));
            foreach (uint _ in ids)
            {
                PublishResponse response = (await _session.NextAsync()).Response;
                Assert.Single(RawSession.Values(response));
                sent.Add(new() { SubscriptionId = response.SubscriptionId, SequenceNumber = response.NotificationMessage.SequenceNumber });
            }
        }

        // Each takes an array of 256 KiB.
        Assert.Equal(sent.TakeLast(3), await KeptAsync());
        await _session.SendPublishAsync([.. sent]);
        await _session.TryAsync<ReadRequest, ReadResponse>(default);
        Assert.Empty(await KeptAsync());

        async Task<SubscriptionAcknowledgement[]> KeptAsync()
        {
            List<SubscriptionAcknowledgement> kept = [];
            foreach (SubscriptionAcknowledgement one in sent)
            {
                (StatusCode status, _) = await _session.TryAsync<RepublishRequest, RepublishResponse>(
                    new() { SubscriptionId = one.SubscriptionId, RetransmitSequenceNumber = one.SequenceNumber });
                Assert.True(status.IsGood || status == StatusCodes.BadMessageNotAvailable, $"{status}");
                kept.AddRange(status.IsGood ? [one] : []);
            }

            return [.. kept];
        }
    }

    [Fact]
    public async Task Values_of_callbacks_count_whatever_their_size()
    {
        ServerSession session = _server.Server.Sessions.Find(_session.Token)!;
        await _session.MonitorAsync(_id, Asked, queueSize: 10);

        // In the queue, and as what the next one is compared with.
        Assert.False(session.Subscriptions.HasRoomBeside((4 * _askedCharacters) - Limit - 1));
        Assert.True(session.Subscriptions.HasRoomBeside((4 * _askedCharacters) - Limit));
    }

    [Fact]
    public async Task Values_of_callbacks_that_there_is_no_room_for_are_not_reported()
    {
        const int Items = 10;
        _askedCharacters = Characters;
        for (int i = 0; i < Items; i++)
        {
            await _session.MonitorAsync(_id, Asked);
        }

        DataValue[] seen = [.. (await NextAsync()).Select(static v => v.Value)];

        Assert.Equal(Items, seen.Length);
        Assert.InRange(seen.Count(static value => value.Status.IsGood), 1, 3);
        Assert.All(seen.Where(static value => value.Status.IsBad), static value => Assert.Equal(
            (Variant.Null, StatusCodes.BadOutOfMemory), (value.Value, value.Status)));
    }

    [Fact]
    public async Task The_bytes_go_with_the_subscription_to_another_session()
    {
        await MonitorPartsAsync("1:199998", 10);
        ServerSession before = _server.Server.Sessions.Find(_session.Token)!;
        Assert.False(before.Subscriptions.HasRoomBeside(0));
        _session.Dispose();
        await Patience.UntilAsync(() => before.Channel is null, "the server has seen the end of the connection");
        _session = await RawSession.OpenAsync(_server);
        ServerSession after = _server.Server.Sessions.Find(_session.Token)!;

        await _session.CallAsync<TransferSubscriptionsRequest, TransferSubscriptionsResponse>(
            new TransferSubscriptionsRequest { SubscriptionIds = [_id] });

        Assert.Equal((true, false), (before.Subscriptions.HasRoomBeside(Limit), after.Subscriptions.HasRoomBeside(0)));
        Assert.False(before.Subscriptions.HasRoomBeside(-Limit - 1));
        await _session.CallAsync<DeleteSubscriptionsRequest, DeleteSubscriptionsResponse>(
            new DeleteSubscriptionsRequest { SubscriptionIds = [_id] });
        Assert.False(after.Subscriptions.HasRoomBeside(-Limit - 1));
        Assert.True(after.Subscriptions.HasRoomBeside(-Limit));
    }

    [Fact]
    public async Task A_subscription_with_more_bytes_than_a_session_may_still_hold_stays_where_it_is()
    {
        await MonitorPartsAsync("1:199998", 1);
        ServerSession before = _server.Server.Sessions.Find(_session.Token)!;
        uint lost = _id;
        uint light = await _session.SubscribeAsync(100);
        _session.Dispose();
        await Patience.UntilAsync(() => before.Channel is null, "the server has seen the end of the connection");
        _session = await RawSession.OpenAsync(_server);
        _id = await _session.SubscribeAsync(100);
        await MonitorPartsAsync("1:199998", 1);

        TransferResult[] results = (await _session.CallAsync<TransferSubscriptionsRequest, TransferSubscriptionsResponse>(
            new TransferSubscriptionsRequest { SubscriptionIds = [lost, light] })).Results!;

        Assert.Equal(
            [StatusCodes.BadTooManySubscriptions, StatusCodes.Good], results.Select(static result => result.StatusCode));
        Assert.False(before.Subscriptions.HasRoomBeside(-Limit));
    }

    private async Task<MonitoredItemCreateResult[]> MonitorPartsAsync(
        string range, int count, MonitoringMode mode = MonitoringMode.Reporting, uint node = Text)
    {
        var item = new MonitoredItemCreateRequest
        {
            ItemToMonitor = new ReadValueId { NodeId = new NodeId(2, node), AttributeId = (uint)AttributeId.Value, IndexRange = range },
            MonitoringMode = mode,
            RequestedParameters = new MonitoringParameters { QueueSize = 1 },
        };
        return (await _session.CallAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(
            new CreateMonitoredItemsRequest { SubscriptionId = _id, ItemsToCreate = [.. Enumerable.Repeat(item, count)] })).Results!;
    }

    private async Task<StatusCode[]> SetModeAsync(MonitoringMode mode, uint[] items) =>
        (await _session.CallAsync<SetMonitoringModeRequest, SetMonitoringModeResponse>(
            new SetMonitoringModeRequest { SubscriptionId = _id, MonitoredItemIds = items, MonitoringMode = mode })).Results!;

    // The first characters, one after the other.
    private async Task WritePartsAsync(int count)
    {
        WriteResponse written = await _session.CallAsync<WriteRequest, WriteResponse>(new WriteRequest
        {
            NodesToWrite =
            [
                .. Enumerable.Range(0, count).Select(static i => new WriteValue
                {
                    NodeId = new NodeId(2, Text), AttributeId = (uint)AttributeId.Value, IndexRange = $"{i}", Value = new DataValue("b"),
                }),
            ],
        });
        Assert.All(written.Results!, static status => Assert.Equal(StatusCodes.Good, status));
    }

    // What there is in one cycle, in as many messages as it takes; a keep-alive comes when the subscription begins.
    private async Task<MonitoredItemNotification[]> NextAsync()
    {
        List<MonitoredItemNotification> seen = [];
        while (true)
        {
            await _session.SendPublishAsync();
            if (seen.Count == 0)
            {
                _time.Advance(TimeSpan.FromMilliseconds(100));
            }

            (_, PublishResponse response) = await _session.NextAsync();
            seen.AddRange(RawSession.Values(response));
            if (seen.Count != 0 && !response.MoreNotifications)
            {
                return [.. seen];
            }
        }
    }
}
