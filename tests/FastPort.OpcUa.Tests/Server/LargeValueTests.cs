using FastPort.OpcUa.Client;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>One request that names a large value many times costs no more than a few copies of it.</summary>
public sealed class LargeValueTests : IAsyncLifetime
{
    private const int Count = 1000;
    private const int Elements = 4_000_000;
    private static readonly NodeId Numbers = new(2, 1);
    private static readonly NodeId Text = new(2, 2);
    private static readonly NodeId Bytes = new(2, 3);
    private static readonly NodeId Few = new(2, 4);

    private TestServer _server = null!;
    private RawSession _session = null!;
    private VariableNode _numbers = null!;

    public async ValueTask InitializeAsync()
    {
        _server = await TestServer.StartAsync(space =>
        {
            NodeId objects = AddressSpace.ObjectsFolder;
            _numbers = space.AddArrayVariable(objects, Numbers, "n", new int[Elements], writable: true);
            space.AddVariable(objects, Text, "t", new string('x', Elements), writable: true);
            space.AddArrayVariable(objects, Few, "f", new int[2], writable: true);
            space.AddVariable<ByteString>(objects, Bytes, "b", new byte[8 * 1024 * 1024]);
        });
        _session = await RawSession.OpenAsync(_server);
    }

    public async ValueTask DisposeAsync()
    {
        _session.Dispose();
        await _server.DisposeAsync();
    }

    [Fact]
    public async Task Parts_of_an_array_are_written_with_one_copy_and_who_has_read_it_keeps_what_it_was()
    {
        int[] before = _numbers.Value.Value.GetArray<int>()!;

        // As copies these would be 16 GB.
        StatusCode[] statuses = await WriteAsync(Numbers, static i => Variant.FromArray<int>([i + 1]));

        Assert.All(statuses, static status => Assert.Equal(StatusCodes.Good, status));
        Assert.All(before.Take(Count), static number => Assert.Equal(0, number));
        int[] after = _numbers.Value.Value.GetArray<int>()!;
        Assert.Equal(Enumerable.Range(1, Count), after.Take(Count));
        Assert.Equal(Elements, after.Length);
        await WriteAsync(Numbers, static _ => Variant.FromArray<int>([-1]));
        Assert.Equal(Enumerable.Range(1, Count), after.Take(Count));
    }

    [Fact]
    public async Task An_array_that_is_monitored_is_reported_as_it_was()
    {
        await _session.MonitorAsync(await _session.SubscribeAsync(), Few.Number, queueSize: 3);
        StatusCode[] statuses = await WriteAsync(Few, static i => Variant.FromArray<int>([i + 1]), count: 2);

        List<MonitoredItemNotification> seen = await _session.CollectAsync(3);

        Assert.All(statuses, static status => Assert.Equal(StatusCodes.Good, status));
        Assert.Equal(
            [(0, 0), (1, 0), (1, 2)],
            seen.Select(static v => v.Value.Value.GetArray<int>()!).Select(static n => (n[0], n[1])));
    }

    [Fact]
    public async Task Parts_of_a_text_are_written_and_read_up_to_a_bound()
    {
        StatusCode[] statuses = await WriteAsync(Text, static _ => "y");
        int good = statuses.TakeWhile(static status => status.IsGood).Count();
        Assert.InRange(good, 1, 20);
        Assert.All(statuses.Skip(good), static status => Assert.Equal(StatusCodes.BadTooManyOperations, status));

        DataValue[] values = await ReadAsync(Text, static i => $"{Elements - 1 - i}");
        good = values.TakeWhile(static value => value.Status.IsGood).Count();
        Assert.InRange(good, 1, 20);
        Assert.All(values.Skip(good), static value => Assert.Equal(StatusCodes.BadTooManyOperations, value.Status));

        // The next request begins anew.
        Assert.Equal("y", Assert.Single(await ReadAsync(Text, static _ => "0", count: 1)).Value.Get<string>());
    }

    [Fact]
    public async Task A_response_that_is_too_large_is_given_up_on_the_way()
    {
        // 8 GB.
        (StatusCode status, _) = await _session.TryAsync<ReadRequest, ReadResponse>(Request(Bytes, static _ => null, Count));
        Assert.Equal(StatusCodes.BadResponseTooLarge, status);

        Assert.All(await ReadAsync(Numbers, static i => $"{i}"), static value => Assert.Equal([0], value.Value.GetArray<int>()!));
    }

    [Fact]
    public async Task What_was_done_before_its_response_was_too_large_is_not_told_as_refused()
    {
        const int Values = 3000;
        NodeId number = new(2, 5), method = new(2, 6);
        int written = 0, called = 0;
        AddressSpace space = _server.Server.AddressSpace;
        space.AddVariable(AddressSpace.ObjectsFolder, number, "w", 0, writable: true).OnWrite = (writes, _, _) =>
        {
            written += writes.Length;
            return ValueTask.CompletedTask;
        };
        space.AddMethod(AddressSpace.ObjectsFolder, method, "m", [], [], (_, _) =>
        {
            called++;
            return new(MethodResult.Good(new ByteString(new byte[10_000])));
        });
        await using OpcUaClient client = await _server.ConnectAsync(new OpcUaClientOptions { MaxMessageBytes = 8192 });

        OpcUaException call = await Assert.ThrowsAsync<OpcUaException>(
            () => client.CallAsync(AddressSpace.ObjectsFolder, method, []).InTimeAsync());
        OpcUaException write = await Assert.ThrowsAsync<OpcUaException>(
            () => client.WriteAsync([.. Enumerable.Repeat(KeyValuePair.Create(number, (Variant)1), Values)]).InTimeAsync());

        Assert.Equal((StatusCodes.BadResponseTooLarge, true), (call.Status, call.MayHaveExecuted));
        Assert.Equal((StatusCodes.BadResponseTooLarge, true), (write.Status, write.MayHaveExecuted));
        Assert.Equal((1, Values), (called, written));
    }

    private static ReadRequest Request(NodeId node, Func<int, string?> range, int count) => new()
    {
        NodesToRead =
            [.. Enumerable.Range(0, count).Select(i => new ReadValueId { NodeId = node, AttributeId = 13, IndexRange = range(i) })],
    };

    private async Task<DataValue[]> ReadAsync(NodeId node, Func<int, string?> range, int count = Count) =>
        (await _session.CallAsync<ReadRequest, ReadResponse>(Request(node, range, count))).Results!;

    private async Task<StatusCode[]> WriteAsync(NodeId node, Func<int, Variant> part, int count = Count) =>
        (await _session.CallAsync<WriteRequest, WriteResponse>(new WriteRequest
        {
            NodesToWrite =
            [
                .. Enumerable.Range(0, count).Select(i => new WriteValue
                {
                    NodeId = node, AttributeId = 13, IndexRange = $"{i}", Value = new DataValue(part(i)),
                }),
            ],
        })).Results!;
}
