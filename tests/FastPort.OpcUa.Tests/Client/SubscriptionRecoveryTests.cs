using System.Threading.Channels;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>What becomes of subscriptions when messages, connections, sessions or the subscriptions themselves are lost.</summary>
public sealed partial class SubscriptionRecoveryTests : IAsyncLifetime
{
    private readonly ScriptedServer _server = new() { StartTime = DateTime.UnixEpoch };
    private readonly List<StatusCode> _lost = [];
    private ScriptedSubscription _script = null!;
    private OpcUaClient _client = null!;
    private OpcUaSubscription _subscription = null!;
    private OpcUaMonitoredItem _item = null!;

    public async ValueTask InitializeAsync()
    {
        _script = new ScriptedSubscription(_server);
        _client = await _server.ConnectAsync();
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
    public async Task When_the_session_is_kept_the_missing_messages_come_after_the_reconnect()
    {
        await PublishAsync(1);
        Assert.Equal([1], await _subscription.NumbersAsync(1));
        _script.Kept[2] = Message(2);
        _script.Kept[3] = Message(3);
        Task<SessionRecovery> back = BackAsync();

        _server.Cut();

        Assert.Equal(SessionRecovery.Resumed, await back.InTimeAsync());
        Assert.Equal([2, 3], await _subscription.NumbersAsync(2));
        Assert.Equal((1u, 1u), (_server.SessionCount, _script.Id));
        await PublishAfterLossAsync(4);
        Assert.Equal([4], await _subscription.NumbersAsync(1));
        Assert.Empty(_lost);
    }

    [Fact]
    public async Task With_a_new_session_the_subscription_is_transferred()
    {
        await PublishAsync(1);
        _script.Kept[2] = Message(2);
        uint[] transferred = [];
        _server.On<TransferSubscriptionsRequest>(call =>
        {
            transferred = call.Request<TransferSubscriptionsRequest>().SubscriptionIds!;
            return call.ReplyAsync(new TransferSubscriptionsResponse { Results = [new TransferResult { AvailableSequenceNumbers = [2] }] });
        });
        LoseSession();
        Task<SessionRecovery> back = BackAsync();

        _server.Cut();

        Assert.Equal(SessionRecovery.Replaced, await back.InTimeAsync());
        Assert.Equal([1, 2], await _subscription.NumbersAsync(2));
        Assert.Equal([1u], transferred);
        Assert.Equal((2u, 1u), (_server.SessionCount, _script.Id));
        Assert.Empty(_lost);
    }

    [Fact]
    public async Task A_transfer_that_the_server_has_made_when_the_connection_ends_counts_on_the_next_one()
    {
        int requests = 0;
        _server.On<TransferSubscriptionsRequest>(call =>
        {
            if (++requests == 1)
            {
                _server.Cut();
                return Task.CompletedTask;
            }

            return call.ReplyAsync(new TransferSubscriptionsResponse
            {
                Results = [new TransferResult { StatusCode = StatusCodes.BadNothingToDo }],
            });
        });
        LoseSession();
        Task<SessionRecovery> back = BackAsync();

        _server.Cut();

        Assert.Equal(SessionRecovery.Replaced, await back.InTimeAsync());
        Assert.Equal((2, 2u, 1u), (requests, _server.SessionCount, _script.Id));
        Assert.Empty(_lost);
        await PublishAfterLossAsync(1);
        Assert.Equal([1], await _subscription.NumbersAsync(1));
    }

    /// <summary>Its id may be that of another client's subscription there.</summary>
    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_subscription_of_another_run_of_the_server_is_not_transferred(bool isKnown)
    {
        int requests = 0;
        _server.On<TransferSubscriptionsRequest>(call =>
        {
            requests++;
            return call.ReplyAsync(new TransferSubscriptionsResponse { Results = [default] });
        });
        _server.StartTime = isKnown ? DateTime.UnixEpoch.AddDays(1) : null;
        LoseSession();
        Task<SessionRecovery> back = BackAsync();

        _server.Cut();

        Assert.Equal(SessionRecovery.Replaced, await back.InTimeAsync());
        Assert.Equal((0, 2u, 2u), (requests, _script.Id, _subscription.Id));
        Assert.Equal([StatusCodes.BadSubscriptionIdInvalid], _lost);
    }

    [Fact]
    public async Task A_subscription_that_cannot_be_transferred_is_made_again_with_the_nodes_indexes_of_now()
    {
        _server.Namespaces = ["http://opcfoundation.org/UA/", "urn:other", "urn:scripted"];
        _server.On<TransferSubscriptionsRequest>(static call => call.ReplyAsync(new TransferSubscriptionsResponse
        {
            Results = [new TransferResult { StatusCode = StatusCodes.BadSubscriptionIdInvalid }],
        }));
        LoseSession();
        Task<SessionRecovery> back = BackAsync();

        _server.Cut();

        Assert.Equal(SessionRecovery.Replaced, await back.InTimeAsync());
        Assert.Equal((2u, 2u), (_script.Id, _subscription.Id));
        Assert.Equal(
            [new NodeId(1, 5), new NodeId(2, 5)],
            _script.Created.Select(static one => one.ItemsToCreate![0].ItemToMonitor.NodeId));
        Assert.Equal(new NodeId(2, 5), _item.Options.Node);
        Assert.Equal(new NodeId(2, 5), _client.Namespaces.MakeId("urn:scripted", 5));
        Assert.Equal([StatusCodes.BadSubscriptionIdInvalid], _lost);
        await PublishAfterLossAsync(1);
        Assert.Equal([1], await _subscription.NumbersAsync(1));
    }

    [Fact]
    public async Task A_subscription_that_the_server_has_ended_is_made_again()
    {
        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout));
        await Patience.UntilAsync(() => _subscription.Id == 2 && _item.Status.IsGood, "the client has created the subscription again");
        await PublishAsync(1, value: 11);

        Assert.Equal([11], await _subscription.NumbersAsync(1));
        Assert.Equal([StatusCodes.BadTimeout], _lost);
        Assert.Equal([_item], _subscription.Items);
    }

    [Fact]
    public async Task A_subscription_that_is_disposed_while_it_is_made_again_does_not_stay_at_the_server()
    {
        var creating = new TaskCompletionSource<ScriptedCall>(TaskCreationOptions.RunContinuationsAsynchronously);
        var deleted = Channel.CreateUnbounded<uint>();
        _server.On<CreateSubscriptionRequest>(call =>
        {
            creating.TrySetResult(call);
            return Task.CompletedTask;
        });
        _server.On<DeleteSubscriptionsRequest>(call =>
        {
            deleted.Writer.TryWrite(call.Request<DeleteSubscriptionsRequest>().SubscriptionIds![0]);
            return call.ReplyAsync(new DeleteSubscriptionsResponse { Results = [StatusCodes.Good] });
        });
        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout));
        ScriptedCall create = await creating.Task.InTimeAsync();

        await _subscription.DisposeAsync();
        await create.ReplyAsync(new CreateSubscriptionResponse { SubscriptionId = 77, RevisedPublishingInterval = 1000 });

        Assert.Equal(77u, await deleted.Reader.ReadAsync(Patience.Token));
    }

    [Fact]
    public async Task Items_of_another_subscription_are_refused()
    {
        await using OpcUaSubscription other = await _client.SubscribeAsync();

        await Assert.ThrowsAsync<ArgumentException>(async () => await other.RemoveItemsAsync([_item]));
        await Assert.ThrowsAsync<ArgumentException>(async () => await other.ModifyItemsAsync([new(_item, _item.Options)]));
        await Assert.ThrowsAsync<ArgumentException>(async () => await other.SetTriggeringAsync(_item, []));
    }

    [Theory]

    // BadSubscriptionIdInvalid; BadServiceUnsupported, which does not say that it is there.
    [InlineData(0x8028_0000)]
    [InlineData(0x800B_0000)]
    public async Task BadNoSubscription_makes_the_client_look_and_make_it_again(uint republishFault)
    {
        _script.RepublishFault = new StatusCode(republishFault);
        await (await _script.NextPublishAsync()).FaultAsync(StatusCodes.BadNoSubscription);
        await Patience.UntilAsync(() => _script.Id == 2, "the client has created the subscription again");

        // The second answer is to a request from before.
        _script.RepublishFault = StatusCodes.BadMessageNotAvailable;
        await (await _script.NextPublishAsync()).FaultAsync(StatusCodes.BadNoSubscription);
        await PublishAsync(1);
        Assert.Equal([1], await _subscription.NumbersAsync(1));
        Assert.Equal(2u, _script.Id);
    }

    [Fact]
    public async Task A_subscription_that_the_server_can_no_longer_make_ends_and_says_why()
    {
        _script.Refusals.Enqueue(StatusCodes.BadServiceUnsupported);
        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout));

        var e = Assert.IsType<OpcUaException>(await _subscription.Changes.EndAsync());
        Assert.Equal(StatusCodes.BadServiceUnsupported, e.Status);
        Assert.True(_client.IsConnected);
    }

    [Fact]
    public async Task A_subscription_that_another_client_took_ends()
    {
        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.GoodSubscriptionTransferred));

        var e = Assert.IsType<OpcUaException>(await _subscription.Changes.EndAsync());
        Assert.Equal(StatusCodes.GoodSubscriptionTransferred, e.Status);
    }

    [Fact]
    public async Task Where_two_requests_are_too_many_one_waits()
    {
        await Patience.UntilAsync(() => _script.WaitingCount == 2, "two Publish requests wait");
        await (await _script.NextPublishAsync()).FaultAsync(StatusCodes.BadTooManyPublishRequests);
        await PublishAsync(1);
        Assert.Equal([1], await _subscription.NumbersAsync(1));
        await Patience.UntilAsync(() => _script.WaitingCount == 1, "one Publish request waits");
        await PublishAsync(2);
        Assert.Equal([2], await _subscription.NumbersAsync(1));
        Assert.InRange(_script.WaitingCount, 0, 1);
    }

    [Fact]
    public async Task A_session_that_the_server_has_lost_is_replaced_while_the_connection_lives()
    {
        LoseSession();
        Task<SessionRecovery> back = BackAsync();
        await (await _script.NextPublishAsync()).FaultAsync(StatusCodes.BadSessionIdInvalid);

        Assert.Equal(SessionRecovery.Replaced, await back.InTimeAsync());
        Assert.Equal((2u, 2u), (_server.SessionCount, _script.Id));
    }

    [Fact]
    public async Task Without_reconnect_the_end_of_the_connection_ends_the_subscription()
    {
        await using OpcUaClient client = await _server.ConnectAsync(new OpcUaClientOptions { Reconnect = false });
        OpcUaSubscription subscription = await client.SubscribeAsync();

        _server.Cut();

        var e = Assert.IsType<OpcUaException>(await subscription.Changes.EndAsync());
        Assert.Equal(StatusCodes.BadServerNotConnected, e.Status);
        e = await Assert.ThrowsAsync<OpcUaException>(async () => await client.SubscribeAsync());
        Assert.Equal((StatusCodes.BadServerNotConnected, false), (e.Status, e.MayHaveExecuted));
    }

    [Fact]
    public async Task Items_that_are_gone_after_a_restart_say_so_and_come_back_with_their_nodes()
    {
        _server.On<TransferSubscriptionsRequest>(static call => call.FaultAsync(StatusCodes.BadServiceUnsupported));
        _server.On<CreateMonitoredItemsRequest>(static call => call.ReplyAsync(new CreateMonitoredItemsResponse
        {
            Results = [new MonitoredItemCreateResult { StatusCode = StatusCodes.BadNodeIdUnknown }],
        }));
        LoseSession();
        _server.Cut();

        DataChange change = await _subscription.NextAsync();
        Assert.Equal((_item, StatusCodes.BadNodeIdUnknown), (change.Item, change.Value.Status));
        Assert.Equal([_item], _subscription.Items);
    }

    private NotificationMessage Message(uint number) => ScriptedSubscription.Message(number, _item.Handle, (int)number);

    private Task PublishAsync(uint number, params uint[] available) => _script.PublishAsync(Message(number), available);

    private Task PublishAsync(uint number, int value) =>
        _script.PublishAsync(ScriptedSubscription.Message(number, _item.Handle, value));

    // The requests of the connection before may still be in the queue: what they are answered goes nowhere.
    private async Task PublishAfterLossAsync(uint number)
    {
        while (_subscription.Changes.Count == 0)
        {
            await PublishAsync(number);
        }
    }

    private Task<SessionRecovery> BackAsync()
    {
        var back = new TaskCompletionSource<SessionRecovery>(TaskCreationOptions.RunContinuationsAsynchronously);
        _client.Connected += recovery => back.TrySetResult(recovery);
        return back.Task;
    }

    // The server no longer knows the first session.
    private void LoseSession() => _server.On<ActivateSessionRequest>(static call =>
        call.Header.AuthenticationToken == new NodeId(1, 1)
            ? call.FaultAsync(StatusCodes.BadSessionIdInvalid)
            : call.ReplyAsync(default(ActivateSessionResponse)));
}
