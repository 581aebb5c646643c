using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>The client's subscriptions with our server.</summary>
public sealed class SubscriptionTests : IAsyncLifetime
{
    private static readonly SubscriptionOptions Fast = new() { PublishingInterval = TimeSpan.FromMilliseconds(10) };

    private readonly VariableNode[] _numbers = new VariableNode[20];
    private TestServer _server = null!;
    private OpcUaClient _client = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await TestServer.StartAsync(space =>
        {
            for (int i = 0; i < _numbers.Length; i++)
            {
                _numbers[i] = space.AddVariable(AddressSpace.ObjectsFolder, Id(i), $"Number{i}", i);
            }
        });
        _client = await _server.ConnectAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task All_values_come_in_order()
    {
        await using OpcUaSubscription subscription = await _client.SubscribeAsync(Fast);
        IReadOnlyList<OpcUaMonitoredItem> items = await subscription.AddItemsAsync([Item(0) with { QueueSize = 1000 }]);
        OpcUaMonitoredItem item = Assert.Single(items);
        Assert.Equal((StatusCodes.Good, 1000u, "tag"), (item.Status, item.QueueSize, item.Options.Tag));

        Assert.Equal([0], await subscription.NumbersAsync(1));
        for (int i = 1; i < 500; i++)
        {
            _numbers[0].Value = new DataValue(i);
        }

        Assert.Equal(Enumerable.Range(1, 499), await subscription.NumbersAsync(499));
        Assert.Equal(Fast.PublishingInterval, subscription.PublishingInterval);
        Assert.Equal((10u, 1000u), (subscription.KeepAliveCount, subscription.LifetimeCount));
    }

    [Fact]
    public async Task Each_item_has_its_status_and_those_that_are_refused_are_not_kept()
    {
        await using OpcUaSubscription subscription = await _client.SubscribeAsync(Fast);

        IReadOnlyList<OpcUaMonitoredItem> items = await subscription.AddItemsAsync([Item(0), Item(99), Item(1)]);

        Assert.Equal([StatusCodes.Good, StatusCodes.BadNodeIdUnknown, StatusCodes.Good], items.Select(static i => i.Status));
        Assert.Equal([items[0], items[2]], subscription.Items);
        DataChange[] first = [await subscription.NextAsync(), await subscription.NextAsync()];
        Assert.Equal([items[0], items[2]], first.Select(static c => c.Item).OrderBy(static i => i.Handle));
    }

    [Fact]
    public async Task Many_items_go_in_as_many_requests_as_the_server_wants()
    {
        await using TestServer server = await TestServer.StartAsync(
            space =>
            {
                for (int i = 0; i < 25; i++)
                {
                    space.AddVariable(AddressSpace.ObjectsFolder, Id(i), $"Number{i}", i);
                }
            },
            static o => o.MaxMonitoredItemsPerCall = 10);
        await using OpcUaClient client = await server.ConnectAsync();
        await using OpcUaSubscription subscription = await client.SubscribeAsync(Fast);

        IReadOnlyList<OpcUaMonitoredItem> items = await subscription.AddItemsAsync([.. Enumerable.Range(0, 25).Select(Item)]);

        Assert.All(items, static i => Assert.Equal(StatusCodes.Good, i.Status));
        Assert.Equal(Enumerable.Range(0, 25), (await subscription.NumbersAsync(25)).Order());
        StatusCode[] linked = await subscription.SetTriggeringAsync(items[0], [.. items.Skip(1)]);
        Assert.Equal(24, linked.Count(static s => s.IsGood));
        linked = await subscription.SetTriggeringAsync(items[0], [.. items.Skip(13).Take(12)], [.. items.Skip(1).Take(12), items[0]]);
        Assert.Equal(24, linked.Count(static s => s.IsGood));
        Assert.Equal(StatusCodes.BadMonitoredItemIdInvalid, linked[^1]);
        StatusCode[] removed = await subscription.RemoveItemsAsync(items);
        Assert.Equal(25, removed.Count(static s => s.IsGood));
        Assert.Empty(subscription.Items);
    }

    [Fact]
    public async Task Small_changes_within_a_deadband_do_not_come()
    {
        await using OpcUaSubscription subscription = await _client.SubscribeAsync(Fast);
        await subscription.AddItemsAsync([Item(0) with { Deadband = Deadband.Absolute(10), QueueSize = 10 }]);
        Assert.Equal([0], await subscription.NumbersAsync(1));

        foreach (int value in (int[])[5, 10, 11, 20, 22])
        {
            _numbers[0].Value = new DataValue(value);
        }

        Assert.Equal([11, 22], await subscription.NumbersAsync(2));
    }

    [Fact]
    public async Task A_deadband_can_be_a_part_of_the_variables_range()
    {
        VariableNode level = null!;
        await using TestServer server = await TestServer.StartAsync(space => level = space.AddAnalogVariable(
            AddressSpace.ObjectsFolder, Id(0), "Level", 0.0, 0, 200));
        await using OpcUaClient client = await server.ConnectAsync();
        await using OpcUaSubscription subscription = await client.SubscribeAsync(Fast);
        IReadOnlyList<OpcUaMonitoredItem> items = await subscription.AddItemsAsync(
            [Item(0) with { Deadband = Deadband.Percent(10), QueueSize = 10 }]);
        Assert.Equal(StatusCodes.Good, Assert.Single(items).Status);

        foreach (double value in (double[])[20, 21, 40, 42])
        {
            level.Value = new DataValue(value);
        }

        double[] seen = [await NextAsync(), await NextAsync(), await NextAsync()];
        Assert.Equal([0, 21, 42], seen.AsEnumerable());

        async Task<double> NextAsync() => (await subscription.NextAsync()).Value.Value.Get<double>();
    }

    [Fact]
    public async Task An_item_can_be_changed_switched_off_and_removed()
    {
        await using OpcUaSubscription subscription = await _client.SubscribeAsync(Fast);
        IReadOnlyList<OpcUaMonitoredItem> items = await subscription.AddItemsAsync([Item(0), Item(1)]);
        await subscription.NumbersAsync(2);

        StatusCode[] modified = await subscription.ModifyItemsAsync([new(items[0], Item(5) with { QueueSize = 50 })]);
        Assert.Equal([StatusCodes.Good], modified);
        Assert.Equal((50u, Id(0)), (items[0].QueueSize, items[0].Options.Node));

        Assert.Equal([StatusCodes.Good], await subscription.SetMonitoringModeAsync([items[0]], MonitoringMode.Disabled));
        Assert.Equal(MonitoringMode.Disabled, items[0].Options.Mode);
        _numbers[0].Value = new DataValue(100);
        _numbers[1].Value = new DataValue(101);
        Assert.Equal([101], await subscription.NumbersAsync(1));

        Assert.Equal(
            [StatusCodes.Good, StatusCodes.BadMonitoredItemIdInvalid],
            [.. await subscription.RemoveItemsAsync([items[1]]), .. await subscription.RemoveItemsAsync([items[1]])]);
        Assert.Equal([items[0]], subscription.Items);
    }

    [Fact]
    public async Task A_triggered_item_reports_with_its_trigger()
    {
        await using OpcUaSubscription subscription = await _client.SubscribeAsync(Fast);
        IReadOnlyList<OpcUaMonitoredItem> items = await subscription.AddItemsAsync(
            [Item(0), Item(1) with { Mode = MonitoringMode.Sampling, QueueSize = 5 }]);
        Assert.Equal([0], await subscription.NumbersAsync(1));

        Assert.Equal([StatusCodes.Good], await subscription.SetTriggeringAsync(items[0], [items[1]]));
        _numbers[1].Value = new DataValue(11);
        _numbers[0].Value = new DataValue(10);

        Assert.Equal([1, 10, 11], (await subscription.NumbersAsync(3)).Order());
        Assert.Equal([StatusCodes.Good], await subscription.SetTriggeringAsync(items[0], [], [items[1]]));
    }

    [Fact]
    public async Task A_subscription_can_be_changed_and_paused()
    {
        await using OpcUaSubscription subscription = await _client.SubscribeAsync(
            Fast with { PublishingInterval = TimeSpan.FromSeconds(1000), KeepAliveCount = 1000 });
        await subscription.AddItemsAsync([Item(0) with { QueueSize = 10 }]);

        await subscription.ModifyAsync(Fast);
        Assert.Equal([0], await subscription.NumbersAsync(1));
        await subscription.ModifyAsync(Fast with { PublishingEnabled = false });
        Assert.Equal(Fast.PublishingInterval, subscription.PublishingInterval);
        _numbers[0].Value = new DataValue(1);
        await subscription.ModifyAsync(Fast);

        Assert.Equal([1], await subscription.NumbersAsync(1));
        Assert.True(subscription.Options.PublishingEnabled);
    }

    [Fact]
    public async Task Several_subscriptions_publish_side_by_side_and_end_alone()
    {
        OpcUaSubscription[] all =
        [
            await _client.SubscribeAsync(Fast),
            await _client.SubscribeAsync(Fast),
            await _client.SubscribeAsync(Fast),
        ];
        for (int i = 0; i < all.Length; i++)
        {
            await all[i].AddItemsAsync([Item(i)]);
            Assert.Equal([i], await all[i].NumbersAsync(1));
        }

        await all[1].DisposeAsync();
        await all[1].DisposeAsync();
        Assert.Null(await all[1].Changes.EndAsync());
        _numbers[2].Value = new DataValue(22);
        Assert.Equal([22], await all[2].NumbersAsync(1));

        await _client.DisposeAsync();
        Assert.Null(await all[0].Changes.EndAsync());
        Assert.False(_numbers[0].IsWatched);
        await Assert.ThrowsAsync<OpcUaException>(async () => await all[0].AddItemsAsync([Item(1)]));
    }

    [Fact]
    public async Task The_client_asks_for_no_more_messages_while_nobody_reads_and_loses_none_that_the_server_keeps()
    {
        await using OpcUaSubscription subscription = await _client.SubscribeAsync(
            Fast with { Capacity = 10, MaxNotificationsPerPublish = 10 });
        await subscription.AddItemsAsync([Item(0) with { QueueSize = 1000 }]);
        Assert.Equal([0], await subscription.NumbersAsync(1));
        for (int i = 1; i < 1000; i++)
        {
            _numbers[0].Value = new DataValue(i);
        }

        // The messages of the two requests that were under way still come.
        await Patience.UntilAsync(() => subscription.Changes.Count >= 10, "the queue is full");
        await Patience.UntilSteadyAsync(() => subscription.Changes.Count, "nothing more comes");
        Assert.InRange(subscription.Changes.Count, 10, 30);

        Assert.Equal(Enumerable.Range(1, 999), await subscription.NumbersAsync(999));
    }

    [Fact]
    public async Task What_makes_no_sense_is_refused_at_once()
    {
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(async () => await _client.SubscribeAsync(Fast with { Capacity = 0 }));
        Assert.Throws<ArgumentOutOfRangeException>(static () => Deadband.Absolute(-1));
        Assert.Throws<ArgumentOutOfRangeException>(static () => Deadband.Percent(101));
    }

    private static NodeId Id(int number) => new(2, (uint)number + 1);

    private static MonitoredItemOptions Item(int number) => new(Id(number)) { SamplingInterval = TimeSpan.Zero, Tag = "tag" };
}
