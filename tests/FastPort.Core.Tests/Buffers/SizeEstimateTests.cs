using FastPort.Buffers;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Buffers;

public sealed class SizeEstimateTests
{
    [Fact]
    public void Before_the_first_burst_nothing_is_expected() => Assert.Equal(0, default(SizeEstimate).Expected);

    [Fact]
    public void It_is_never_less_than_the_last_burst_and_never_more_than_the_largest() =>
        Prop.ForAll<ushort[]>(bursts =>
        {
            SizeEstimate size = default;
            int largest = 0;
            foreach (ushort burst in bursts)
            {
                largest = Math.Max(largest, burst);
                size.Saw(burst);
                if (size.Expected < burst || size.Expected > largest)
                {
                    return false;
                }
            }

            return true;
        }).QuickCheckThrowOnFailure();

    [Fact]
    public void With_each_smaller_burst_it_falls_by_an_eighth_down_to_what_they_hold()
    {
        SizeEstimate size = default;
        size.Saw(64 * 1024);
        size.Saw(1024);
        Assert.Equal(56 * 1024, size.Expected);

        for (int i = 0; i < 64; i++)
        {
            size.Saw(1024);
        }

        Assert.Equal(1024, size.Expected);
    }
}
