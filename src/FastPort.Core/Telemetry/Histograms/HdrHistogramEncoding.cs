using System.Buffers;
using System.Buffers.Binary;
using System.IO.Compression;
using System.Numerics;

namespace FastPort.Telemetry;

/// <summary>
/// Encodes a snapshot as HdrHistogram does: encoding V2, compressed, with three significant digits from 1 ns to 60 s, as Base64.
/// </summary>
/// <remarks>
/// A bucket of <see cref="LatencyBuckets"/> covers two or more buckets of HdrHistogram; its values are counted in the bucket of its middle.
/// The smallest and the largest value are counted in their exact buckets, so that readers report them within 0.1 % too.
/// </remarks>
internal static class HdrHistogramEncoding
{
    private const int WordSize = 0x10;
    private const int Cookie = 0x1c849303 | WordSize;
    private const int CompressedCookie = 0x1c849304 | WordSize;
    private const int HeaderBytes = 40;
    private const int SignificantDigits = 3;

    // Three digits need 2,000 buckets of equal width, rounded up to a power of two; each further power of two adds the upper half of these.
    private const int SubBuckets = 2048;
    private const int HalfBits = 10;

    internal static string ToBase64(LatencySnapshot snapshot)
    {
        var plain = new ArrayBufferWriter<byte>(1024);
        plain.Write(stackalloc byte[HeaderBytes]);
        WriteCounts(plain, snapshot);
        byte[] encoded = plain.WrittenSpan.ToArray();
        WriteHeader(encoded);

        using var compressed = new MemoryStream();
        compressed.Write(stackalloc byte[2 * sizeof(int)]);
        using (var zlib = new ZLibStream(compressed, CompressionLevel.Optimal, leaveOpen: true))
        {
            zlib.Write(encoded);
        }

        Span<byte> whole = compressed.GetBuffer().AsSpan(0, (int)compressed.Length);
        BinaryPrimitives.WriteInt32BigEndian(whole, CompressedCookie);
        BinaryPrimitives.WriteInt32BigEndian(whole[sizeof(int)..], whole.Length - (2 * sizeof(int)));
        return Convert.ToBase64String(whole);
    }

    /// <summary>The number of the bucket that counts a value.</summary>
    internal static int IndexOf(long nanoseconds)
    {
        int shift = BitOperations.Log2((ulong)nanoseconds | (SubBuckets - 1)) - HalfBits;
        return (shift << HalfBits) + (int)(nanoseconds >> shift);
    }

    private static void WriteHeader(Span<byte> encoded)
    {
        BinaryPrimitives.WriteInt32BigEndian(encoded, Cookie);
        BinaryPrimitives.WriteInt32BigEndian(encoded[4..], encoded.Length - HeaderBytes);

        // Bytes 8 to 11 are the offset of rotated counts: none.
        BinaryPrimitives.WriteInt32BigEndian(encoded[12..], SignificantDigits);
        BinaryPrimitives.WriteInt64BigEndian(encoded[16..], 1);
        BinaryPrimitives.WriteInt64BigEndian(encoded[24..], LatencyBuckets.Highest);
        BinaryPrimitives.WriteDoubleBigEndian(encoded[32..], 1);
    }

    // Counts in the order of their buckets; a negative number is a run of empty buckets.
    private static void WriteCounts(ArrayBufferWriter<byte> output, LatencySnapshot snapshot)
    {
        int next = 0;
        int index = 0;
        long pending = 0;
        foreach ((long value, long count) in Values(snapshot))
        {
            int at = IndexOf(Math.Clamp(value, 0, LatencyBuckets.Highest));
            if (at != index && pending != 0)
            {
                next = WriteCount(output, next, index, pending);
                pending = 0;
            }

            index = at;
            pending += count;
        }

        if (pending != 0)
        {
            WriteCount(output, next, index, pending);
        }
    }

    private static int WriteCount(ArrayBufferWriter<byte> output, int next, int index, long count)
    {
        if (index > next)
        {
            WriteZigZag(output, next - index);
        }

        WriteZigZag(output, count);
        return index + 1;
    }

    // Ascending: the minimum, the other values of every bucket by its middle, the maximum.
    private static IEnumerable<(long Value, long Count)> Values(LatencySnapshot snapshot)
    {
        if (snapshot.Count == 0)
        {
            yield break;
        }

        yield return (snapshot.Min, 1);
        long seen = 0;
        foreach ((int bucket, long count) in snapshot.NumberedCounts())
        {
            long rest = seen == 0 ? count - 1 : count;
            seen += count;
            if (seen == snapshot.Count && snapshot.Count > 1)
            {
                rest--;
            }

            if (rest > 0)
            {
                yield return (Math.Clamp(LatencyBuckets.Middle(bucket, snapshot.Coarseness), snapshot.Min, snapshot.Max), rest);
            }
        }

        if (snapshot.Count > 1)
        {
            yield return (snapshot.Max, 1);
        }
    }

    // The sign is the lowest bit; seven bits per byte, least significant first; a ninth byte holds eight bits.
    private static void WriteZigZag(ArrayBufferWriter<byte> output, long number)
    {
        Span<byte> bytes = output.GetSpan(9);
        ulong rest = (ulong)((number << 1) ^ (number >> 63));
        int length = 0;
        while (rest >= 0x80 && length < 8)
        {
            bytes[length++] = (byte)(rest | 0x80);
            rest >>= 7;
        }

        bytes[length++] = (byte)rest;
        output.Advance(length);
    }
}
