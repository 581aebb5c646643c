using System.Threading.Channels;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>
/// Subscriptions that are made again and whose connection ends meanwhile, that nobody wants any more, or whose nodes are gone.
/// </summary>
public sealed partial class SubscriptionRestoreTests : IAsyncLifetime
{
    private static readonly TimeSpan Never = TimeSpan.FromMinutes(5);

    private readonly ScriptedServer _server = new();
    private readonly Channel<uint> _deleted = Channel.CreateUnbounded<uint>();
    private ScriptedSubscription _script = null!;
    private OpcUaClient _client = null!;

    public async ValueTask InitializeAsync()
    {
        _script = new ScriptedSubscription(_server);
        _server.On<DeleteSubscriptionsRequest>(call =>
        {
            uint[] ids = call.Request<DeleteSubscriptionsRequest>().SubscriptionIds!;
            Array.ForEach(ids, id => _deleted.Writer.TryWrite(id));
            return call.ReplyAsync(new DeleteSubscriptionsResponse { Results = new StatusCode[ids.Length] });
        });
        _client = await _server.ConnectAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task A_subscription_whose_connection_ends_while_it_is_made_again_is_made_once_more()
    {
        OpcUaSubscription subscription = await _client.SubscribeAsync();
        OpcUaMonitoredItem item = Assert.Single(await subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 5))]));
        var asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int requests = 0;
        _server.On<CreateMonitoredItemsRequest>(call =>
        {
            if (++requests == 1)
            {
                // Not answered: the link is cut.
                asked.SetResult();
                return Task.CompletedTask;
            }

            return call.ReplyAsync(
                new CreateMonitoredItemsResponse { Results = [new MonitoredItemCreateResult { MonitoredItemId = 7 }] });
        });
        Task<SessionRecovery> back = BackAsync();

        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout));
        await asked.Task.InTimeAsync();
        _server.Cut();

        Assert.Equal(SessionRecovery.Resumed, await back.InTimeAsync());
        Assert.Equal((2, 3u), (requests, subscription.Id));
        Assert.Equal(StatusCodes.Good, item.Status);
        Assert.Equal(2u, await _deleted.Reader.ReadAsync(Patience.Token));
    }

    [Fact]
    public async Task A_server_that_does_not_tell_its_namespaces_is_no_server()
    {
        _server.On<ReadRequest>(static call => call.ReplyAsync(new ReadResponse
        {
            Results =
            [
                .. call.Request<ReadRequest>().NodesToRead!.Select(static _ => new DataValue(Variant.Null, StatusCodes.BadInternalError)),
            ],
        }));

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => _server.ConnectAsync());

        Assert.Equal(StatusCodes.BadInternalError, e.Status);
    }

    [Fact]
    public async Task A_subscription_that_nobody_knows_is_deleted_once()
    {
        OpcUaSubscription subscription = await _client.SubscribeAsync();
        OpcUaMonitoredItem item = Assert.Single(await subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 5))]));
        for (int i = 0; i < 2; i++)
        {
            await SendOfStrangerAsync(99);
        }

        Assert.Equal(99u, await _deleted.Reader.ReadAsync(Patience.Token));
        await _script.PublishAsync(ScriptedSubscription.Message(1, item.Handle, 3));
        Assert.Equal([3], await subscription.NumbersAsync(1));
        Assert.Equal(0, _deleted.Reader.Count);
    }

    [Fact]
    public async Task A_message_of_a_subscription_that_is_being_made_does_not_delete_it()
    {
        OpcUaSubscription first = await _client.SubscribeAsync();
        var creating = new TaskCompletionSource<ScriptedCall>(TaskCreationOptions.RunContinuationsAsynchronously);
        _server.On<CreateSubscriptionRequest>(call =>
        {
            creating.TrySetResult(call);
            return Task.CompletedTask;
        });
        Task<OpcUaSubscription> second = _client.SubscribeAsync().AsTask();
        ScriptedCall create = await creating.Task.InTimeAsync();
        await SendOfStrangerAsync(2);

        // The next request follows the message's handling.
        await _script.NextPublishAsync();
        await _script.NextPublishAsync();
        await create.ReplyAsync(new CreateSubscriptionResponse { SubscriptionId = 2, RevisedPublishingInterval = 1000 });

        Assert.Equal(2u, (await second.InTimeAsync()).Id);
        Assert.Equal(0, _deleted.Reader.Count);
        Assert.Equal(1u, first.Id);
    }

    [Fact]
    public async Task A_subscription_that_is_disposed_while_the_server_is_away_is_deleted_when_it_is_back()
    {
        OpcUaSubscription subscription = await _client.SubscribeAsync();
        await using OpcUaSubscription other = await _client.SubscribeAsync();
        var activating = new TaskCompletionSource<ScriptedCall>(TaskCreationOptions.RunContinuationsAsynchronously);
        _server.On<ActivateSessionRequest>(call =>
        {
            activating.TrySetResult(call);
            return Task.CompletedTask;
        });
        Task<SessionRecovery> back = BackAsync();
        _server.Cut();
        ScriptedCall activate = await activating.Task.InTimeAsync();
        await Patience.UntilAsync(() => !_client.IsConnected, "the loss is noticed");

        await subscription.DisposeAsync();
        await activate.ReplyAsync(default(ActivateSessionResponse));

        Assert.Equal(SessionRecovery.Resumed, await back.InTimeAsync());
        Assert.Equal(1u, await _deleted.Reader.ReadAsync(Patience.Token));
    }

    [Fact]
    public async Task A_subscription_that_is_disposed_while_subscriptions_are_brought_back_is_deleted_when_it_is_heard_of()
    {
        await using OpcUaSubscription kept = await _client.SubscribeAsync();
        OpcUaSubscription subscription = await _client.SubscribeAsync();
        var restoring = new TaskCompletionSource<ScriptedCall>(TaskCreationOptions.RunContinuationsAsynchronously);
        _server.On<RepublishRequest>(call => restoring.TrySetResult(call)
            ? Task.CompletedTask
            : call.FaultAsync(StatusCodes.BadMessageNotAvailable));
        Task<SessionRecovery> back = BackAsync();
        _server.Cut();
        ScriptedCall republish = await restoring.Task.InTimeAsync();

        await subscription.DisposeAsync();
        await republish.FaultAsync(StatusCodes.BadMessageNotAvailable);
        Assert.Equal(SessionRecovery.Resumed, await back.InTimeAsync());

        // The requests of the connection before may still be in the queue: what they are answered goes nowhere.
        await Patience.UntilAsync(
            async () =>
            {
                await SendOfStrangerAsync(2);
                return _deleted.Reader.Count != 0;
            },
            "the subscription is deleted");
        Assert.Equal(2u, await _deleted.Reader.ReadAsync(Patience.Token));
        Assert.Equal(1u, kept.Id);
    }

    [Fact]
    public async Task A_subscription_that_a_new_session_refuses_to_make_deletes_no_other_one_there()
    {
        OpcUaSubscription subscription = await _client.SubscribeAsync();
        await subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 5))]);
        var asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _server.On<CreateMonitoredItemsRequest>(_ =>
        {
            // Not answered: the link is cut.
            asked.SetResult();
            return Task.CompletedTask;
        });
        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout));
        await asked.Task.InTimeAsync();
        _server.On<TransferSubscriptionsRequest>(static call => call.FaultAsync(StatusCodes.BadServiceUnsupported));
        _server.On<CreateSubscriptionRequest>(static call => call.FaultAsync(StatusCodes.BadTooManySubscriptions));

        await RestartAsync("urn:scripted");

        Assert.Equal(StatusCodes.BadTooManySubscriptions, (await subscription.NextAsync()).Value.Status);
        await subscription.DisposeAsync();
        Assert.Equal(0, _deleted.Reader.Count);
    }

    [Fact]
    public async Task A_server_that_does_not_tell_its_namespaces_keeps_one_session_of_all_attempts()
    {
        int attempts = 0;
        bool isTelling = false;
        _server.On<ActivateSessionRequest>(call =>
        {
            isTelling = ++attempts > 3;
            return call.ReplyAsync(default(ActivateSessionResponse));
        });
        uint before = _server.SessionCount;
        _server.On<ReadRequest>(call => call.ReplyAsync(new ReadResponse
        {
            Results =
            [
                .. call.Request<ReadRequest>().NodesToRead!.Select(_ => isTelling
                    ? new DataValue(Variant.Null)
                    : new DataValue(Variant.Null, StatusCodes.BadInternalError)),
            ],
        }));

        await using OpcUaClient client = await _server.ConnectAsync(
            new OpcUaClientOptions { RetryConnect = true, ReconnectDelay = TimeSpan.FromMilliseconds(1) }).InTimeAsync();

        Assert.Equal((4, before + 1), (attempts, _server.SessionCount));
    }

    [Fact]
    public async Task Answers_that_there_is_no_subscription_do_not_delay_one_that_was_made_later()
    {
        await using OpcUaClient client = await _server.ConnectAsync(
            new OpcUaClientOptions { ReconnectDelay = Never, MaxReconnectDelay = Never });
        OpcUaSubscription old = await client.SubscribeAsync();
        ScriptedCall[] requests = [await _script.NextPublishAsync(), await _script.NextPublishAsync()];
        await old.DisposeAsync();
        OpcUaSubscription subscription = await client.SubscribeAsync();
        OpcUaMonitoredItem item = Assert.Single(await subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 5))]));

        foreach (ScriptedCall request in requests)
        {
            await request.FaultAsync(StatusCodes.BadNoSubscription);
        }

        await _script.PublishAsync(ScriptedSubscription.Message(1, item.Handle, 3));
        Assert.Equal([3], await subscription.NumbersAsync(1));
        Assert.Empty(_script.Republished);
    }

    [Fact]
    public async Task A_server_for_which_each_request_is_one_too_many_is_asked_again_after_a_delay()
    {
        var time = new FakeTimeProvider();
        await using OpcUaClient client = await _server.ConnectAsync(
            new OpcUaClientOptions { ReconnectDelay = Never, MaxReconnectDelay = Never, KeepAliveInterval = TimeSpan.Zero }, time);
        int requests = 0;
        _server.On<PublishRequest>(call =>
        {
            Interlocked.Increment(ref requests);
            return call.FaultAsync(StatusCodes.BadTooManyPublishRequests);
        });

        // Two at first, and one without a delay.
        await client.SubscribeAsync();
        await Patience.UntilAsync(() => Volatile.Read(ref requests) >= 3, "the server was asked");
        for (int i = 0; i < 100; i++)
        {
            await client.ReadAsync([new NodeId(1, 5)]);
        }

        Assert.Equal(3, Volatile.Read(ref requests));
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(Never);
                return Volatile.Read(ref requests) > 3;
            },
            "the server is asked again");
    }

    [Fact]
    public async Task The_session_that_is_active_when_the_client_ends_is_the_one_that_it_closes()
    {
        var slot = new LinkSlot();
        var link = new SessionLink(
            _server.Url, default, new ClientSession(default, []), new OperationLimits(_server.Url, NullLogger.Instance));
        Assert.True(slot.TryEnter(link));

        Assert.Same(link, slot.End(new OpcUaException(StatusCodes.BadSessionClosed, "closed")));
        Assert.False(slot.TryEnter(link));
        await Assert.ThrowsAsync<OpcUaException>(() => slot.NextAsync(after: null));
    }

    [Fact]
    public async Task A_subscription_that_is_made_when_all_have_ended_is_not_added()
    {
        var publisher = new Publisher(_server.Url, new OpcUaClientOptions(), TimeProvider.System, NullLogger.Instance);
        var link = new SessionLink(
            _server.Url,
            new ClientChannelLink(_client.Connection, _client.Channel),
            new ClientSession(default, []),
            new OperationLimits(_server.Url, NullLogger.Instance));
        await publisher.RestoreAsync(link, CancellationToken.None);

        publisher.End(error: null);

        await using var subscription = new OpcUaSubscription(_client, new SubscriptionOptions(), static () => { });
        Assert.False(publisher.TryAdd(subscription, link));
    }

    // A keep-alive of a subscription that the client may not know.
    private async Task SendOfStrangerAsync(uint id) => await (await _script.NextPublishAsync()).ReplyAsync(
        new PublishResponse { SubscriptionId = id, NotificationMessage = new NotificationMessage { SequenceNumber = 1 } });

    // A new run of the server, with other namespaces.
    private async Task RestartAsync(params string[] namespaces)
    {
        uint sessions = _server.SessionCount;
        _server.Namespaces = ["http://opcfoundation.org/UA/", .. namespaces];
        _server.On<ActivateSessionRequest>(call => call.Header.AuthenticationToken.Number <= sessions
            ? call.FaultAsync(StatusCodes.BadSessionIdInvalid)
            : call.ReplyAsync(default(ActivateSessionResponse)));
        Task<SessionRecovery> back = BackAsync();
        _server.Cut();
        Assert.Equal(SessionRecovery.Replaced, await back.InTimeAsync());
    }

    private async Task PublishUntilAsync(OpcUaSubscription subscription, NotificationMessage message, int value)
    {
        await _script.PublishAsync(message);
        while ((await subscription.NextAsync()).Value is var change && !(change.Value.TryGet(out int got) && got == value))
        {
            Assert.True(change.Status.IsBad);
        }
    }

    private Task<SessionRecovery> BackAsync()
    {
        var back = new TaskCompletionSource<SessionRecovery>(TaskCreationOptions.RunContinuationsAsynchronously);
        _client.Connected += recovery => back.TrySetResult(recovery);
        return back.Task;
    }
}
