using FastPort.Connections;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Framing;

public sealed class FrameReaderTests
{
    private const int Limit = 1024;

    [Fact]
    public void Judges_a_hundred_and_fifty_thousand_hostile_buffers_as_a_simple_model_does()
    {
        var random = new Random(20260101);
        int[] seen = new int[4];
        for (int i = 0; i < 150_000; i++)
        {
            byte[] bytes = Hostile(random);
            var blocks = (FrameBlocks)random.Next(16);
            int split = random.Next(bytes.Length + 1);

            // The two parts lie in arrays of exactly their size: a read outside throws.
            byte[] first = bytes[..split];
            byte[] second = bytes[split..];

            FrameReadStatus status = FrameReader.TryRead(first, second, Limit, blocks, out FrameHeader header);

            FrameReadStatus expected = Model(bytes, blocks);
            Assert.Equal((status, header), InRing(bytes, split, blocks));
            Assert.True(
                status == expected,
                $"Buffer {i}: {Convert.ToHexString(bytes)} split at {split}, blocks {blocks}: {status}, expected {expected}.");
            if (status == FrameReadStatus.Complete)
            {
                Assert.InRange(header.FrameSize, FrameHeader.Size, bytes.Length);
                Assert.InRange(header.BodySize, 0, Limit - 8);
            }

            seen[(int)status]++;
        }

        Assert.All(seen, count => Assert.True(count > 1000, $"The generator is one-sided: {string.Join(", ", seen)}."));
    }

    // The same bytes as unread ones of a ring that wraps behind the first part, as far as a ring can.
    private static (FrameReadStatus Status, FrameHeader Header) InRing(byte[] bytes, int split, FrameBlocks blocks)
    {
        using var ring = new ArrayPoolCircularBuffer(64, 4096);
        if (bytes.Length <= 64 && split != 0)
        {
            ring.Write(new byte[64 - split]);
            ring.Write(bytes.AsSpan(0, 1));
            ring.Consume(64 - split);
            ring.Write(bytes.AsSpan(1));
        }
        else
        {
            ring.Write(bytes);
        }

        return (FrameReader.TryReadHead(ring, Limit, blocks, out FrameHeader header), header);
    }

    [Fact]
    public void Finds_a_frame_at_every_offset_of_a_ring_and_at_every_cut()
    {
        byte[] frame = Wire.Frame(0x1234, Wire.Reply | Wire.Timing, 0xA1B2C3D4, [.. Wire.Bytes(16), .. Wire.Bytes(5, seed: 2)]);
        for (int offset = 0; offset < 64; offset++)
        {
            using var ring = new ArrayPoolCircularBuffer(64, 64);
            if (offset > 0)
            {
                ring.Write(new byte[offset]);
                ring.GetWritableSpan();
            }

            // One byte stays unread until the next is written, so that the ring is never empty and never starts anew at 0.
            for (int cut = 0; cut < frame.Length; cut++)
            {
                Append(ring, frame[cut]);
                if (cut == 0 && offset > 0)
                {
                    ring.Consume(offset);
                }

                ring.GetReadableSpans(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
                FrameReadStatus status = FrameReader.TryRead(first, second, Limit, FrameBlocks.Timing, out FrameHeader header);
                bool whole = cut == frame.Length - 1;
                Assert.Equal(whole ? FrameReadStatus.Complete : FrameReadStatus.Incomplete, status);
                if (whole)
                {
                    Assert.Equal(
                        new FrameHeader((uint)frame.Length - 4, 0x1234, FrameFlags.Reply | FrameFlags.Timing, 1, 0xA1B2C3D4), header);
                    Assert.Equal(5, header.BodySize);
                    Assert.Equal(FrameTiming.Read(frame.AsSpan(12)), FrameReader.ReadTiming(ring));
                }
            }
        }
    }

    [Theory]
    [InlineData(Limit - 1, nameof(FrameReadStatus.Incomplete))]
    [InlineData(Limit, nameof(FrameReadStatus.Incomplete))]
    [InlineData(Limit + 1, nameof(FrameReadStatus.TooLarge))]
    [InlineData(0xFFFF_FFFFL, nameof(FrameReadStatus.TooLarge))]
    [InlineData(0x8000_0000L, nameof(FrameReadStatus.TooLarge))]
    [InlineData(8, nameof(FrameReadStatus.Incomplete))]
    [InlineData(7, nameof(FrameReadStatus.Malformed))]
    [InlineData(0, nameof(FrameReadStatus.Malformed))]
    public void Judges_a_length_by_its_four_bytes(long length, string expected)
    {
        byte[] bytes = BitConverter.GetBytes((uint)length);

        Assert.Equal(FrameReadStatus.Incomplete, FrameReader.TryRead(bytes.AsSpan(0, 3), default, Limit, FrameBlocks.None, out _));
        Assert.Equal(expected, $"{FrameReader.TryRead(bytes, default, Limit, FrameBlocks.None, out FrameHeader header)}");
        Assert.Equal((uint)length, header.Length);
    }

    [Theory]
    [InlineData(Wire.Reply | Wire.Timing, true, Limit + 16, nameof(FrameReadStatus.Incomplete))]
    [InlineData(Wire.Reply | Wire.Timing, true, Limit + 17, nameof(FrameReadStatus.TooLarge))]
    [InlineData(Wire.Reply, true, Limit, nameof(FrameReadStatus.Incomplete))]
    [InlineData(Wire.Reply, true, Limit + 1, nameof(FrameReadStatus.TooLarge))]
    [InlineData(Wire.Timing, true, Limit + 1, nameof(FrameReadStatus.TooLarge))]
    [InlineData(Wire.Reply | Wire.Timing, false, Limit + 1, nameof(FrameReadStatus.TooLarge))]
    [InlineData(Wire.Reply | Wire.Timing, true, 23, nameof(FrameReadStatus.Malformed))]
    [InlineData(Wire.Reply | Wire.Timing, true, 24, nameof(FrameReadStatus.Incomplete))]
    [InlineData(Wire.Timing, true, 8, nameof(FrameReadStatus.Complete))]
    public void Leaves_the_timing_block_out_of_the_limit(byte flags, bool expectsTiming, int length, string expected)
    {
        byte[] header = Wire.Frame(5, flags, 1, [], length: (uint)length);

        FrameBlocks blocks = expectsTiming ? FrameBlocks.Timing : FrameBlocks.None;
        Assert.Equal(expected, $"{FrameReader.TryRead(header, default, Limit, blocks, out _)}");
    }

    private static void Append(ArrayPoolCircularBuffer ring, byte value)
    {
        ring.GetWritableSpan()[0] = value;
        ring.Advance(1);
    }

    // The protocol page in the plainest words.
    private static FrameReadStatus Model(byte[] bytes, FrameBlocks blocks)
    {
        bool timing = (blocks & FrameBlocks.Timing) != 0, tracing = (blocks & FrameBlocks.Trace) != 0;
        bool streaming = (blocks & FrameBlocks.More) != 0, limiting = (blocks & FrameBlocks.Deadline) != 0;
        if (bytes.Length < 4)
        {
            return FrameReadStatus.Incomplete;
        }

        long length = bytes[0] + (256L * bytes[1]) + (65536L * bytes[2]) + (16777216L * bytes[3]);
        if (length < 8)
        {
            return FrameReadStatus.Malformed;
        }

        if (bytes.Length < 12)
        {
            int largest = Math.Max((tracing ? 25 : 0) + (limiting ? 4 : 0), timing ? 16 : 0);
            return length > Limit + largest ? FrameReadStatus.TooLarge : FrameReadStatus.Incomplete;
        }

        bool reply = (bytes[6] & 1) != 0;
        bool error = (bytes[6] & 2) != 0;
        bool oneWay = (bytes[6] & 4) != 0;
        bool timed = reply && (bytes[6] & 8) != 0;
        bool traced = !reply && (bytes[6] & 16) != 0;
        bool limited = !reply && (bytes[6] & 128) != 0;
        if (length < 8 + (timed ? 16 : 0) + (traced ? 25 : 0) + (limited ? 4 : 0))
        {
            return FrameReadStatus.Malformed;
        }

        if (length > Limit + (timed && timing ? 16 : 0) + (traced && tracing ? 25 : 0) + (limited && limiting ? 4 : 0))
        {
            return FrameReadStatus.TooLarge;
        }

        bool noCorrelation = bytes[8] == 0 && bytes[9] == 0 && bytes[10] == 0 && bytes[11] == 0;
        bool more = (bytes[6] & 32) != 0, trace = (bytes[6] & 16) != 0, deadline = (bytes[6] & 128) != 0;
        bool unknownFlag = (bytes[6] & 64) != 0 || (trace && (reply || !tracing)) || (more && (oneWay || error || !streaming))
            || (deadline && (reply || oneWay || !limiting));
        if (unknownFlag || bytes[7] != 1 || (error && !reply) || (noCorrelation && !reply && !oneWay))
        {
            return FrameReadStatus.Malformed;
        }

        return bytes.Length < 4 + length ? FrameReadStatus.Incomplete : FrameReadStatus.Complete;
    }

    private static byte[] Hostile(Random random)
    {
        byte[] bytes = new byte[random.Next(8) switch { 0 => random.Next(13), 1 => 1100, _ => random.Next(12, 80) }];
        random.NextBytes(bytes);
        if (random.Next(10) == 0 || bytes.Length < 12)
        {
            return bytes;
        }

        // Nearly right: each field is made valid, or nearly, most of the time.
        uint length = random.Next(6) switch
        {
            0 => (uint)random.Next(0, 40),
            1 => (uint)(Limit + random.Next(-3, 30)),
            2 => uint.MaxValue - (uint)random.Next(30),
            _ => (uint)(bytes.Length - 4 + random.Next(-1, 2)),
        };
        BitConverter.TryWriteBytes(bytes, length);
        bytes[6] = random.Next(8) == 0 ? bytes[6] : (byte)(bytes[6] & (random.Next(4) == 0 ? 63 : 15));
        bytes[7] = random.Next(8) == 0 ? bytes[7] : (byte)1;
        if (random.Next(4) == 0)
        {
            bytes.AsSpan(8, 4).Clear();
        }

        return bytes;
    }
}
