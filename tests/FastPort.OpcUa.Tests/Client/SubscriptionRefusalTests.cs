using System.Threading.Channels;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>Subscriptions that the server refuses to make again for a while, or ends as soon as they are made.</summary>
public sealed class SubscriptionRefusalTests : IAsyncLifetime
{
    private static readonly TimeSpan Never = TimeSpan.FromMinutes(5);

    private readonly ScriptedServer _server = new();
    private readonly RecordingLog _log = new();
    private readonly List<StatusCode> _lost = [];
    private ScriptedSubscription _script = null!;
    private OpcUaClient _client = null!;
    private OpcUaSubscription _subscription = null!;
    private OpcUaMonitoredItem _item = null!;

    public async ValueTask InitializeAsync()
    {
        _script = new ScriptedSubscription(_server);
        var options = new OpcUaClientOptions
        {
            ReconnectDelay = TimeSpan.FromMilliseconds(1),
            MaxReconnectDelay = TimeSpan.FromMilliseconds(20),
        };
        _client = await OpcUaClient.ConnectAsync(_server.Url, options, _log);
        _subscription = await _client.SubscribeAsync();
        _subscription.ValuesLost += (_, why) => _lost.Add(why);
        _item = Assert.Single(await _subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 5))]));
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task A_subscription_that_is_refused_for_a_while_is_made_again_and_its_reader_learns_why_no_values_come()
    {
        StatusCode[] refusals =
        [
            StatusCodes.BadTooManySubscriptions, StatusCodes.BadTooManySubscriptions, StatusCodes.BadServerTooBusy,
        ];
        Array.ForEach(refusals, _script.Refusals.Enqueue);

        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout));

        foreach (StatusCode refusal in refusals.Distinct())
        {
            DataChange change = await _subscription.NextAsync();
            Assert.Equal((_item, refusal), (change.Item, change.Value.Status));
        }

        await Patience.UntilAsync(() => _subscription.Id == 2 && _item.Status.IsGood, "the client has created the subscription again");
        await _script.PublishAsync(ScriptedSubscription.Message(1, _item.Handle, 11));
        Assert.Equal([11], await _subscription.NumbersAsync(1));
        Assert.Equal([StatusCodes.BadTimeout], _lost);
        Assert.Equal((1u, 1), (_server.SessionCount, _server.ConnectionCount));
        Assert.Equal(
            [LogLevel.Warning, LogLevel.Debug, LogLevel.Warning], _log.WithId(7109).Select(static line => line.Level));
    }

    [Fact]
    public async Task A_client_whose_subscription_is_refused_is_connected_and_the_others_go_on()
    {
        OpcUaSubscription second = await _client.SubscribeAsync();
        OpcUaMonitoredItem other = Assert.Single(await second.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 6))]));
        bool isRefusing = true;
        _server.On<CreateSubscriptionRequest>(call => Volatile.Read(ref isRefusing)
            ? call.FaultAsync(StatusCodes.BadTooManySubscriptions)
            : call.ReplyAsync(new CreateSubscriptionResponse { SubscriptionId = 3, RevisedPublishingInterval = 1000 }));
        _server.On<RepublishRequest>(call => call.FaultAsync(
            call.Request<RepublishRequest>().SubscriptionId == 1
                ? StatusCodes.BadSubscriptionIdInvalid
                : StatusCodes.BadMessageNotAvailable));
        var back = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _client.Connected += _ => back.TrySetResult();

        _server.Cut();
        await back.Task.InTimeAsync();

        // The requests of the connection before may still be in the queue: what they are answered goes nowhere.
        while (second.Changes.Count == 0)
        {
            await _script.PublishAsync(ScriptedSubscription.Message(1, other.Handle, 7));
        }

        Assert.Equal([7], await second.NumbersAsync(1));
        Assert.Equal(0u, _subscription.Id);
        Volatile.Write(ref isRefusing, false);
        await Patience.UntilAsync(() => _subscription.Id == 3 && _item.Status.IsGood, "the client has created the subscription again");
    }

    [Fact]
    public async Task More_items_than_the_server_takes_at_a_time_are_asked_for_in_smaller_parts()
    {
        await _subscription.AddItemsAsync(
            [.. Enumerable.Range(0, 9).Select(static i => new MonitoredItemOptions(new NodeId(1, (uint)i)))]);
        List<int> asked = [];
        _server.On<CreateMonitoredItemsRequest>(call =>
        {
            int count = call.Request<CreateMonitoredItemsRequest>().ItemsToCreate!.Length;
            asked.Add(count);
            return count > 4
                ? call.FaultAsync(StatusCodes.BadTooManyOperations)
                : call.ReplyAsync(new CreateMonitoredItemsResponse
                {
                    Results = [.. Enumerable.Repeat(new MonitoredItemCreateResult { MonitoredItemId = 7 }, count)],
                });
        });

        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout));
        await Patience.UntilAsync(
            () => _subscription.Id == 2 && _subscription.Items.All(static item => item.Status.IsGood), "all items are there again");

        Assert.Equal([10, 5, 2, 2, 2, 2, 2], asked);
    }

    [Fact]
    public async Task A_handler_that_throws_does_not_keep_the_others_from_hearing_of_lost_values_and_reports()
    {
        var lost = new TaskCompletionSource<StatusCode>(TaskCreationOptions.RunContinuationsAsynchronously);
        var reported = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _subscription.ValuesLost += static (_, _) => throw new InvalidOperationException("on purpose");
        _subscription.ValuesLost += (_, why) => lost.TrySetResult(why);
        _subscription.Reported += static _ => throw new InvalidOperationException("on purpose");
        _subscription.Reported += _ => reported.TrySetResult();

        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout));

        Assert.Equal(StatusCodes.BadTimeout, await lost.Task.InTimeAsync());
        await reported.Task.InTimeAsync();
        Assert.Equal(2, _log.WithId(7103).Count);
    }

    [Fact]
    public async Task Answers_that_come_when_the_subscription_is_lost_make_no_item_good()
    {
        await using OpcUaClient client = await _server.ConnectAsync(
            new OpcUaClientOptions { ReconnectDelay = Never, MaxReconnectDelay = Never, KeepAliveInterval = TimeSpan.Zero },
            new FakeTimeProvider());
        OpcUaSubscription subscription = await client.SubscribeAsync();
        OpcUaMonitoredItem item = Assert.Single(await subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 5))]));
        var calls = Channel.CreateUnbounded<ScriptedCall>();
        _server.On<CreateMonitoredItemsRequest>(call => calls.Writer.WriteAsync(call).AsTask());
        _server.On<ModifyMonitoredItemsRequest>(call => calls.Writer.WriteAsync(call).AsTask());
        var changed = new MonitoredItemOptions(new NodeId(1, 5)) { QueueSize = 7 };
        Task<IReadOnlyList<OpcUaMonitoredItem>> adding =
            subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 6))]).AsTask();
        ScriptedCall add = await calls.Reader.ReadAsync(Patience.Token);
        Task<StatusCode[]> changing = subscription.ModifyItemsAsync([KeyValuePair.Create(item, changed)]).AsTask();
        ScriptedCall change = await calls.Reader.ReadAsync(Patience.Token);

        // The class's own client has requests for messages there, too, and makes its subscription again.
        _server.On<CreateSubscriptionRequest>(call => call.FaultAsync(StatusCodes.BadTooManySubscriptions));
        uint id = subscription.Id;
        while (subscription.Id != 0)
        {
            await (await _script.NextPublishAsync()).ReplyAsync(new PublishResponse
            {
                SubscriptionId = id,
                NotificationMessage = ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout),
            });
            await client.ReadAsync([new NodeId(1, 5)]);
        }

        await Patience.UntilAsync(() => item.Status == StatusCodes.BadTooManySubscriptions, "the subscription is refused");
        var result = new MonitoredItemCreateResult { MonitoredItemId = 9 };
        await add.ReplyAsync(new CreateMonitoredItemsResponse { Results = [result] });
        await change.ReplyAsync(new ModifyMonitoredItemsResponse { Results = [new MonitoredItemModifyResult { RevisedQueueSize = 7 }] });

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => adding.InTimeAsync());
        Assert.Equal((StatusCodes.BadSubscriptionIdInvalid, false), (e.Status, e.MayHaveExecuted));
        Assert.Equal([StatusCodes.Good], await changing.InTimeAsync());
        Assert.Same(item, Assert.Single(subscription.Items));
        Assert.Equal((StatusCodes.BadTooManySubscriptions, 7u), (item.Status, item.Options.QueueSize));
    }

    /// <summary>What was made for the items is not left at the server.</summary>
    [Fact]
    public async Task A_subscription_whose_items_are_refused_is_deleted_and_made_again()
    {
        var deleted = Channel.CreateUnbounded<uint>();
        _server.On<DeleteSubscriptionsRequest>(call =>
        {
            deleted.Writer.TryWrite(call.Request<DeleteSubscriptionsRequest>().SubscriptionIds![0]);
            return call.ReplyAsync(new DeleteSubscriptionsResponse { Results = [StatusCodes.Good] });
        });
        int requests = 0;
        _server.On<CreateMonitoredItemsRequest>(call => ++requests == 1
            ? call.FaultAsync(StatusCodes.BadTooManyMonitoredItems)
            : call.ReplyAsync(new CreateMonitoredItemsResponse { Results = [new MonitoredItemCreateResult { MonitoredItemId = 7 }] }));

        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout));

        Assert.Equal(StatusCodes.BadTooManyMonitoredItems, (await _subscription.NextAsync()).Value.Status);
        Assert.Equal(2u, await deleted.Reader.ReadAsync(Patience.Token));
        await Patience.UntilAsync(() => _subscription.Id == 3 && _item.Status.IsGood, "the client has created the subscription again");
    }

    [Fact]
    public async Task A_server_that_ends_each_subscription_at_once_is_asked_for_the_next_one_after_a_delay()
    {
        var time = new FakeTimeProvider();
        await using OpcUaClient client = await _server.ConnectAsync(
            new OpcUaClientOptions { ReconnectDelay = Never, MaxReconnectDelay = Never, KeepAliveInterval = TimeSpan.Zero }, time);
        _server.On<PublishRequest>(call => call.ReplyAsync(new PublishResponse
        {
            SubscriptionId = _script.Id,
            NotificationMessage = ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout),
        }));

        // The first one again is asked for without a delay.
        uint before = _script.Id;
        await client.SubscribeAsync();
        await Patience.UntilAsync(() => _script.Id == before + 2, "the client has created the subscription again");
        for (int i = 0; i < 100; i++)
        {
            await client.ReadAsync([new NodeId(1, 5)]);
        }

        Assert.Equal(before + 2, _script.Id);
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(Never);
                return _script.Id > before + 2;
            },
            "the subscription is made once more");
    }
}
