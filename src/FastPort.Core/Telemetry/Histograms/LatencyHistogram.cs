using System.Runtime.CompilerServices;

namespace FastPort.Telemetry.Histograms;

/// <summary>
/// Counts latencies in log-linear buckets with three significant digits: every percentile is within 0.1 % of the exact one.
/// </summary>
/// <remarks>
/// <para>Values are nanoseconds. From 100 ns to 60 s they are counted where they belong; outside they are counted in the first or last
/// bucket and in <see cref="ClampedLow"/> or <see cref="ClampedHigh"/>, while minimum, maximum and sum stay exact.</para>
/// <para>Memory: 28 segments of 512 counts of 8 bytes, 4 KiB a segment, allocated when a value first falls into that power of two:
/// about 0.4 KB when empty, 112 KiB (14,336 buckets x 8 bytes) when every power of two was met, some 20 to 40 KiB for one kind of
/// request.</para>
/// <para>
/// Not thread-safe: one writer, and no reader while it writes. Use <see cref="StripedLatencyHistogram"/> where several threads record.
/// </para>
/// </remarks>
public sealed class LatencyHistogram
{
    private readonly long[]?[] _segments = new long[LatencyBuckets.SegmentCount][];
    private readonly int _coarseness;
    private long _count;
    private long _min = long.MaxValue;
    private long _max = long.MinValue;
    private long _clampedLow;
    private long _clampedHigh;

    // By Little's law the sum grows by one nanosecond per nanosecond and request in flight: 64 bits would be full after some hours of a
    // large server.
    private Int128 _sum;

    /// <summary>Makes an empty one.</summary>
    public LatencyHistogram()
    {
    }

    /// <param name="coarseness">
    /// 0, or <see cref="LatencyBuckets.Coarse"/> for an eighth of the memory. Only histograms with the same value can be merged.
    /// </param>
    internal LatencyHistogram(int coarseness) => _coarseness = coarseness;

    /// <summary>Lowest value that is not clamped: 100 ns.</summary>
    public static long LowestTrackable => LatencyBuckets.Lowest;

    /// <summary>Highest value that is not clamped, in nanoseconds: 60 s.</summary>
    public static long HighestTrackable => LatencyBuckets.Highest;

    /// <summary>Number of values recorded, clamped ones included.</summary>
    public long Count => _count;

    /// <summary>Smallest value recorded in nanoseconds, exact; 0 when empty.</summary>
    public long Min => _count == 0 ? 0 : _min;

    /// <summary>Largest value recorded in nanoseconds, exact; 0 when empty.</summary>
    public long Max => _count == 0 ? 0 : _max;

    /// <summary>Sum of all values in nanoseconds, exact.</summary>
    public Int128 Sum => _sum;

    /// <summary>Values below <see cref="LowestTrackable"/>.</summary>
    public long ClampedLow => _clampedLow;

    /// <summary>Values above <see cref="HighestTrackable"/>.</summary>
    public long ClampedHigh => _clampedHigh;

    /// <summary>Bytes of count arrays held at present.</summary>
    public int AllocatedBytes
    {
        get
        {
            var counters = 0;
            foreach (var counts in _segments)
            {
                counters += counts?.Length ?? 0;
            }

            return counters * sizeof(long);
        }
    }

    /// <summary>Records one value. Allocates only when the value is the first in its power of two.</summary>
    /// <param name="nanoseconds">Any value; a negative one (a difference of two clocks) counts as clamped low.</param>
    public void Record(long nanoseconds)
    {
        _count++;
        _sum += nanoseconds;
        if (nanoseconds < _min)
        {
            _min = nanoseconds;
        }

        if (nanoseconds > _max)
        {
            _max = nanoseconds;
        }

        if (!IsTrackable(nanoseconds))
        {
            nanoseconds = Clamp(nanoseconds);
        }

        CountOne(nanoseconds);
    }

    /// <summary>
    /// Records how long after an origin each of these moments was, as <see cref="Record(long)"/> would one by one. The totals are written
    /// once.
    /// </summary>
    /// <param name="origin">The origin.</param>
    /// <param name="moments">Readings of the same clock, in nanoseconds.</param>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal void RecordSince(long origin, ReadOnlySpan<long> moments)
    {
        var run = Run.Empty;
        foreach (var moment in moments)
        {
            Record(moment - origin, ref run);
        }

        Add(run);
    }

    /// <summary>Records how long after the one before it each of these moments was.</summary>
    /// <param name="origin">The moment before the first.</param>
    /// <param name="moments">Readings of the same clock, in nanoseconds.</param>
    [MethodImpl(MethodImplOptions.NoInlining)]
    internal void RecordSteps(long origin, ReadOnlySpan<long> moments)
    {
        var run = Run.Empty;
        foreach (var moment in moments)
        {
            Record(moment - origin, ref run);
            origin = moment;
        }

        Add(run);
    }

    /// <summary>Adds everything another histogram holds: the result equals having recorded its values here.</summary>
    /// <param name="other">Left unchanged; must not be written to meanwhile. May not be this histogram.</param>
    /// <exception cref="ArgumentException"><paramref name="other"/> is this histogram.</exception>
    public void Merge(LatencyHistogram other)
    {
        ArgumentNullException.ThrowIfNull(other);
        if (ReferenceEquals(other, this))
        {
            throw new ArgumentException("A histogram cannot be merged into itself.", nameof(other));
        }

        for (var segment = 0; segment < other._segments.Length; segment++)
        {
            var from = other._segments[segment];
            if (from is null)
            {
                continue;
            }

            var to = _segments[segment] ?? AddSegment(segment);
            for (var i = 0; i < to.Length && i < from.Length; i++)
            {
                to[i] += from[i];
            }
        }

        AddTotals(other._count, other._sum, other._min, other._max, other._clampedLow, other._clampedHigh);
    }

    /// <summary>Adds everything a snapshot holds.</summary>
    /// <param name="snapshot">What to add.</param>
    public void Merge(LatencySnapshot snapshot)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        if (snapshot.Count == 0)
        {
            return;
        }

        foreach (var (bucket, count) in snapshot.NumberedCounts())
        {
            // The middle of a bucket that was coarser than the buckets here.
            var middle = bucket + ((1 << snapshot.Coarseness) >> 1);
            var segment = middle / LatencyBuckets.SegmentLength;
            var counts = _segments[segment] ?? AddSegment(segment);
            counts[(middle % LatencyBuckets.SegmentLength) >> _coarseness] += count;
        }

        AddTotals(snapshot.Count, snapshot.Sum, snapshot.Min, snapshot.Max, snapshot.ClampedLow, snapshot.ClampedHigh);
    }

    /// <summary>An immutable copy of what was recorded.</summary>
    public LatencySnapshot Snapshot()
    {
        if (_count == 0)
        {
            return LatencySnapshot.Empty;
        }

        var used = 0;
        foreach (var counts in _segments)
        {
            used += counts is null ? 0 : counts.Length - counts.AsSpan().Count(0L);
        }

        var buckets = new int[used];
        var cumulative = new long[used];
        var next = 0;
        var running = 0L;
        for (var segment = 0; segment < _segments.Length; segment++)
        {
            var counts = _segments[segment];
            for (var offset = 0; counts is not null && offset < counts.Length; offset++)
            {
                if (counts[offset] != 0)
                {
                    running += counts[offset];
                    buckets[next] = (segment * LatencyBuckets.SegmentLength) + (offset << _coarseness);
                    cumulative[next++] = running;
                }
            }
        }

        return new LatencySnapshot(buckets, cumulative, _coarseness, _sum, _min, _max, _clampedLow, _clampedHigh);
    }

    /// <summary>Forgets everything recorded; the count arrays are kept for the next values.</summary>
    public void Reset()
    {
        if (_count == 0)
        {
            return;
        }

        foreach (var counts in _segments)
        {
            counts?.AsSpan().Clear();
        }

        _count = 0;
        _sum = 0;
        _min = long.MaxValue;
        _max = long.MinValue;
        _clampedLow = 0;
        _clampedHigh = 0;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Record(long nanoseconds, ref Run run)
    {
        if (!IsTrackable(nanoseconds))
        {
            Record(nanoseconds);
            return;
        }

        run.Count++;
        run.Sum += nanoseconds;
        run.Min = Math.Min(run.Min, nanoseconds);
        run.Max = Math.Max(run.Max, nanoseconds);
        CountOne(nanoseconds);
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void Add(in Run run) => AddTotals(run.Count, run.Sum, run.Min, run.Max, clampedLow: 0, clampedHigh: 0);

    // One unsigned comparison finds both ends.
    private static bool IsTrackable(long nanoseconds) =>
        (ulong)(nanoseconds - LatencyBuckets.Lowest) <= LatencyBuckets.Highest - LatencyBuckets.Lowest;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void CountOne(long trackable)
    {
        var segment = LatencyBuckets.SegmentOf(trackable);
        var counts = _segments[segment] ?? AddSegment(segment);
        counts[LatencyBuckets.OffsetOf(trackable, segment) >> _coarseness]++;
    }

    private void AddTotals(long count, Int128 sum, long min, long max, long clampedLow, long clampedHigh)
    {
        _count += count;
        _sum += sum;
        _min = Math.Min(_min, min);
        _max = Math.Max(_max, max);
        _clampedLow += clampedLow;
        _clampedHigh += clampedHigh;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private long Clamp(long nanoseconds)
    {
        if (nanoseconds < LatencyBuckets.Lowest)
        {
            _clampedLow++;
            return LatencyBuckets.Lowest;
        }

        _clampedHigh++;
        return LatencyBuckets.Highest;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private long[] AddSegment(int segment) => _segments[segment] = new long[LatencyBuckets.SegmentLength >> _coarseness];

    // Totals of a run of values within range: kept in registers, where those of the histogram are memory. 2^27 values of 60 s are less than
    // 2^63 ns.
    private struct Run
    {
        internal static Run Empty => new() { Min = long.MaxValue, Max = long.MinValue };

        internal long Count;
        internal long Sum;
        internal long Min;
        internal long Max;
    }
}
