using FastPort.Limits;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Limits;

public sealed class RateBucketTests
{
    private const long Second = 1_000_000_000;

    [Fact]
    public void What_the_burst_allows_comes_at_once_and_the_rest_waits()
    {
        var bucket = new RateBucket(10, TimeSpan.FromSeconds(1));

        Assert.True(Charge(bucket, 10, 0) <= 0);
        Assert.Equal(Second / 10, Charge(bucket, 1, 0));
        Assert.Equal(Second / 2, Charge(bucket, 4, 0));
        Assert.True(bucket.OverFor(Second / 2) <= 0);
    }

    [Fact]
    public void Connections_are_taken_one_by_one_and_refused_ones_cost_nothing()
    {
        var bucket = new RateBucket(2, TimeSpan.FromSeconds(1));

        Assert.True(bucket.TryTake(0));
        Assert.True(bucket.TryTake(0));
        Assert.False(bucket.TryTake(0));
        Assert.False(bucket.TryTake((Second / 2) - 1));
        Assert.True(bucket.TryTake(Second / 2));
        Assert.False(bucket.TryTake(Second / 2));
    }

    [Fact]
    public void One_is_allowed_however_low_the_rate_and_short_the_burst()
    {
        var bucket = new RateBucket(1, TimeSpan.FromMilliseconds(10));

        Assert.True(bucket.TryTake(0));
        Assert.False(bucket.TryTake(Second - 1));
        Assert.True(bucket.TryTake(Second));
    }

    [Fact]
    public void A_bucket_is_full_when_everything_is_paid()
    {
        var bucket = new RateBucket(10, TimeSpan.FromSeconds(1));
        Assert.True(bucket.IsFull(0));

        bucket.Charge(5, 0);

        Assert.False(bucket.IsFull((Second / 2) - 1));
        Assert.True(bucket.IsFull(Second / 2));
    }

    [Fact]
    public void The_largest_charge_does_not_overflow()
    {
        var bucket = new RateBucket(1, TimeSpan.FromMinutes(1));

        Assert.True(Charge(bucket, long.MaxValue, Second) > Second);
        Assert.False(bucket.TryTake(Second));
    }

    // Whoever obeys the waits gets the rate: never more than the burst above it, never less when it always has something to send.
    [Fact]
    public void Whoever_waits_as_told_gets_the_rate() => Prop.ForAll(
        Gen.Choose(1, 100_000).ToArbitrary(),
        Gen.Choose(1, 500).NonEmptyListOf().ToArbitrary(),
        static (perSecond, charges) =>
        {
            var bucket = new RateBucket(perSecond, TimeSpan.FromSeconds(1));
            long now = 0, used = 0;
            foreach (int units in charges)
            {
                used += units;
                now += Math.Max(0, Charge(bucket, units, now));
                double allowed = (perSecond * ((now / 1e9) + 1)) + 1;
                if (used > allowed)
                {
                    return false;
                }
            }

            return now == 0 || used >= (perSecond * ((now / 1e9) + 1)) - 1;
        }).Check(Config.QuickThrowOnFailure.WithMaxTest(200));

    [Fact]
    public async Task Charges_of_many_threads_are_all_counted()
    {
        var bucket = new RateBucket(1000, TimeSpan.FromSeconds(1));

        await Task.WhenAll(Enumerable.Range(0, 4).Select(_ => Task.Run(() =>
        {
            for (int i = 0; i < 1000; i++)
            {
                bucket.Charge(1, 0);
            }
        })));

        Assert.Equal(3 * Second, bucket.OverFor(0));
    }

    private static long Charge(RateBucket bucket, long units, long now)
    {
        bucket.Charge(units, now);
        return bucket.OverFor(now);
    }
}
