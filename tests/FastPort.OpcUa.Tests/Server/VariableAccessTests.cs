using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Variables that clients may not read, and ranges that are set late.</summary>
public sealed class VariableAccessTests
{
    private static readonly NodeId Number = new(2, 1);
    private static readonly NodeId Array = new(2, 2);
    private static readonly NodeId Asked = new(2, 3);
    private static readonly NodeId Other = new(2, 4);

    [Fact]
    public async Task What_is_not_readable_is_written_and_neither_read_nor_seen()
    {
        VariableNode[] nodes = [];
        await using TestServer server = await TestServer.StartAsync(space => nodes =
        [
            space.AddVariable(AddressSpace.ObjectsFolder, Number, "Number", 1, writable: true),
            space.AddArrayVariable(AddressSpace.ObjectsFolder, Array, "Array", new[] { 1, 2, 3 }, writable: true),
            space.AddVariable<int>(AddressSpace.ObjectsFolder, Asked, "Asked", static () => new DataValue(7)),
        ]);
        System.Array.ForEach(nodes, static node => node.IsReadable = false);
        await using OpcUaClient client = await server.ConnectAsync();

        Assert.Equal([0x62, 0x62, 0], (await client.ReadAsync([Number, Array, Asked], AttributeId.AccessLevel)).Select(Level));
        Assert.All(
            await client.ReadAsync([Number, Array, Asked]),
            static value => Assert.Equal((Variant.Null, StatusCodes.BadNotReadable), (value.Value, value.Status)));
        Assert.Equal(StatusCodes.BadNotReadable, (await client.ReadAsync([Array], ["1"]))[0].Status);
        Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(Number, 5)]));
        Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(Array, Variant.FromArray([9]))], ["1"]));
        Assert.Equal(5, nodes[0].Value.Value);

        System.Array.ForEach(nodes, static node => node.IsReadable = true);
        DataValue[] values = await client.ReadAsync([Number, Array, Asked]);
        Assert.Equal([5, Variant.FromArray([1, 9, 3]), 7], values.Select(static value => value.Value));
        Assert.Equal([0x63, 0x63, 1], (await client.ReadAsync([Number, Array, Asked], AttributeId.AccessLevel)).Select(Level));

        static int Level(DataValue value) => value.Value.Get<byte>();
    }

    [Fact]
    public async Task A_monitored_item_is_told_when_the_access_changes()
    {
        VariableNode number = null!;
        await using TestServer server = await TestServer.StartAsync(
            space => number = space.AddVariable(AddressSpace.ObjectsFolder, Number, "Number", 1));
        using RawSession session = await RawSession.OpenAsync(server);
        uint id = await session.SubscribeAsync();
        uint item = (await session.MonitorAsync(id, 1, queueSize: 10, attribute: AttributeId.AccessLevel)).MonitoredItemId;
        uint user = (await session.MonitorAsync(id, 1, queueSize: 10, attribute: AttributeId.UserAccessLevel)).MonitoredItemId;

        number.IsWritable = true;
        number.IsWritable = true;
        number.IsReadable = false;

        List<MonitoredItemNotification> seen = await session.CollectAsync(6);
        Assert.Equal<byte>([1, 1, 0x62, 0x62, 0x63, 0x63], seen.Select(static v => v.Value.Value.Get<byte>()).Order());
        await session.CallAsync<DeleteMonitoredItemsRequest, DeleteMonitoredItemsResponse>(
            new() { SubscriptionId = id, MonitoredItemIds = [user, item] });
        number.IsReadable = true;
        Assert.False(number.IsWatched);
    }

    [Fact]
    public async Task A_value_has_as_many_dimensions_as_the_variables_rank_says()
    {
        Variant row = Variant.FromArray([1, 2, 3, 4]);
        Variant matrix = Variant.FromMatrix([1, 2, 3, 4], 2, 2);
        await using TestServer server = await TestServer.StartAsync();
        AddressSpace space = server.Server.AddressSpace;
        VariableNode[] nodes =
        [
            space.AddVariableOfType(AddressSpace.ObjectsFolder, Number, "Row", BuiltInType.Int32, 1),
            space.AddVariableOfType(AddressSpace.ObjectsFolder, Array, "Matrix", BuiltInType.Int32, 2),
            space.AddVariableOfType(AddressSpace.ObjectsFolder, Other, "Any", BuiltInType.Int32, -2),
        ];
        System.Array.ForEach(nodes, static node => node.IsWritable = true);
        await using OpcUaClient client = await server.ConnectAsync();

        Assert.Equal(
            [
                StatusCodes.Good, StatusCodes.BadTypeMismatch, StatusCodes.BadTypeMismatch, StatusCodes.Good,
                StatusCodes.Good, StatusCodes.Good,
            ],
            await client.WriteAsync(
                [new(Number, row), new(Number, matrix), new(Array, row), new(Array, matrix), new(Other, row), new(Other, matrix)]));

        // Parts are as before.
        Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(Array, Variant.FromMatrix([9], 1, 1))], ["1,0"]));
        Assert.Equal(Variant.FromMatrix([1, 2, 9, 4], 2, 2), nodes[1].Value.Value);
        Assert.Equal([StatusCodes.Good], await client.WriteAsync([new(Array, Variant.FromArray<int>([]))]));
        Assert.Throws<ArgumentException>(() => nodes[0].Value = matrix);
        Assert.Throws<ArgumentException>(() => nodes[1].Value = row);
    }

    [Fact]
    public async Task A_range_is_checked_and_the_ids_of_its_properties_too()
    {
        await using TestServer server = await TestServer.StartAsync();
        AddressSpace space = server.Server.AddressSpace;
        VariableNode number = space.AddVariable(AddressSpace.ObjectsFolder, Number, "Number", 1);
        VariableNode other = space.AddVariable(AddressSpace.ObjectsFolder, Other, "Other", 1);
        space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, $"{Other.InNamespace(0)}//EURange"), "taken", 1);

        Assert.Throws<ArgumentException>(() => space.SetRangeAndUnit(number, (1, 1), null));
        Assert.Throws<ArgumentException>(() => space.SetRangeAndUnit(number, (0, double.NaN), null));
        Assert.Throws<ArgumentException>(() => space.SetRangeAndUnit(other, (0, 1), null));
        Assert.Equal((null, null), (number.EuRange, other.EuRange));

        space.SetRangeAndUnit(number, (0, 1), null);
        Assert.Equal((0, 1), number.EuRange);
    }
}
