using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Publishing: keep-alive, acknowledgements, requests that wait, and the end of subscriptions.</summary>
public sealed partial class SubscriptionTests : IAsyncLifetime
{
    // No cycle of it comes during a test.
    private const double Long = 1_000_000;

    private TestServer _server = null!;
    private RawSession _session = null!;
    private VariableNode _number = null!;
    private VariableNode _text = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await TestServer.StartAsync(
            space =>
            {
                _number = space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "Number", 0);
                _text = space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 2), "Text", "x");
            },
            static o =>
            {
                o.MaxPublishRequestsPerSession = 2;
                o.MaxSubscriptionsPerSession = 3;
                o.MaxUnacknowledgedMessages = 2;
            });
        _session = await RawSession.OpenAsync(_server);
    }

    public async ValueTask DisposeAsync()
    {
        _session.Dispose();
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task Without_a_subscription_there_is_nothing_to_publish()
    {
        Assert.Equal(StatusCodes.BadNoSubscription, (await _session.TryAsync<PublishRequest, PublishResponse>(default)).Status);
    }

    /// <summary>A client that comes back after a restart must not find its id with another client.</summary>
    [Fact]
    public async Task Two_runs_of_a_server_do_not_begin_with_the_same_id()
    {
        await using TestServer next = await TestServer.StartAsync();
        using RawSession session = await RawSession.OpenAsync(next);

        Assert.NotEqual(await _session.SubscribeAsync(), await session.SubscribeAsync());
    }

    [Fact]
    public async Task Keep_alive_messages_carry_the_next_number_and_do_not_use_it()
    {
        uint id = await _session.SubscribeAsync(keepAliveCount: 2);

        for (int i = 0; i < 3; i++)
        {
            PublishResponse alive = await _session.PublishAsync();
            Assert.Equal((id, 1u, false), (alive.SubscriptionId, alive.NotificationMessage.SequenceNumber, alive.MoreNotifications));
            Assert.Empty(alive.NotificationMessage.NotificationData!);
            Assert.Empty(alive.AvailableSequenceNumbers!);
        }

        await _session.MonitorAsync(id, 1);
        PublishResponse data = await PublishDataAsync();
        Assert.Equal(1u, data.NotificationMessage.SequenceNumber);
        Assert.Equal([1u], data.AvailableSequenceNumbers!);

        PublishResponse next = await _session.PublishAsync();
        Assert.Equal(2u, next.NotificationMessage.SequenceNumber);
        Assert.Empty(next.NotificationMessage.NotificationData!);
    }

    [Fact]
    public async Task A_message_can_be_had_again_until_it_is_acknowledged()
    {
        uint id = await _session.SubscribeAsync();
        await _session.MonitorAsync(id, 1);
        PublishResponse first = await PublishDataAsync();
        _number.Value = new DataValue(1);
        PublishResponse second = await PublishDataAsync();
        Assert.Equal([1u, 2u], second.AvailableSequenceNumbers!);

        var again = await _session.CallAsync<RepublishRequest, RepublishResponse>(
            new RepublishRequest { SubscriptionId = id, RetransmitSequenceNumber = 1 });
        Assert.Equal(1u, again.NotificationMessage.SequenceNumber);
        Assert.Equal(first.NotificationMessage.PublishTime, again.NotificationMessage.PublishTime);
        Assert.Equal(first.NotificationMessage.NotificationData![0]!.Body, again.NotificationMessage.NotificationData![0]!.Body);

        _number.Value = new DataValue(2);
        PublishResponse third = await _session.PublishAsync(Ack(id, 1), Ack(id, 1), Ack(id + 1, 1));
        Assert.Equal(
            [StatusCodes.Good, StatusCodes.BadSequenceNumberUnknown, StatusCodes.BadSubscriptionIdInvalid], third.Results!);
        Assert.Equal([2u, 3u], third.AvailableSequenceNumbers!);
        Assert.Equal(StatusCodes.BadMessageNotAvailable, await RepublishAsync(id, 1));

        // Only two are kept.
        _number.Value = new DataValue(3);
        Assert.Equal<uint[]>([3u, 4u], (await PublishDataAsync()).AvailableSequenceNumbers!);
        Assert.Equal(StatusCodes.BadMessageNotAvailable, await RepublishAsync(id, 2));
        Assert.Equal(StatusCodes.Good, await RepublishAsync(id, 4));
        Assert.Equal(StatusCodes.BadSubscriptionIdInvalid, await RepublishAsync(id + 1, 4));
    }

    [Fact]
    public async Task Of_too_many_Publish_requests_the_oldest_is_refused()
    {
        uint id = await _session.SubscribeAsync(Long);
        for (int i = 0; i < 3; i++)
        {
            await _session.SendPublishAsync();
        }

        Assert.Equal(StatusCodes.BadTooManyPublishRequests, (await _session.NextAsync()).Status);

        // The others wait until there is no subscription left.
        var deleted = await _session.CallAsync<DeleteSubscriptionsRequest, DeleteSubscriptionsResponse>(
            new DeleteSubscriptionsRequest { SubscriptionIds = [id, id] });
        Assert.Equal([StatusCodes.Good, StatusCodes.BadSubscriptionIdInvalid], deleted.Results!);
        Assert.Equal(StatusCodes.BadNoSubscription, (await _session.NextAsync()).Status);
        Assert.Equal(StatusCodes.BadNoSubscription, (await _session.NextAsync()).Status);
    }

    [Fact]
    public async Task More_notifications_than_a_message_may_have_come_in_several()
    {
        uint id = await _session.SubscribeAsync(maxNotifications: 3);
        await _session.PublishAsync();
        await _session.MonitorAsync(id, 1, queueSize: 100);
        for (int i = 1; i < 10; i++)
        {
            _number.Value = new DataValue(i);
        }

        List<(int Count, bool HasMore)> seen = [];
        List<int> values = [];
        while (values.Count < 10)
        {
            PublishResponse response = await PublishDataAsync();
            values.AddRange(RawSession.Values(response).Select(static v => v.Value.Value.Get<int>()));
            seen.Add((RawSession.Values(response).Length, response.MoreNotifications));
        }

        Assert.Equal([(3, true), (3, true), (3, true), (1, false)], seen);
        Assert.Equal(Enumerable.Range(0, 10), values);
    }

    [Fact]
    public async Task Messages_are_as_small_as_the_client_wants_them()
    {
        using RawSession small = await RawSession.OpenAsync(_server, maxMessageBytes: 8192);
        await small.MonitorAsync(await small.SubscribeAsync(), 1, queueSize: 1000);
        for (int i = 1; i < 1000; i++)
        {
            _number.Value = new DataValue(i);
        }

        List<MonitoredItemNotification> seen = await small.CollectAsync(1000);

        Assert.Equal(Enumerable.Range(0, 1000), seen.Select(static v => v.Value.Value.Get<int>()));
    }

    [Fact]
    public async Task Values_that_fit_a_message_alone_come_one_by_one()
    {
        _text.Value = new DataValue(new string('a', 3000));
        using RawSession small = await RawSession.OpenAsync(_server, maxMessageBytes: 8192);
        uint id = await small.SubscribeAsync();
        await small.MonitorAsync(id, 2, queueSize: 3);
        _text.Value = new DataValue(new string('b', 6000));
        _text.Value = new DataValue(new string('c', 2000));

        List<MonitoredItemNotification> seen = await small.CollectAsync(3);

        Assert.Equal([('a', 3000), ('b', 6000), ('c', 2000)], seen.Select(static v => v.Value.Value.Get<string>()).Select(
            static text => (text[0], text.Length)));
    }

    [Fact]
    public async Task A_subscription_whose_client_does_not_publish_ends_and_says_so()
    {
        uint id = await _session.SubscribeAsync(interval: 200, keepAliveCount: 1, lifetimeCount: 3);
        await _session.MonitorAsync(id, 1);
        await Patience.UntilAsync(() => !_number.IsWatched, "the subscription has expired");

        PublishResponse end = await _session.PublishAsync();

        ExtensionObject change = Assert.Single(end.NotificationMessage.NotificationData!)!;
        Assert.Equal(StatusChangeNotification.EncodingId, change.TypeId.NodeId.Number);
        Assert.Equal(StatusCodes.BadTimeout, new BinaryDecoder(change.Body.Span, EncodingLimits.Default).ReadStatusCode());
        Assert.Equal((id, 1u), (end.SubscriptionId, end.NotificationMessage.SequenceNumber));
        Assert.Equal(StatusCodes.BadNoSubscription, (await _session.TryAsync<PublishRequest, PublishResponse>(default)).Status);
    }

    [Fact]
    public async Task Publishing_can_be_switched_off_and_loses_nothing()
    {
        uint id = await _session.SubscribeAsync(keepAliveCount: 1);
        await _session.MonitorAsync(id, 1, queueSize: 10);
        await PublishDataAsync();
        Assert.Equal([StatusCodes.Good, StatusCodes.BadSubscriptionIdInvalid], await SetPublishingAsync(false, id, id + 1));
        _number.Value = new DataValue(1);
        _number.Value = new DataValue(2);
        for (int i = 0; i < 3; i++)
        {
            Assert.Empty(RawSession.Values(await _session.PublishAsync()));
        }

        Assert.Equal([StatusCodes.Good], await SetPublishingAsync(true, id));

        Assert.Equal([1, 2], (await _session.CollectAsync(2)).Select(static v => v.Value.Value.Get<int>()));
    }

    [Fact]
    public async Task There_are_only_so_many_subscriptions()
    {
        for (int i = 0; i < 3; i++)
        {
            await _session.SubscribeAsync();
        }

        (StatusCode status, _) = await _session.TryAsync<CreateSubscriptionRequest, CreateSubscriptionResponse>(default);
        Assert.Equal(StatusCodes.BadTooManySubscriptions, status);
    }

    [Theory]
    [InlineData(double.NaN, 0u, 0u, 10.0, 30u, 10u)]
    [InlineData(-5.0, 1u, 1u, 10.0, 3u, 1u)]
    [InlineData(0.0, 100u, 10u, 10.0, 100u, 10u)]
    [InlineData(double.PositiveInfinity, uint.MaxValue, uint.MaxValue, 1_200_000.0, 3u, 1u)]
    [InlineData(10_000.0, uint.MaxValue, uint.MaxValue, 10_000.0, 360u, 120u)]
    public async Task Wishes_are_revised(
        double interval, uint lifetime, uint keepAlive, double revised, uint revisedLifetime, uint revisedKeepAlive)
    {
        var terms = await _session.CallAsync<CreateSubscriptionRequest, CreateSubscriptionResponse>(new CreateSubscriptionRequest
        {
            RequestedPublishingInterval = interval,
            RequestedLifetimeCount = lifetime,
            RequestedMaxKeepAliveCount = keepAlive,
        });

        Assert.Equal(
            (revised, revisedLifetime, revisedKeepAlive),
            (terms.RevisedPublishingInterval, terms.RevisedLifetimeCount, terms.RevisedMaxKeepAliveCount));
    }

    [Fact]
    public async Task Requests_that_make_no_sense_are_refused_and_the_session_goes_on()
    {
        uint id = await _session.SubscribeAsync(Long);
        Assert.Equal(
            StatusCodes.BadSubscriptionIdInvalid,
            (await _session.TryAsync<ModifySubscriptionRequest, ModifySubscriptionResponse>(new() { SubscriptionId = id + 1 })).Status);
        Assert.Equal(
            StatusCodes.BadNothingToDo, (await _session.TryAsync<SetPublishingModeRequest, SetPublishingModeResponse>(default)).Status);
        Assert.Equal(
            StatusCodes.BadNothingToDo, (await _session.TryAsync<DeleteSubscriptionsRequest, DeleteSubscriptionsResponse>(default)).Status);
        Assert.Equal(
            StatusCodes.BadTooManyOperations,
            (await _session.TryAsync<DeleteSubscriptionsRequest, DeleteSubscriptionsResponse>(new() { SubscriptionIds = new uint[10_000] }))
                .Status);
        Assert.Equal(
            StatusCodes.BadTooManyOperations,
            (await _session.TryAsync<PublishRequest, PublishResponse>(
                new() { SubscriptionAcknowledgements = new SubscriptionAcknowledgement[7] })).Status);
        await _session.MonitorAsync(id, 1);
    }

    [Fact]
    public async Task Items_that_are_gone_do_not_wait_to_be_reported()
    {
        uint id = await _session.SubscribeAsync(Long);
        for (int i = 0; i < 5; i++)
        {
            await DeleteAsync(id, await MonitorAsync(id, 1000));
        }

        Assert.InRange(_server.Server.Sessions.Subscriptions[id].QueuedItems, 0, 1024);
    }

    [Fact]
    public async Task Items_whose_mode_is_changed_wait_once_to_be_reported()
    {
        const int Items = 1000;
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(
            static space => space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "Number", 0), time: time);
        using RawSession session = await RawSession.OpenAsync(server);
        uint id = await session.SubscribeAsync(100);
        uint[] items = await MonitorAsync(session, id, Items);
        for (int i = 0; i < 5; i++)
        {
            time.Advance(TimeSpan.FromMilliseconds(100));
            foreach (MonitoringMode mode in new[] { MonitoringMode.Disabled, MonitoringMode.Reporting })
            {
                await session.CallAsync<SetMonitoringModeRequest, SetMonitoringModeResponse>(
                    new SetMonitoringModeRequest { SubscriptionId = id, MonitoredItemIds = items, MonitoringMode = mode });
            }
        }

        time.Advance(TimeSpan.FromMilliseconds(100));

        Assert.InRange(server.Server.Sessions.Subscriptions[id].QueuedItems, Items, (2 * Items) + 1024);
        Assert.Equal(Items, (await session.CollectAsync(Items)).Count);
    }

    private static SubscriptionAcknowledgement Ack(uint id, uint number) => new() { SubscriptionId = id, SequenceNumber = number };

    private async Task<StatusCode> RepublishAsync(uint id, uint number) =>
        (await _session.TryAsync<RepublishRequest, RepublishResponse>(
            new() { SubscriptionId = id, RetransmitSequenceNumber = number })).Status;

    private async Task<StatusCode[]> SetPublishingAsync(bool enabled, params uint[] ids) =>
        (await _session.CallAsync<SetPublishingModeRequest, SetPublishingModeResponse>(
            new SetPublishingModeRequest { PublishingEnabled = enabled, SubscriptionIds = ids })).Results!;

    private Task<uint[]> MonitorAsync(uint id, int count) => MonitorAsync(_session, id, count);

    private static async Task<uint[]> MonitorAsync(RawSession session, uint id, int count)
    {
        var item = new MonitoredItemCreateRequest
        {
            ItemToMonitor = new ReadValueId { NodeId = new NodeId(2, 1), AttributeId = (uint)AttributeId.Value },
            MonitoringMode = MonitoringMode.Reporting,
        };
        var made = await session.CallAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(
            new CreateMonitoredItemsRequest { SubscriptionId = id, ItemsToCreate = [.. Enumerable.Repeat(item, count)] });
        return [.. made.Results!.Select(static result => result.MonitoredItemId)];
    }

    private async Task DeleteAsync(uint id, uint[] items) =>
        Assert.All(
            (await _session.CallAsync<DeleteMonitoredItemsRequest, DeleteMonitoredItemsResponse>(
                new DeleteMonitoredItemsRequest { SubscriptionId = id, MonitoredItemIds = items })).Results!,
            static status => Assert.Equal(StatusCodes.Good, status));

    private async Task<PublishResponse> PublishDataAsync()
    {
        while (true)
        {
            PublishResponse response = await _session.PublishAsync();
            if (RawSession.Values(response).Length != 0)
            {
                return response;
            }
        }
    }
}
