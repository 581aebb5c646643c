using System.Runtime.CompilerServices;

namespace FastPort.Telemetry;

/// <summary>
/// Counts latencies in log-linear buckets with three significant digits: every percentile is within 0.1 % of the exact one.
/// </summary>
/// <remarks>
/// <para>
/// Values are nanoseconds. Values from 100 ns to 60 s are counted in their buckets; other values are counted in the first or last bucket
/// and in <see cref="ClampedLow"/> or <see cref="ClampedHigh"/>. Minimum, maximum and sum stay exact.
/// </para>
/// <para>
/// Memory: 28 segments of 512 counts of 8 bytes, 4 KiB a segment, allocated for the first value of that power of two: about 0.4 KB when
/// empty, 112 KiB (14,336 buckets x 8 bytes) with all segments, 20 to 40 KiB for one kind of request.
/// </para>
/// <para>
/// Not thread-safe: one writer, and no reader while it writes. Use <see cref="StripedLatencyHistogram"/> if several threads record.
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

    // By Little's law the sum grows by one nanosecond per nanosecond and request in flight: 64 bits would overflow after some hours on a
    // large server.
    private Int128 _sum;

    /// <summary>Creates an empty histogram.</summary>
    public LatencyHistogram()
    {
    }

    /// <param name="coarseness">
    /// 0, or <see cref="LatencyBuckets.Coarse"/> for an eighth of the memory. Only histograms with the same value can be merged.
    /// </param>
    internal LatencyHistogram(int coarseness) => _coarseness = coarseness;

    /// <summary>Lowest value that is not clamped: 100 ns.</summary>
    internal static long LowestTrackable => LatencyBuckets.Lowest;

    /// <summary>Highest value that is not clamped, in nanoseconds: 60 s.</summary>
    internal static long HighestTrackable => LatencyBuckets.Highest;

    /// <summary>Number of values recorded, clamped ones included.</summary>
    public long Count => _count;

    /// <summary>Smallest value recorded in nanoseconds, exact; 0 when empty.</summary>
    public long Min => _count == 0 ? 0 : _min;

    /// <summary>Largest value recorded in nanoseconds, exact; 0 when empty.</summary>
    public long Max => _count == 0 ? 0 : _max;

    /// <summary>Sum of all values in nanoseconds, exact.</summary>
    public Int128 Sum => _sum;

    /// <summary>Values below <see cref="LowestTrackable"/>.</summary>
    internal long ClampedLow => _clampedLow;

    /// <summary>Values above <see cref="HighestTrackable"/>.</summary>
    internal long ClampedHigh => _clampedHigh;

    /// <summary>Bytes of the allocated count arrays.</summary>
    internal int AllocatedBytes
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

    /// <summary>Records one value. Allocates only for the first value of a power of two.</summary>
    /// <param name="nanoseconds">Any value; a negative value (a difference of two clocks) counts as clamped low.</param>
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
    /// Records the time from an origin to each of these moments, as <see cref="Record(long)"/> would one by one. Writes the totals once.
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

    /// <summary>Records the time from the previous moment to each of these moments.</summary>
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

    /// <summary>Adds all values of another histogram: the result is the same as recording the values here.</summary>
    /// <param name="other">Left unchanged; no thread may write to it during the call. Must not be this histogram.</param>
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

    /// <summary>Adds all values of a snapshot.</summary>
    /// <param name="snapshot">The values to add.</param>
    public void Merge(LatencySnapshot snapshot)
    {
        ArgumentNullException.ThrowIfNull(snapshot);
        if (snapshot.Count == 0)
        {
            return;
        }

        foreach (var (bucket, count) in snapshot.NumberedCounts())
        {
            // The middle of a bucket, which may be coarser than the buckets here.
            var middle = bucket + ((1 << snapshot.Coarseness) >> 1);
            var segment = middle / LatencyBuckets.SegmentLength;
            var counts = _segments[segment] ?? AddSegment(segment);
            counts[(middle % LatencyBuckets.SegmentLength) >> _coarseness] += count;
        }

        AddTotals(snapshot.Count, snapshot.Sum, snapshot.Min, snapshot.Max, snapshot.ClampedLow, snapshot.ClampedHigh);
    }

    /// <summary>An immutable copy of the recorded values.</summary>
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

    /// <summary>Removes all recorded values; the count arrays are kept for the next values.</summary>
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

    // One unsigned comparison checks both bounds.
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

    // Totals of a run of values within range, kept in registers; those of the histogram are in memory. 2^27 values of 60 s are less than
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
