using FastPort.Tags.OpcUa.Sources;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using Xunit;

namespace FastPort.Tags.OpcUa.Tests.Published;

/// <summary>Ranges, units and access of published tags, as OPC UA clients see them.</summary>
public sealed class PublishedRangesTests : IAsyncLifetime
{
    private static readonly NodeId AnalogItemType = new(0, 2368);
    private static readonly NodeId BaseAnalogType = new(0, 15318);
    private static readonly NodeId BaseDataVariableType = new(0, 63);

    private readonly MemoryTagSource _press = new();
    private PublishedServer _server = null!;
    private TagClient _publisher = null!;

    private OpcUaClient Client => _server.Client;

    public async ValueTask InitializeAsync()
    {
        _server = await PublishedServer.StartAsync();
        _publisher = await _server.ConnectAsync("press-4");
    }

    public async ValueTask DisposeAsync()
    {
        await _publisher.DisposeAsync();
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task A_range_and_a_unit_are_properties_of_an_analog_item()
    {
        Add("speed", 12.5, TagType.Double, range: (-10, 90), unit: "1/min");
        Add("counts", TagValue.FromArray([1, 2]), TagType.Int32, range: (0, 5), rank: 1);
        Add("level", 3f, TagType.Float, unit: "mm");
        Add("name", "a", TagType.String, unit: "kg");
        Add("plain", 1, TagType.Int32);
        Add("wrong", 1, TagType.Int32, range: (5, 5));
        Add("endless", 1, TagType.Int32, range: (double.NegativeInfinity, 5));
        await _publisher.PublishAsync(_press);

        Assert.Equal((AnalogItemType, (-10.0, 90.0), "1/min"), await FindAsync("speed"));
        Assert.Equal((AnalogItemType, (0.0, 5.0), null), await FindAsync("counts"));
        Assert.Equal((BaseAnalogType, null, "mm"), await FindAsync("level"));
        Assert.Equal((BaseDataVariableType, null, "kg"), await FindAsync("name"));
        foreach (string name in (string[])["plain", "wrong", "endless"])
        {
            Assert.Equal((BaseDataVariableType, null, null), await FindAsync(name));
        }
    }

    [Fact]
    public async Task A_description_is_the_attribute_of_the_variable()
    {
        _press.Add(new TagInfo(0, "speed") { Type = TagType.Int32, Rank = -1, Description = "Of the belt" }, 1);
        Add("plain", 1, TagType.Int32);
        await _publisher.PublishAsync(_press);

        DataValue[] texts = await Client.ReadAsync([_server.Id("speed"), _server.Id("plain")], AttributeId.Description);
        Assert.Equal(["Of the belt", default(LocalizedText)], texts.Select(static one => one.Value.Get<LocalizedText>()));
    }

    [Fact]
    public async Task What_is_declared_again_has_the_range_and_the_unit_that_are_declared_then()
    {
        Add("grows", 1, TagType.Int32);
        Add("changes", 1, TagType.Int32, range: (0, 10), unit: "m");
        Add("ends", 1, TagType.Int32, range: (0, 10), unit: "m");
        await _publisher.PublishAsync(_press);
        var later = new MemoryTagSource();
        later.Add(new TagInfo(0, "grows") { Type = TagType.Int32, Rank = -1, Range = (0, 7), Unit = "s" }, 1);
        later.Add(new TagInfo(0, "changes") { Type = TagType.Int32, Rank = -1, Range = (1, 8) }, 1);
        later.Add(new TagInfo(0, "ends") { Type = TagType.Int32, Rank = -1 }, 1);

        await _publisher.PublishAsync(later);

        Assert.Equal((AnalogItemType, (0.0, 7.0), "s"), await FindAsync("grows"));
        Assert.Equal((AnalogItemType, (1.0, 8.0), null), await FindAsync("changes"));
        Assert.Equal((BaseDataVariableType, null, null), await FindAsync("ends"));
    }

    [Fact]
    public async Task A_deadband_in_percent_is_one_of_the_range()
    {
        Add("speed", 0.0, TagType.Double, range: (0, 50));
        await _publisher.PublishAsync(_press);
        await using OpcUaSubscription subscription = await SubscribeAsync("speed", Deadband.Percent(10));
        await UntilAsync(subscription, static value => value.Value == 0.0 && value.Status.IsGood);

        _press.Set("speed", 5.0);
        _press.Set("speed", 5.5);
        _press.Set("speed", 10.0);
        _press.Set("speed", 11.0);

        Assert.Equal(5.5, (await subscription.Changes.ReadAsync(Patience.Token)).Value.Value);
        Assert.Equal(11.0, (await subscription.Changes.ReadAsync(Patience.Token)).Value.Value);
    }

    [Fact]
    public async Task A_tag_that_has_the_name_of_anothers_property_concerns_nobody()
    {
        ushort index = _server.Id("speed").NamespaceIndex;
        Add($"ns={index};s=speed/EURange", 1, TagType.Int32);
        Add("speed", 12.5, TagType.Double, range: (-10, 90));

        TagPublication publication = await _publisher.PublishAsync(_press);

        Assert.All(publication.Statuses, static status => Assert.Equal(TagStatus.Good, status));
        Assert.Equal((AnalogItemType, (-10.0, 90.0), null), await FindAsync("speed"));
    }

    [Fact]
    public async Task A_tag_that_is_written_only_is_not_read()
    {
        Add("secret", 7, TagType.Int32, isReadable: false);
        await _publisher.PublishAsync(_press);
        NodeId id = _server.Id("secret");
        await using OpcUaSubscription subscription = await SubscribeAsync("secret", Deadband.None);

        foreach (AttributeId level in (AttributeId[])[AttributeId.AccessLevel, AttributeId.UserAccessLevel])
        {
            Assert.Equal((byte)2, (await Client.ReadAsync([id], level))[0].Value);
        }

        Assert.Equal([StatusCodes.Good], await Client.WriteAsync([new(id, 8)], Patience.Token));
        DataValue read = (await Client.ReadAsync([id]))[0];
        Assert.Equal((Variant.Null, StatusCodes.BadNotReadable), (read.Value, read.Status));
        DataValue seen = (await subscription.Changes.ReadAsync(Patience.Token)).Value;
        Assert.Equal((Variant.Null, StatusCodes.BadNotReadable), (seen.Value, seen.Status));

        // Declared again by the same client as one that may be read.
        var later = new MemoryTagSource();
        later.Add(new TagInfo(0, "secret") { Type = TagType.Int32, Rank = -1 }, 9);
        await _publisher.PublishAsync(later);

        await UntilAsync(subscription, static value => value.Value == 9 && value.Status.IsGood);
        Assert.Equal((byte)1, (await Client.ReadAsync([id], AttributeId.AccessLevel))[0].Value);
    }

    [Fact]
    public async Task Every_node_has_the_name_of_its_tag_for_the_policy_also_before_it_is_in_the_tables()
    {
        Add("press/speed", 12.5, TagType.Double, range: (0, 50), unit: "mm");
        await _publisher.PublishAsync(_press);
        VariableNode speed = _server.Node("press/speed");
        ushort index = speed.Id.NamespaceIndex;
        VariableNode[] properties =
        [
            (VariableNode)_server.Space.Find(new NodeId(index, $"s={speed.Id.Text}//EURange"))!,
            (VariableNode)_server.Space.Find(new NodeId(index, $"s={speed.Id.Text}//EngineeringUnits"))!,
        ];

        // As in the middle of a declaration: clients find the node.
        VariableNode late = _server.Space.AddVariableOfType(
            AddressSpace.ObjectsFolder, new NodeId(index, "press/late"), new QualifiedName(index, "late"), BuiltInType.Int32, -1);
        var other = (VariableNode)_server.Space.Find(new NodeId(0, 2258))!;

        Assert.All(properties.Append(speed), node => Assert.Equal("press/speed", _server.Nodes.NameOf(node)));
        Assert.Equal("press/late", _server.Nodes.NameOf(late));
        Assert.Null(_server.Nodes.NameOf(other));
    }

    private void Add(
        string name,
        TagValue value,
        TagType type,
        (double Low, double High)? range = null,
        string unit = "",
        int rank = -1,
        bool isReadable = true) =>
        _press.Add(
            new TagInfo(0, name)
            {
                Type = type,
                Rank = rank,
                Range = range,
                Unit = unit,
                IsReadable = isReadable,
                IsWritable = !isReadable,
            },
            value);

    // As the bridge reads them from any server.
    private async Task<(NodeId Type, (double Low, double High)? Range, string? Unit)> FindAsync(string name)
    {
        NodeId id = _server.Id(name);
        var found = new UnitsAndRanges(new ClientLink(Client));
        NodeId published = Client.Namespaces.MakeId("urn:fastport:published", 1);
        ReferenceDescription variable = Assert.Single(await Client.BrowseAsync(published), reference => reference.NodeId.NodeId == id);
        foreach (ReferenceDescription property in await Client.BrowseAsync(id))
        {
            Assert.Equal(new NodeId(0, 46), property.ReferenceTypeId);
            found.Add(id, property.BrowseName, property.NodeId.NodeId);
        }

        Dictionary<NodeId, (double Low, double High)> ranges = await found.ReadRangesAsync(Patience.Token);
        return (
            variable.TypeDefinition.NodeId,
            ranges.TryGetValue(id, out (double Low, double High) range) ? range : null,
            (await found.ReadUnitsAsync(Patience.Token)).GetValueOrDefault(id));
    }

    private async Task<OpcUaSubscription> SubscribeAsync(string name, Deadband deadband)
    {
        OpcUaSubscription subscription = await Client.SubscribeAsync(
            new SubscriptionOptions { PublishingInterval = TimeSpan.FromMilliseconds(20) }, Patience.Token);
        await subscription.AddItemsAsync(
            [new MonitoredItemOptions(_server.Id(name)) { SamplingInterval = TimeSpan.Zero, QueueSize = 100, Deadband = deadband }],
            Patience.Token);
        return subscription;
    }

    private static async Task UntilAsync(OpcUaSubscription subscription, Predicate<DataValue> condition)
    {
        while (!condition((await subscription.Changes.ReadAsync(Patience.Token)).Value))
        {
        }
    }
}
