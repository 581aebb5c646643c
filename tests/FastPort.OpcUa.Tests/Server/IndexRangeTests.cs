using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Index ranges in Read and Write, as a client sends them.</summary>
public sealed class IndexRangeTests
{
    private static readonly NodeId Numbers = new(2, 1);
    private static readonly NodeId Text = new(2, 2);
    private static readonly NodeId Constant = new(2, 3);
    private static readonly NodeId Scalar = new(2, 4);

    [Fact]
    public async Task A_part_is_read()
    {
        await using TestServer server = await StartAsync();
        using RawChannel channel = await OpenSessionAsync(server);

        DataValue[] values = await ReadAsync(channel, [
            Item(Numbers, "1:2"), Item(Numbers, "3:9"), Item(Text, "0:1"), Item(Numbers, null), Item(Numbers, string.Empty)]);

        Assert.Equal([20, 30], values[0].Value.GetArray<int>()!);
        Assert.NotEqual(default, values[0].SourceTimestamp);
        Assert.Equal([40], values[1].Value.GetArray<int>()!);
        Assert.Equal("水b", values[2].Value.Get<string>());
        Assert.Equal(4, values[3].Value.GetArray<int>()!.Length);
        Assert.Equal(4, values[4].Value.GetArray<int>()!.Length);
    }

    [Fact]
    public async Task Each_item_has_its_own_fault()
    {
        await using TestServer server = await StartAsync();
        using RawChannel channel = await OpenSessionAsync(server);

        DataValue[] values = await ReadAsync(channel, [
            Item(Numbers, "4"), Item(Numbers, "5:2"), Item(Numbers, new string('9', 4000)), Item(Numbers, "0,0"), Item(Scalar, "0"),
            Item(new NodeId(2, 99), "0"), Item(Numbers, "0", AttributeId.DisplayName), Item(Numbers, "0", AttributeId.ArrayDimensions),
            Item(Numbers, "0", AttributeId.Executable)]);

        Assert.Equal(
            [
                StatusCodes.BadIndexRangeNoData, StatusCodes.BadIndexRangeInvalid, StatusCodes.BadIndexRangeInvalid,
                StatusCodes.BadIndexRangeNoData, StatusCodes.BadIndexRangeNoData, StatusCodes.BadNodeIdUnknown,
                StatusCodes.BadIndexRangeNoData, StatusCodes.Good, StatusCodes.BadAttributeIdInvalid,
            ],
            values.Select(static v => v.Status));
        Assert.All(values.Where(static v => v.Status.IsBad), static v => Assert.True(v.Value.IsNull));
    }

    [Fact]
    public async Task A_part_is_written_and_the_rest_stays()
    {
        await using TestServer server = await StartAsync();
        using RawChannel channel = await OpenSessionAsync(server);

        StatusCode[] statuses = await WriteAsync(channel, [
            Write(Numbers, "1:2", Variant.FromArray<int>([21, 31])), Write(Numbers, "3", Variant.FromArray<int>([41])),
            Write(Text, "1:2", "XY")]);

        Assert.All(statuses, static s => Assert.Equal(StatusCodes.Good, s));
        Assert.Equal([10, 21, 31, 41], ((VariableNode)server.Server.AddressSpace.Find(Numbers)!).Value.Value.GetArray<int>()!);
        Assert.Equal("水XYd", ((VariableNode)server.Server.AddressSpace.Find(Text)!).Value.Value.Get<string>());
    }

    [Fact]
    public async Task What_does_not_fit_is_not_written()
    {
        await using TestServer server = await StartAsync();
        using RawChannel channel = await OpenSessionAsync(server);
        Variant one = Variant.FromArray<int>([1]);

        StatusCode[] statuses = await WriteAsync(channel, [
            Write(Numbers, "1:2", one), Write(Numbers, "4", one), Write(Numbers, "3:4", Variant.FromArray<int>([1, 2])),
            Write(Numbers, ",", one), Write(Numbers, "1", 5), Write(Numbers, "1", Variant.FromArray<double>([1])),
            Write(Constant, "0", one), Write(Scalar, "0", 5), Write(Numbers, "0", Variant.FromArray<int>(null))]);

        Assert.Equal(
            [
                StatusCodes.BadIndexRangeDataMismatch, StatusCodes.BadIndexRangeNoData, StatusCodes.BadIndexRangeNoData,
                StatusCodes.BadIndexRangeInvalid, StatusCodes.BadTypeMismatch, StatusCodes.BadTypeMismatch,
                StatusCodes.BadNotWritable, StatusCodes.BadIndexRangeNoData, StatusCodes.BadIndexRangeDataMismatch,
            ],
            statuses);
        Assert.Equal([10, 20, 30, 40], ((VariableNode)server.Server.AddressSpace.Find(Numbers)!).Value.Value.GetArray<int>()!);
    }

    [Fact]
    public async Task A_part_of_another_type_than_a_value_of_any_type_has_is_not_written()
    {
        await using TestServer server = await TestServer.StartAsync(static space =>
        {
            VariableNode any = space.AddVariableOfType(AddressSpace.ObjectsFolder, Numbers, "any", BuiltInType.Null, valueRank: -2);
            any.Value = new DataValue(Variant.FromArray<int>([1, 2]));
            any.IsWritable = true;
            space.AddVariable(AddressSpace.ObjectsFolder, Scalar, "s", 1, writable: true);
            VariableNode text = space.AddVariableOfType(AddressSpace.ObjectsFolder, Text, "text", BuiltInType.String, valueRank: -2);
            text.Value = new DataValue("ab");
            text.IsWritable = true;
        });
        using RawChannel channel = await OpenSessionAsync(server);

        StatusCode[] statuses = await WriteAsync(channel, [
            Write(Numbers, "0", Variant.FromArray<double>([5])), Write(Numbers, "0", 5), Write(Text, "0", Variant.FromArray(["x"])),
            new() { NodeId = Scalar, AttributeId = (uint)AttributeId.Value, Value = new DataValue(7) },
            Write(Numbers, "1", Variant.FromArray<int>([6])), Write(Text, "1", "x")]);

        Assert.Equal([.. Enumerable.Repeat(StatusCodes.BadTypeMismatch, 3), .. Enumerable.Repeat(StatusCodes.Good, 3)], statuses);
        Assert.Equal([1, 6], ((VariableNode)server.Server.AddressSpace.Find(Numbers)!).Value.Value.GetArray<int>()!);
        Assert.Equal("ax", ((VariableNode)server.Server.AddressSpace.Find(Text)!).Value.Value);
    }

    [Fact]
    public async Task Parts_written_at_the_same_time_are_all_kept()
    {
        const int Writers = 4;
        const int Each = 250;
        await using TestServer server = await TestServer.StartAsync(static space =>
            space.AddArrayVariable(AddressSpace.ObjectsFolder, Numbers, "n", new int[Writers * Each], writable: true));

        await Parallel.ForAsync(0, Writers, Patience.Token, async (writer, _) =>
        {
            using RawChannel channel = await OpenSessionAsync(server);
            StatusCode[] statuses = await WriteAsync(channel, [.. Enumerable.Range(writer * Each, Each).Select(
                static i => Write(Numbers, $"{i}", Variant.FromArray<int>([i])))]);
            Assert.All(statuses, static s => Assert.Equal(StatusCodes.Good, s));
        });

        Assert.Equal(
            Enumerable.Range(0, Writers * Each), ((VariableNode)server.Server.AddressSpace.Find(Numbers)!).Value.Value.GetArray<int>()!);
    }

    private static Task<TestServer> StartAsync() => TestServer.StartAsync(static space =>
    {
        space.AddArrayVariable(AddressSpace.ObjectsFolder, Numbers, "n", new[] { 10, 20, 30, 40 }, writable: true);
        space.AddVariable(AddressSpace.ObjectsFolder, Text, "t", "水bcd", writable: true);
        space.AddArrayVariable(AddressSpace.ObjectsFolder, Constant, "c", new[] { 1 });
        space.AddVariable(AddressSpace.ObjectsFolder, Scalar, "s", 1, writable: true);
    });

    private static ReadValueId Item(NodeId node, string? range, AttributeId attribute = AttributeId.Value) =>
        new() { NodeId = node, AttributeId = (uint)attribute, IndexRange = range };

    private static WriteValue Write(NodeId node, string range, Variant value) =>
        new() { NodeId = node, AttributeId = (uint)AttributeId.Value, IndexRange = range, Value = value };

    private static async Task<DataValue[]> ReadAsync(RawChannel channel, ReadValueId[] items) =>
        (await AskAsync<ReadRequest, ReadResponse>(
            channel, new ReadRequest { TimestampsToReturn = TimestampsToReturn.Both, NodesToRead = items })).Results!;

    private static async Task<StatusCode[]> WriteAsync(RawChannel channel, WriteValue[] items) =>
        (await AskAsync<WriteRequest, WriteResponse>(channel, new WriteRequest { NodesToWrite = items })).Results!;

    private static async Task<RawChannel> OpenSessionAsync(TestServer server)
    {
        RawChannel channel = await RawChannel.OpenAsync(server);
        channel.Token = (await AskAsync<CreateSessionRequest, CreateSessionResponse>(
            channel, new CreateSessionRequest { RequestedSessionTimeout = 60_000 })).AuthenticationToken;
        await AskAsync<ActivateSessionRequest, ActivateSessionResponse>(channel, default);
        return channel;
    }

    private static async Task<TResponse> AskAsync<TRequest, TResponse>(RawChannel channel, TRequest request)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage
    {
        await channel.SendMessageAsync(RawChannel.Request(request, channel.Token));
        (_, byte[] chunk) = await channel.ReceiveAsync();
        var decoder = new BinaryDecoder(chunk.AsSpan(24), EncodingLimits.Default);
        Assert.Equal(new NodeId(0, TResponse.EncodingId), decoder.ReadNodeId());
        Assert.Equal(StatusCodes.Good, decoder.ReadStructure<ResponseHeader>().ServiceResult);
        TResponse response = decoder.ReadStructure<TResponse>();
        Assert.Equal((StatusCodes.Good, 0), (decoder.Error, decoder.Left));
        return response;
    }
}
