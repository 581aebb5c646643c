using System.Numerics;

namespace FastPort.Telemetry;

/// <summary>The bucket layout of all histograms: each power of two (a segment) is divided into 512 equal buckets.</summary>
/// <remarks>
/// A bucket is at most 1/512 of its lowest value wide and is reported by its middle, so the error of a reported value is at most 1/1024 =
/// 0.098 %: three significant digits with half the buckets that reporting an edge would need. Each value below 1,024 ns has its own bucket.
/// A coarse histogram, used where there are many, merges eight neighboring buckets under the number of the first: its error is at most
/// 1/128 = 0.78 %, or 4 ns.
/// </remarks>
internal static class LatencyBuckets
{
    /// <summary>Lowest value that is not clamped, in nanoseconds.</summary>
    internal const long Lowest = 100;

    /// <summary>Highest value that is not clamped, in nanoseconds (60 s).</summary>
    internal const long Highest = 60_000_000_000;

    /// <summary>Buckets of one segment.</summary>
    internal const int SegmentLength = 512;

    /// <summary>Segments: 0 to 511 ns, then one per power of two up to the segment of <see cref="Highest"/>.</summary>
    internal const int SegmentCount = 28;

    /// <summary>Coarse histograms drop three bits of an offset: eight buckets become one.</summary>
    internal const int Coarse = 3;

    private const int SegmentBits = 9;

    /// <summary>The segment of a value within range.</summary>
    internal static int SegmentOf(long nanoseconds) =>
        BitOperations.Log2((ulong)nanoseconds | (SegmentLength - 1)) - (SegmentBits - 1);

    /// <summary>The bucket of a value within its segment.</summary>
    internal static int OffsetOf(long nanoseconds, int segment)
    {
        // The buckets of segments 0 and 1 are one nanosecond wide.
        var shift = Math.Max(segment - 1, 0);
        return (int)(nanoseconds >> shift) & (SegmentLength - 1);
    }

    /// <summary>The lowest value of a bucket, in nanoseconds; the bucket is numbered segment * 512 + offset.</summary>
    internal static long LowEdge(int bucket)
    {
        var segment = bucket / SegmentLength;
        var offset = bucket % SegmentLength;
        return segment == 0 ? offset : (long)(SegmentLength + offset) << (segment - 1);
    }

    /// <summary>The highest value of a bucket, in nanoseconds.</summary>
    /// <param name="bucket">The bucket.</param>
    /// <param name="coarseness">0, or <see cref="Coarse"/>.</param>
    internal static long HighEdge(int bucket, int coarseness) => LowEdge(bucket) + Width(bucket, coarseness) - 1;

    /// <summary>The value that represents all values of a bucket, in nanoseconds.</summary>
    /// <param name="bucket">The bucket.</param>
    /// <param name="coarseness">0, or <see cref="Coarse"/>.</param>
    internal static long Middle(int bucket, int coarseness) => LowEdge(bucket) + ((Width(bucket, coarseness) - 1) / 2);

    private static long Width(int bucket, int coarseness) => 1L << (Math.Max((bucket / SegmentLength) - 1, 0) + coarseness);
}
