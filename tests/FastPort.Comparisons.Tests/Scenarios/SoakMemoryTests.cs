using FastPort.Comparisons.Scenarios;
using Xunit;

namespace FastPort.Comparisons.Tests.Scenarios;

/// <summary>The rule is that of <see cref="SoakMemory.Rule"/>: the median of the last quarter against that of the second.</summary>
public sealed class SoakMemoryTests
{
    private const long Megabyte = 1024 * 1024;

    [Fact]
    public void Memory_that_stays_is_flat()
    {
        SoakMemory memory = Take(Enumerable.Repeat((100L, 10L), 12));

        Assert.Empty(memory.Deviations());
        Assert.Equal(["server", "flat", "12", "100.0", "100.0", "10.0", "10.0"], memory.Row());
    }

    // 100 MB may become 110 and 24 more, or of the heap 16 more; all with as much of the other as there was.
    [Theory]
    [InlineData(134, 100, null)]
    [InlineData(135, 100, "server: resident memory grew from 100.0 to 135.0 MB")]
    [InlineData(100, 126, null)]
    [InlineData(100, 127, "server: the managed heap grew from 100.0 to 127.0 MB")]
    public void Memory_may_grow_by_a_tenth_and_the_allowance(long rss, long heap, string? deviation)
    {
        SoakMemory memory = Take([.. Enumerable.Repeat((100L, 100L), 6), .. Enumerable.Repeat((rss, heap), 6)]);

        Assert.Equal(deviation is null ? [] : [deviation], memory.Deviations());
        Assert.Equal(deviation is null ? "flat" : "grows", memory.Row()[1]);
    }

    [Fact]
    public void Both_are_named_where_both_grow()
    {
        SoakMemory memory = Take(Enumerable.Range(0, 40).Select(i => (100L + (i * 10), 10L + (i * 5))));

        Assert.Equal(
            ["server: resident memory grew from 245.0 to 445.0 MB", "server: the managed heap grew from 82.5 to 182.5 MB"],
            memory.Deviations());
    }

    [Fact]
    public void How_it_began_and_what_passed_is_not_growth()
    {
        // The first quarter is warm-up, the third is not looked at, and single samples are not the median.
        SoakMemory memory = Take(
        [
            (10, 1), (20, 1), (30, 2),
            (100, 10), (100, 10), (5, 1),
            (900, 400), (900, 400), (900, 400),
            (100, 10), (900, 400), (100, 10),
        ]);

        Assert.Empty(memory.Deviations());
        Assert.Equal(["server", "flat", "12", "100.0", "100.0", "10.0", "10.0"], memory.Row());
    }

    [Fact]
    public void Fewer_than_eight_samples_are_a_deviation_of_their_own()
    {
        SoakMemory memory = Take(Enumerable.Repeat((100L, 10L), 7));

        Assert.Equal(["server: 7 samples of memory are too few to judge by"], memory.Deviations());
        Assert.Equal("too few samples", memory.Row()[1]);
        Assert.Empty(Take(Enumerable.Repeat((100L, 10L), 8)).Deviations());
    }

    private static SoakMemory Take(IEnumerable<(long RssMb, long HeapMb)> samples)
    {
        var memory = new SoakMemory("server");
        foreach ((long rss, long heap) in samples)
        {
            memory.Add(rss * 1024, heap * Megabyte);
        }

        return memory;
    }
}
