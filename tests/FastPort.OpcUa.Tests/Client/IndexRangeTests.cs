using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>Read and Write of parts of arrays.</summary>
public sealed class IndexRangeTests
{
    private static readonly NodeId Row = new(2, 10);
    private static readonly NodeId Number = new(2, 11);

    [Theory]
    [InlineData(1000)]
    [InlineData(2)]
    [InlineData(1)]
    public async Task Parts_are_written_and_read_whatever_the_server_serves_at_a_time(int limit)
    {
        await using TestServer server = await StartAsync(limit);
        await using OpcUaClient client = await server.ConnectAsync();

        StatusCode[] written = await client.WriteAsync(
            [
                new(Row, Variant.FromArray([-1, -2])), new(Number, 8), new(Row, Variant.FromArray([-9])),
                new(Row, Variant.FromArray([-10])), new(Row, Variant.FromArray([1])),
            ],
            ["1:2", null, "9", "10", "3:4"]);
        DataValue[] read = await client.ReadAsync([Row, Number, Row, Row, Row], ["0:3", null, "8:20", "10", "2:1"]);

        Assert.Equal(
            [
                StatusCodes.Good, StatusCodes.Good, StatusCodes.Good, StatusCodes.BadIndexRangeNoData,
                StatusCodes.BadIndexRangeDataMismatch,
            ],
            written);
        Assert.Equal([0, -1, -2, 3], read[0].Value.GetArray<int>()!);
        Assert.Equal(8, read[1].Value.Get<int>());
        Assert.Equal([8, -9], read[2].Value.GetArray<int>()!);
        Assert.Equal(
            [StatusCodes.BadIndexRangeNoData, StatusCodes.BadIndexRangeInvalid], read[3..].Select(static value => value.Status));
    }

    [Fact]
    public async Task Each_node_needs_a_range_or_null()
    {
        await using TestServer server = await StartAsync(10);
        await using OpcUaClient client = await server.ConnectAsync();

        await Assert.ThrowsAsync<ArgumentException>(async () => await client.ReadAsync([Row, Row], ["1"]));
        await Assert.ThrowsAsync<ArgumentException>(async () => await client.WriteAsync([new(Row, 1)], ["1", null]));
    }

    private static Task<TestServer> StartAsync(int limit) => TestServer.StartAsync(
        static space =>
        {
            space.AddArrayVariable(AddressSpace.ObjectsFolder, Row, "Row", Enumerable.Range(0, 10).ToArray(), writable: true);
            space.AddVariable(AddressSpace.ObjectsFolder, Number, "Number", 7, writable: true);
        },
        options => (options.MaxNodesPerRead, options.MaxNodesPerWrite) = (limit, limit));
}
