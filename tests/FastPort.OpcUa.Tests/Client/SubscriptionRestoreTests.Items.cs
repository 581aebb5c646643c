using System.Threading.Channels;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Services;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <content>Items of a subscription that the client creates again: their nodes and triggers, and items that the server refuses.</content>
public sealed partial class SubscriptionRestoreTests
{
    [Fact]
    public async Task An_item_whose_namespace_is_gone_is_asked_for_as_no_node_and_comes_back_with_its_namespace()
    {
        OpcUaSubscription subscription = await _client.SubscribeAsync();
        OpcUaMonitoredItem item = Assert.Single(await subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 5))]));
        _server.On<TransferSubscriptionsRequest>(static call => call.FaultAsync(StatusCodes.BadServiceUnsupported));
        _server.On<ActivateSessionRequest>(static call => call.ReplyAsync(default(ActivateSessionResponse)));

        await RestartAsync("urn:other");
        Assert.Equal(NodeId.Null, item.Options.Node);
        await RestartAsync("urn:other", "urn:scripted");

        Assert.Equal(
            [new NodeId(1, 5), NodeId.Null, new NodeId(2, 5)],
            _script.Created.Select(static one => one.ItemsToCreate![0].ItemToMonitor.NodeId));
    }

    [Fact]
    public async Task Items_of_a_namespace_that_the_server_has_got_while_it_was_away_are_asked_for()
    {
        OpcUaSubscription subscription = await _client.SubscribeAsync();
        _server.Namespaces = [.. _server.Namespaces, "urn:new"];
        Task<SessionRecovery> back = BackAsync();
        _server.Cut();
        Assert.Equal(SessionRecovery.Resumed, await back.InTimeAsync());

        await subscription.AddItemsAsync([new MonitoredItemOptions(_client.Namespaces.MakeId("urn:new", 5))]);

        Assert.Equal(new NodeId(2, 5), Assert.Single(_script.Created).ItemsToCreate![0].ItemToMonitor.NodeId);
    }

    [Fact]
    public async Task Triggers_are_set_again_for_the_items_that_are_there_and_in_as_many_requests_as_the_server_needs()
    {
        _server.On<ReadRequest>(call => call.ReplyAsync(new ReadResponse
        {
            Results =
            [
                .. call.Request<ReadRequest>().NodesToRead!.Select(node => new DataValue(node.NodeId.Number switch
                {
                    2255 => Variant.FromArray(_server.Namespaces),
                    11714 => 2u,
                    _ => Variant.Null,
                })),
            ],
        }));
        await using OpcUaClient client = await _server.ConnectAsync();
        OpcUaSubscription subscription = await client.SubscribeAsync();
        IReadOnlyList<OpcUaMonitoredItem> items = await subscription.AddItemsAsync(
            [.. Enumerable.Range(0, 6).Select(static i => new MonitoredItemOptions(new NodeId(1, (uint)i)))]);
        List<int> links = [];
        bool isRefused = false;
        _server.On<SetTriggeringRequest>(call =>
        {
            int count = call.Request<SetTriggeringRequest>().LinksToAdd!.Length;
            links.Add(count);
            return isRefused || count == 0
                ? call.FaultAsync(count == 0 ? StatusCodes.BadNothingToDo : StatusCodes.BadInternalError)
                : call.ReplyAsync(new SetTriggeringResponse { AddResults = new StatusCode[count] });
        });
        await subscription.SetTriggeringAsync(items[0], [items[1], items[2]]);
        await subscription.SetTriggeringAsync(items[0], [items[3], items[4]]);

        // Alone with an item that is gone.
        await subscription.SetTriggeringAsync(items[2], [items[5]]);
        _server.On<CreateMonitoredItemsRequest>(static call => call.ReplyAsync(new CreateMonitoredItemsResponse
        {
            Results =
            [
                .. call.Request<CreateMonitoredItemsRequest>().ItemsToCreate!.Select(static (one, i) =>
                    one.ItemToMonitor.NodeId.Number is 4 or 5
                        ? new MonitoredItemCreateResult { StatusCode = StatusCodes.BadNodeIdUnknown }
                        : new MonitoredItemCreateResult { MonitoredItemId = 1 + one.ItemToMonitor.NodeId.Number }),
            ],
        }));
        links.Clear();
        isRefused = true;

        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout));
        await Patience.UntilAsync(() => _script.Id == 2, "the client has created the subscription again");
        await PublishUntilAsync(subscription, ScriptedSubscription.Message(1, items[0].Handle, 11), 11);

        Assert.Equal([2, 1], links);
    }

    [Fact]
    public async Task Where_the_server_names_no_limit_a_thousand_items_go_in_a_request()
    {
        OpcUaSubscription subscription = await _client.SubscribeAsync();
        List<int> removed = [];
        _server.On<DeleteMonitoredItemsRequest>(call =>
        {
            removed.Add(call.Request<DeleteMonitoredItemsRequest>().MonitoredItemIds!.Length);
            return call.ReplyAsync(new DeleteMonitoredItemsResponse { Results = new StatusCode[removed[^1]] });
        });

        IReadOnlyList<OpcUaMonitoredItem> items = await subscription.AddItemsAsync(
            [.. Enumerable.Range(0, 2500).Select(static i => new MonitoredItemOptions(new NodeId(1, (uint)i)))]);
        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout));
        await Patience.UntilAsync(() => _script.Id == 2, "the client has created the subscription again");
        await PublishUntilAsync(subscription, ScriptedSubscription.Message(1, items[0].Handle, 11), 11);
        await subscription.RemoveItemsAsync(items);

        Assert.Equal([1000, 1000, 500, 1000, 1000, 500], _script.Created.Select(static one => one.ItemsToCreate!.Length));
        Assert.Equal([1000, 1000, 500], removed);
    }

    [Fact]
    public async Task Of_namespaces_with_one_URI_an_item_stays_in_its_own()
    {
        _server.Namespaces = ["http://opcfoundation.org/UA/", string.Empty, string.Empty, "urn:scripted"];
        await using OpcUaClient client = await _server.ConnectAsync();
        OpcUaSubscription subscription = await client.SubscribeAsync();

        await subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(2, 5)), new MonitoredItemOptions(new NodeId(3, 5))]);

        Assert.Equal(
            [new NodeId(2, 5), new NodeId(3, 5)],
            Assert.Single(_script.Created).ItemsToCreate!.Select(static one => one.ItemToMonitor.NodeId));
        Assert.Equal(new NodeId(2, 5), client.Namespaces.MakeId(client.Namespaces.Expand(new NodeId(2, 5))));
    }

    [Fact]
    public async Task Items_that_the_server_does_not_have_are_removed_all_the_same()
    {
        OpcUaSubscription subscription = await _client.SubscribeAsync();
        IReadOnlyList<OpcUaMonitoredItem> items = await subscription.AddItemsAsync(
            [new MonitoredItemOptions(new NodeId(1, 5)), new MonitoredItemOptions(new NodeId(1, 6))]);
        _server.On<DeleteMonitoredItemsRequest>(static call => call.ReplyAsync(new DeleteMonitoredItemsResponse
        {
            Results = [StatusCodes.BadMonitoredItemIdInvalid, StatusCodes.BadUserAccessDenied],
        }));

        Assert.Equal(
            [StatusCodes.BadMonitoredItemIdInvalid, StatusCodes.BadUserAccessDenied], await subscription.RemoveItemsAsync(items));

        Assert.Equal([items[1]], subscription.Items);
    }

    [Fact]
    public async Task An_item_that_is_removed_while_its_subscription_is_made_again_does_not_stay_at_the_server()
    {
        OpcUaSubscription subscription = await _client.SubscribeAsync();
        OpcUaMonitoredItem item = Assert.Single(await subscription.AddItemsAsync([new MonitoredItemOptions(new NodeId(1, 5))]));
        var creating = new TaskCompletionSource<ScriptedCall>(TaskCreationOptions.RunContinuationsAsynchronously);
        _server.On<CreateMonitoredItemsRequest>(call =>
        {
            creating.TrySetResult(call);
            return Task.CompletedTask;
        });
        var removed = Channel.CreateUnbounded<uint>();
        _server.On<DeleteMonitoredItemsRequest>(call =>
        {
            uint id = call.Request<DeleteMonitoredItemsRequest>().MonitoredItemIds![0];
            removed.Writer.TryWrite(id);
            return call.ReplyAsync(new DeleteMonitoredItemsResponse
            {
                Results = [id == 0 ? StatusCodes.BadMonitoredItemIdInvalid : StatusCodes.Good],
            });
        });
        await _script.PublishAsync(ScriptedSubscription.StatusChange(1, StatusCodes.BadTimeout));
        ScriptedCall create = await creating.Task.InTimeAsync();

        await subscription.RemoveItemsAsync([item]);
        Assert.Equal(0u, await removed.Reader.ReadAsync(Patience.Token));
        await create.ReplyAsync(new CreateMonitoredItemsResponse { Results = [new MonitoredItemCreateResult { MonitoredItemId = 77 }] });

        Assert.Equal(77u, await removed.Reader.ReadAsync(Patience.Token));
        await Patience.UntilAsync(() => subscription.Items.Count == 0, "the item is gone");
    }
}
