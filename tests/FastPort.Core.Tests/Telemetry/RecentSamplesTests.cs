using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Telemetry;

public sealed class RecentSamplesTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(31)]
    [InlineData(32)]
    [InlineData(100)]
    [InlineData(10_000)]
    public void Keeps_exactly_the_latest_samples_in_order(int capacity)
    {
        var samples = new RecentSamples(capacity);
        for (var i = 0; i < (3 * capacity) + 17; i++)
        {
            samples.Record(Sample(i));
        }

        var kept = samples.ToArray();

        Assert.Equal(Enumerable.Range((2 * capacity) + 17, capacity).Select(i => (long)i), kept.Select(sample => sample.Timestamp));
    }

    [Fact]
    public void Samples_that_waited_in_a_batch_push_no_later_ones_out()
    {
        var samples = new RecentSamples(100, stripes: 4);
        for (var stripe = 1; stripe < 4; stripe++)
        {
            for (var i = 0; i < 31; i++)
            {
                samples.Record(Sample(i), stripe);
            }
        }

        for (var i = 1_000; i < 1_100; i++)
        {
            samples.Record(Sample(i), 0);
        }

        // The read moves 93 old samples into the ring, after the 100 later ones.
        Assert.Equal(Enumerable.Range(1_000, 100).Select(i => (long)i), samples.ToArray().Select(sample => sample.Timestamp));
    }

    [Fact]
    public void Returns_all_samples_while_there_are_fewer_than_the_capacity()
    {
        var samples = new RecentSamples(1_000);
        samples.Record(Sample(1));
        samples.Record(Sample(2));

        Assert.Equal([Sample(1), Sample(2)], samples.ToArray());
        Assert.Equal([Sample(1), Sample(2)], samples.ToArray());
    }

    [Fact]
    public void Returns_the_samples_of_a_window()
    {
        var samples = new RecentSamples(100);
        for (var i = 0; i < 50; i++)
        {
            samples.Record(Sample(i));
        }

        Assert.Equal([40, 41, 42, 43, 44, 45, 46, 47, 48, 49], samples.ToArray(since: 40).Select(sample => sample.Timestamp));
        Assert.Empty(samples.ToArray(since: 50));
    }

    [Fact]
    public void A_capacity_of_zero_keeps_nothing()
    {
        var samples = new RecentSamples(0);
        samples.Record(Sample(1));
        samples.Clear();

        Assert.Empty(samples.ToArray());
    }

    [Fact]
    public void Clearing_forgets_samples_in_the_ring_and_in_batches()
    {
        var samples = new RecentSamples(100);
        for (var i = 0; i < 45; i++)
        {
            samples.Record(Sample(i));
        }

        samples.Clear();
        samples.Record(Sample(99));

        Assert.Equal([Sample(99)], samples.ToArray());
    }

    [Fact]
    public async Task Concurrent_writers_and_readers_leave_exactly_the_latest_samples()
    {
        const int Capacity = 5_000;
        const int PerWriter = 40_000;
        var samples = new RecentSamples(Capacity);
        var clock = 0L;
        var writers = Task.WhenAll(Enumerable.Range(0, 4).Select(_ => Task.Run(() =>
        {
            for (var i = 0; i < PerWriter; i++)
            {
                samples.Record(Sample(Interlocked.Increment(ref clock)));
            }
        })));
        while (!writers.IsCompleted)
        {
            var seen = samples.ToArray();
            Assert.InRange(seen.Length, 0, Capacity);
            Assert.All(seen, static sample => Assert.Equal(sample.Timestamp * 2, sample.Whole));
        }

        await writers;
        Assert.Equal(
            Enumerable.Range((4 * PerWriter) - Capacity + 1, Capacity).Select(i => (long)i),
            samples.ToArray().Select(sample => sample.Timestamp));
    }

    // Of a ring of 5,032: fewer than are left to copy, more than that, all of it and more than once around.
    [Theory]
    [InlineData(32)]
    [InlineData(3_200)]
    [InlineData(5_056)]
    [InlineData(16_000)]
    public void A_reader_that_writers_overtake_begins_again_with_what_they_have_left(int written)
    {
        const int Capacity = 5_000;
        var samples = new RecentSamples(Capacity, stripes: 1);
        var next = 0;
        Write(2 * Capacity);
        var pieces = 0;

        // After the first thousand samples or so, of five.
        var seen = samples.ToArray(long.MinValue, afterPiece: () =>
        {
            if (++pieces == 2)
            {
                Write(written);
            }
        });

        Assert.Equal(Enumerable.Range(next - Capacity, Capacity).Select(i => (long)i), seen.Select(static sample => sample.Timestamp));

        void Write(int count)
        {
            for (var i = 0; i < count; i++)
            {
                samples.Record(Sample(next++));
            }
        }
    }

    [Fact]
    public void A_read_that_a_clear_overtakes_returns_what_came_afterwards()
    {
        var samples = new RecentSamples(5_000, stripes: 1);
        for (var i = 0; i < 5_000; i++)
        {
            samples.Record(Sample(i));
        }

        var pieces = 0;
        var seen = samples.ToArray(long.MinValue, afterPiece: () =>
        {
            if (++pieces == 2)
            {
                samples.Clear();
                for (var i = 0; i < 64; i++)
                {
                    samples.Record(Sample(10_000 + i));
                }
            }
        });

        Assert.Equal(Enumerable.Range(10_000, 64).Select(i => (long)i), seen.Select(static sample => sample.Timestamp));
    }

    [Theory]
    [InlineData(100)]
    [InlineData(5_000)]
    [InlineData(50_000)]
    public async Task A_read_while_another_thread_writes_is_of_samples_without_a_gap(int capacity)
    {
        var samples = new RecentSamples(capacity, stripes: 1);
        var recorded = 0L;
        using var stop = new CancellationTokenSource();
        var writer = Task.Run(() =>
        {
            while (!stop.IsCancellationRequested)
            {
                samples.Record(Sample(recorded + 1));
                Volatile.Write(ref recorded, recorded + 1);
            }
        });
        for (var reads = 0; reads < 200 || Volatile.Read(ref recorded) < 4 * capacity; reads++)
        {
            var atLeast = Volatile.Read(ref recorded);

            var seen = samples.ToArray();

            if (seen.Length > 0)
            {
                Assert.Equal(
                    Enumerable.Range(0, seen.Length).Select(i => seen[0].Timestamp + i), seen.Select(static sample => sample.Timestamp));
            }

            // All that were recorded before the read, as far as they still belong to the latest.
            Assert.True((seen.Length == 0 ? 0 : seen[^1].Timestamp) >= atLeast, $"{seen.Length} samples, the last before {atLeast}");
            Assert.InRange(seen.Length, Math.Min(atLeast, capacity), capacity);
        }

        await stop.CancelAsync();
        await writer;
    }

    [Fact]
    public void Recording_allocates_nothing_once_warm()
    {
        var samples = new RecentSamples(1_000);

        // Every processor's batch, wherever the thread may be moved.
        Parallel.For(0, 200, i => samples.Record(Sample(i)));
        for (var i = 0; i < 100; i++)
        {
            samples.Record(Sample(i));
        }

        long allocated = Allocations.LeastOf(() =>
        {
            for (var i = 0; i < 10_000; i++)
            {
                samples.Record(Sample(i));
            }
        });

        // At most a batch of a processor that the warm-up did not reach.
        Assert.InRange(allocated, 0, 4_096);
    }

    [Theory]
    [InlineData(-1)]
    [InlineData(10_000_001)]
    public void A_capacity_out_of_range_is_refused(int capacity)
    {
        Assert.Throws<ArgumentOutOfRangeException>(() => new RecentSamples(capacity));
    }

    private static LatencySample Sample(long i) => new(i, 0x100, i * 2, i, i);
}
