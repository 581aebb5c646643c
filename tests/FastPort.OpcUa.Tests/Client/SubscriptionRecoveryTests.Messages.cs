using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <content>Messages: their numbers, and those that are missing.</content>
public sealed partial class SubscriptionRecoveryTests
{
    [Fact]
    public async Task Two_requests_wait_for_one_subscription_and_messages_are_acknowledged()
    {
        await Patience.UntilAsync(() => _script.WaitingCount == 2, "two Publish requests wait");
        await PublishAsync(1);
        await PublishAsync(2);

        Assert.Equal([1, 2], await _subscription.NumbersAsync(2));
        Assert.Equal((1u, 2u), (await _script.NextAcknowledgedAsync(), await _script.NextAcknowledgedAsync()));
    }

    [Fact]
    public async Task An_item_whose_value_comes_before_the_answer_has_no_bad_status()
    {
        var asked = new TaskCompletionSource<ScriptedCall>(TaskCreationOptions.RunContinuationsAsynchronously);
        _server.On<CreateMonitoredItemsRequest>(call =>
        {
            asked.SetResult(call);
            return Task.CompletedTask;
        });
        Task<IReadOnlyList<OpcUaMonitoredItem>> adding =
            _subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 6))]).AsTask();
        ScriptedCall request = await asked.Task.InTimeAsync();
        uint handle = request.Request<CreateMonitoredItemsRequest>().ItemsToCreate![0].RequestedParameters.ClientHandle;

        await _script.PublishAsync(ScriptedSubscription.Message(1, handle, 5));

        DataChange change = await _subscription.NextAsync();
        Assert.Equal((5, StatusCodes.Good), (change.Value.Value.Get<int>(), change.Item.Status));
        await request.ReplyAsync(new CreateMonitoredItemsResponse { Results = [new MonitoredItemCreateResult { MonitoredItemId = 7 }] });
        Assert.Equal(change.Item, Assert.Single(await adding.InTimeAsync()));
    }

    [Fact]
    public async Task Messages_that_are_missing_are_asked_for_again_and_come_in_order()
    {
        _script.Kept[2] = Message(2);
        _script.Kept[3] = Message(3);
        await PublishAsync(1);

        // What the server keeps may be named again and again.
        await PublishAsync(4, 1, 2, 2, 3, 3, 4);

        Assert.Equal([1, 2, 3, 4], await _subscription.NumbersAsync(4));
        Assert.Equal([2u, 3u], _script.Republished);
        Assert.Empty(_lost);

        // One that comes late is only acknowledged.
        await PublishAsync(3);
        await PublishAsync(5);
        Assert.Equal([5], await _subscription.NumbersAsync(1));
    }

    [Fact]
    public async Task Messages_that_are_missing_are_asked_for_as_the_reader_has_room()
    {
        await using OpcUaSubscription subscription = await _client.SubscribeAsync(new SubscriptionOptions { Capacity = 1 });
        OpcUaMonitoredItem item = Assert.Single(await subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 5))]));
        for (uint number = 1; number <= 4; number++)
        {
            _script.Kept[number] = ScriptedSubscription.Message(number, item.Handle, (int)number);
        }

        await _script.PublishAsync(ScriptedSubscription.Message(5, item.Handle, 5), 1, 2, 3, 4);
        await Patience.UntilAsync(() => subscription.Changes.Count != 0, "the first message is there");
        await Patience.UntilSteadyAsync(() => subscription.Changes.Count, "nothing more comes");

        Assert.Equal(1, subscription.Changes.Count);
        Assert.Equal([1, 2, 3, 4, 5], await subscription.NumbersAsync(5));
        Assert.Empty(_lost);
    }

    [Fact]
    public async Task A_reader_that_is_gone_keeps_no_other_subscription_waiting()
    {
        OpcUaSubscription subscription = await _client.SubscribeAsync(new SubscriptionOptions { Capacity = 1 });
        OpcUaMonitoredItem item = Assert.Single(await subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 5))]));
        _script.Kept[1] = ScriptedSubscription.Message(1, item.Handle, 1);
        await _script.PublishAsync(ScriptedSubscription.Message(3, item.Handle, 3), 1, 2);
        await Patience.UntilAsync(() => subscription.Changes.Count != 0, "the first message is there");

        await subscription.DisposeAsync();

        await (await _script.NextPublishAsync()).ReplyAsync(
            new PublishResponse { SubscriptionId = _subscription.Id, NotificationMessage = Message(1) });
        Assert.Equal([1], await _subscription.NumbersAsync(1));
    }

    [Fact]
    public async Task A_keep_alive_with_a_later_number_shows_what_is_missing()
    {
        _script.Kept[1] = Message(1);
        await _script.PublishAsync(new NotificationMessage { SequenceNumber = 2 }, 1);
        Assert.Equal([1], await _subscription.NumbersAsync(1));

        // A keep-alive uses no number.
        await _script.PublishAsync(new NotificationMessage { SequenceNumber = 2 });
        await PublishAsync(2);
        Assert.Equal([2], await _subscription.NumbersAsync(1));
        Assert.Equal([1u], _script.Republished);
    }

    [Fact]
    public async Task Messages_that_cannot_be_had_again_are_told()
    {
        await PublishAsync(1);
        await PublishAsync(1_000_000_000, 1_000_000_000);
        Assert.Equal([1, 1_000_000_000], await _subscription.NumbersAsync(2));
        Assert.Equal([StatusCodes.BadMessageNotAvailable], _lost);
    }

    [Fact]
    public async Task Sequence_numbers_go_round_without_zero()
    {
        // A number is late or early by at most half of all.
        await PublishAsync(2_000_000_000, value: 5);
        await PublishAsync(4_000_000_000, value: 6);
        await PublishAsync(uint.MaxValue - 1, value: 7);
        Assert.Equal([5, 6, 7], await _subscription.NumbersAsync(3));
        Assert.Equal(3, _lost.Count);

        _script.Kept[uint.MaxValue] = ScriptedSubscription.Message(uint.MaxValue, _item.Handle, 8);
        await PublishAsync(1, uint.MaxValue, 1);
        await PublishAsync(2);
        Assert.Equal([8, 1, 2], await _subscription.NumbersAsync(3));
        Assert.Equal(3, _lost.Count);
    }
}
