using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>
/// Requests with bodies that no client sends: a fault, no effect, little memory, and the session and others go on. They run alone, since
/// others allocate.
/// </summary>
[Collection(AloneCollection.Name)]
public sealed class HostileRequestTests : IAsyncLifetime
{
    private static readonly NodeId Variable = new(2, 1);
    private static readonly NodeId Array = new(2, 2);

    private TestServer _server = null!;
    private OpcUaClient _other = null!;
    private RawSession _session = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await TestServer.StartAsync(static space =>
        {
            space.AddVariable(AddressSpace.ObjectsFolder, Variable, "v", 5, writable: true);
            space.AddArrayVariable(AddressSpace.ObjectsFolder, Array, "a", new[] { 1, 2, 3 }, writable: true);
        });
        _other = await _server.ConnectAsync();
        _session = await RawSession.OpenAsync(_server);
    }

    public async ValueTask DisposeAsync()
    {
        var read = await _session.CallAsync<ReadRequest, ReadResponse>(
            new ReadRequest { NodesToRead = [new ReadValueId { NodeId = Variable, AttributeId = (uint)AttributeId.Value }] });
        Assert.Equal(5, Assert.Single(read.Results!).Value.Get<int>());
        Assert.Equal(5, Assert.Single(await _other.ReadAsync([Variable])).Value.Get<int>());
        _session.Dispose();
        await _other.DisposeAsync();
        await _server.DisposeAsync();
    }

    [Theory]
    [InlineData(1_000_000)]
    [InlineData(int.MaxValue)]
    public async Task An_array_of_a_million_elements_in_60_bytes(int count)
    {
        byte[] body = [.. new byte[12], .. BitConverter.GetBytes(count), .. new byte[44]];
        long before = GC.GetTotalAllocatedBytes(precise: true);

        Assert.Equal(StatusCodes.BadDecodingError, await _session.SendRawAsync(ReadRequest.EncodingId, body));
        Assert.Equal(StatusCodes.BadDecodingError, await _session.SendRawAsync(WriteRequest.EncodingId, body[12..]));
        Assert.Equal(StatusCodes.BadDecodingError, await _session.SendRawAsync(CallRequest.EncodingId, body[12..]));
        Assert.Equal(StatusCodes.BadDecodingError, await _session.SendRawAsync(CreateMonitoredItemsRequest.EncodingId, body[4..]));

        // An array of that length alone would be more.
        Assert.InRange(GC.GetTotalAllocatedBytes(precise: true) - before, 0, 5_000_000);
    }

    [Fact]
    public async Task Sixteen_million_data_values_of_a_byte_each()
    {
        const int Values = (1024 * 1024) - 64;
        byte[] value = [1, 0x97, .. BitConverter.GetBytes(Values), .. new byte[Values]];
        byte[] body = [.. BitConverter.GetBytes(16), .. Enumerable.Repeat(Item(value), 16).SelectMany(static one => one)];
        long before = GC.GetTotalAllocatedBytes(precise: true);

        StatusCode status = await _session.SendRawAsync(WriteRequest.EncodingId, body);

        // They would take 800 MB, and twice that as their arrays grow.
        Assert.Equal(StatusCodes.BadEncodingLimitsExceeded, status);
        Assert.InRange(GC.GetTotalAllocatedBytes(precise: true) - before, 0, 400_000_000);
    }

    [Fact]
    public async Task A_value_in_a_value_200_times()
    {
        byte[] level = [24 | 0x80, 1, 0, 0, 0];
        byte[] value = [1, .. Enumerable.Repeat(level, 200).SelectMany(static one => one), 6, 1, 0, 0, 0];

        StatusCode status = await _session.SendRawAsync(WriteRequest.EncodingId, [.. BitConverter.GetBytes(1), .. Item(value)]);

        Assert.Contains(status, new[] { StatusCodes.BadDecodingError, StatusCodes.BadEncodingLimitsExceeded });
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(20)]
    public async Task A_write_whose_last_item_is_broken_writes_nothing(int good)
    {
        byte[] item = Item([1, 6, 7, 0, 0, 0]);
        byte[] items = [.. Enumerable.Repeat(item, good).SelectMany(static one => one)];

        Assert.Equal(
            StatusCodes.BadDecodingError,
            await _session.SendRawAsync(WriteRequest.EncodingId, [.. BitConverter.GetBytes(good + 1), .. items, .. item[..^2]]));
        Assert.Equal(
            StatusCodes.BadDecodingError,
            await _session.SendRawAsync(
                WriteRequest.EncodingId, [.. BitConverter.GetBytes(good + 1), .. items, .. Item([1, 63, 1, 2, 3, 4, 5, 6, 7, 8])]));
    }

    /// <summary>Ten thousand values for a hundred thousand items would hold the loop for minutes.</summary>
    [Theory]
    [InlineData(1u, null)]
    [InlineData(2u, "1")]
    public async Task One_write_tells_monitored_items_a_million_values_and_the_rest_is_not_written(uint node, string? range)
    {
        const int Items = 10_000, Each = 1000, Most = 1_000_000;
        uint id = await _session.SubscribeAsync(100_000);
        var item = new MonitoredItemCreateRequest
        {
            ItemToMonitor = new ReadValueId { NodeId = new NodeId(2, node), AttributeId = (uint)AttributeId.Value },
            MonitoringMode = MonitoringMode.Sampling,
        };
        for (int made = 0; made < Items; made += Each)
        {
            await _session.CallAsync<CreateMonitoredItemsRequest, CreateMonitoredItemsResponse>(
                new CreateMonitoredItemsRequest { SubscriptionId = id, ItemsToCreate = [.. Enumerable.Repeat(item, Each)] });
        }

        StatusCode[] many = await WriteAsync(200);
        StatusCode[] next = await WriteAsync(1);

        // With the value that goes beyond.
        const int Good = (Most / Items) + 1;
        Assert.All(many[..Good], static status => Assert.Equal(StatusCodes.Good, status));
        Assert.All(many[Good..], static status => Assert.Equal(StatusCodes.BadTooManyOperations, status));
        Assert.Equal([StatusCodes.Good], next);

        async Task<StatusCode[]> WriteAsync(int count)
        {
            var value = new WriteValue
            {
                NodeId = new NodeId(2, node),
                AttributeId = (uint)AttributeId.Value,
                IndexRange = range,
                Value = range is null ? 5 : Variant.FromArray([5]),
            };
            return (await _session.CallAsync<WriteRequest, WriteResponse>(
                new WriteRequest { NodesToWrite = [.. Enumerable.Repeat(value, count)] })).Results!;
        }
    }

    [Fact]
    public void Large_values_count_more_for_the_items_that_are_told()
    {
        var budget = new PartBudget();

        Assert.True(budget.TryTell(items: 1000, bytes: 2_000_000));
        Assert.False(budget.TryTell(items: 1, bytes: 0));
    }

    // A WriteValue of the variable, with a DataValue.
    private static byte[] Item(byte[] value) => [1, 2, 1, 0, 13, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, .. value];
}
