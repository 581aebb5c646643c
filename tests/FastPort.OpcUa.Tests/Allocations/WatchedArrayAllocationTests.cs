using FastPort.OpcUa.Server;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Allocations;

/// <summary>
/// What it allocates to set an array that is watched: nothing for its elements, which are compared for each monitored item.
/// </summary>
public sealed class WatchedArrayAllocationTests
{
    private const int Elements = 10_000;
    private const int Items = 10;

    // An element in a box has 24.
    private const long MostBytes = Elements;

    [Theory]
    [InlineData(0u)]
    [InlineData(1u)]
    public async Task An_array_that_is_set_is_compared_without_boxes(uint deadbandType)
    {
        await AssertAsync(static i => (sbyte)i, deadbandType);
        await AssertAsync(static i => (byte)i, deadbandType);
        await AssertAsync(static i => (short)i, deadbandType);
        await AssertAsync(static i => (ushort)i, deadbandType);
        await AssertAsync(static i => i, deadbandType);
        await AssertAsync(static i => (uint)i, deadbandType);
        await AssertAsync(static i => (long)i, deadbandType);
        await AssertAsync(static i => (ulong)i, deadbandType);
        await AssertAsync(static i => (float)i, deadbandType);
        await AssertAsync(static i => (double)i, deadbandType);
    }

    [Fact]
    public async Task Texts_times_and_byte_strings_too()
    {
        byte[] bytes = [1, 2, 3];
        await AssertAsync(static i => i % 2 == 0, deadbandType: 0);
        await AssertAsync(static i => i % 2 == 0 ? "even" : "odd", deadbandType: 0);
        await AssertAsync(static i => new DateTime(i, DateTimeKind.Utc), deadbandType: 0);
        await AssertAsync(i => (ByteString)bytes, deadbandType: 0);
    }

    /// <summary>To count an array of texts takes as long as to look through it. Elements with a language are counted in boxes.</summary>
    [Fact]
    public async Task An_array_that_a_client_writes_is_counted_once_as_one_that_its_owner_sets()
    {
        Variant[] values = ValuesOf(static i => new LocalizedText("en", "text"));
        VariableNode node = null!;
        await using TestServer server = await TestServer.StartAsync(
            space => node = space.AddArrayVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "Array", new LocalizedText[1]));
        using RawSession session = await RawSession.OpenAsync(server);
        await session.MonitorAsync(await session.SubscribeAsync(100_000), 1);
        node.Value = values[0];
        long before = GC.GetAllocatedBytesForCurrentThread();
        node.Value = values[1];
        long set = GC.GetAllocatedBytesForCurrentThread() - before;
        var budget = new PartBudget();

        before = GC.GetAllocatedBytesForCurrentThread();
        Assert.True(node.TrySet(values[2], ref budget));

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, set + MostBytes);
    }

    private static Variant[] ValuesOf<T>(Func<int, T> element) =>
        [.. Enumerable.Range(0, 3).Select(_ => Variant.FromArray<T>([.. Enumerable.Range(0, Elements).Select(element)]))];

    private static async Task AssertAsync<T>(Func<int, T> element, uint deadbandType)
    {
        Variant[] values = ValuesOf(element);
        VariableNode node = null!;
        await using TestServer server = await TestServer.StartAsync(
            space =>
            {
                node = space.AddArrayVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "Array", new T[1]);
                node.Value = values[0];
            },
            static o => o.MaxQueuedBytesPerSession = int.MaxValue);
        using RawSession session = await RawSession.OpenAsync(server);
        uint id = await session.SubscribeAsync(100_000);
        for (int i = 0; i < Items; i++)
        {
            MonitoredItemCreateResult made = await session.MonitorAsync(
                id, 1, filter: RawSession.Filter(DataChangeTrigger.StatusValue, deadbandType, deadbandType));
            Assert.Equal(StatusCodes.Good, made.StatusCode);
        }

        // Equal ones, which are looked at to the end.
        node.Value = values[1];
        long before = GC.GetAllocatedBytesForCurrentThread();
        node.Value = values[2];
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, MostBytes);
    }
}
