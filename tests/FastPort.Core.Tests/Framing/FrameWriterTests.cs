using FastPort.Connections;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Framing;

public sealed class FrameWriterTests
{
    [Fact]
    public void Writes_the_bytes_of_the_protocol_page_wherever_the_ring_wraps()
    {
        byte[] body = Wire.Bytes(37);
        byte[] expected = Wire.Frame(0xBEEF, Wire.OneWay, 0x01020304, body);
        for (int offset = 0; offset < 128; offset++)
        {
            using var ring = new ArrayPoolCircularBuffer(128, 1024);
            ring.Write(new byte[offset + 1]);
            ring.Consume(offset);
            Write(ring, 0xBEEF, FrameFlags.OneWay, 0x01020304, body);

            byte[] written = new byte[expected.Length];
            ring.CopyTo(1, written);
            Assert.Equal(expected.Length + 1, ring.Length);
            Assert.Equal(expected, written);
        }
    }

    [Fact]
    public void What_was_written_is_read_back_the_same()
    {
        var random = new Random(7);
        using var ring = new ArrayPoolCircularBuffer(64, 64 * 1024);
        Queue<(FrameHeader Header, byte[] Body)> sent = new();
        for (int i = 0; i < 20_000; i++)
        {
            if (sent.Count < 8 && random.Next(2) == 0)
            {
                byte[] body = Wire.Bytes(random.Next(5) == 0 ? random.Next(2000) : random.Next(40), i);
                var flags = (FrameFlags)random.Next(16);
                uint correlation = (uint)random.Next(1, int.MaxValue);
                if ((flags & (FrameFlags.Error | FrameFlags.Reply)) == FrameFlags.Error)
                {
                    flags |= FrameFlags.Reply;
                }

                Write(ring, (ushort)i, flags, correlation, body);
                bool timed = (flags & FrameFlags.Timing) != 0 && (flags & FrameFlags.Reply) != 0;
                sent.Enqueue((new FrameHeader((uint)(8 + body.Length + (timed ? 16 : 0)), (ushort)i, flags, 1, correlation), body));
            }
            else if (sent.TryDequeue(out (FrameHeader Header, byte[] Body) expected))
            {
                ring.GetReadableSpans(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
                Assert.Equal(
                    FrameReadStatus.Complete, FrameReader.TryRead(first, second, 4096, FrameBlocks.Timing, out FrameHeader header));
                Assert.Equal(expected.Header, header);
                byte[] body = new byte[header.BodySize];
                ring.CopyTo(FrameHeader.Size + header.TimingSize, body);
                Assert.Equal(expected.Body, body);
                ring.Consume((int)header.FrameSize);
            }
        }
    }

    [Fact]
    public void Stamps_the_timing_block_after_the_body_was_encoded()
    {
        using var ring = new ArrayPoolCircularBuffer();
        long before = MonotonicClock.Nanoseconds;
        var body = new StampedBody();

        FrameWriter.Write(ring, 1, FrameFlags.Reply | FrameFlags.Timing, 1, before, ref body, 1);

        FrameTiming timing = FrameReader.ReadTiming(ring);
        Assert.Equal((ulong)before, timing.Received);
        Assert.True((long)timing.Sent >= body.WrittenAt, $"Stamped at {timing.Sent}, the body was encoded at {body.WrittenAt}.");
        Assert.InRange(body.WrittenAt, before, MonotonicClock.Nanoseconds);
    }

    [Fact]
    public void Leaves_the_ring_as_it_was_where_the_body_throws()
    {
        using var ring = new ArrayPoolCircularBuffer();
        Write(ring, 1, FrameFlags.None, 1, [1, 2, 3]);
        int before = ring.Length;
        var body = new ThrowingBody();

        Assert.Throws<InvalidOperationException>(() => FrameWriter.Write(ring, 2, FrameFlags.None, 2, 0, ref body, body.Size));

        Assert.Equal(before, ring.Length);
    }

    private static void Write(ArrayPoolCircularBuffer ring, ushort type, FrameFlags flags, uint correlation, byte[] body)
    {
        var raw = new RawBody(body);
        FrameWriter.Write(ring, type, flags, correlation, 0, ref raw, body.Length);
    }

    private struct StampedBody : IFrameBody
    {
        public long WrittenAt { get; private set; }

        public readonly int Size => 1;

        public void Write(Span<byte> destination) => WrittenAt = MonotonicClock.Nanoseconds;
    }

    private readonly struct ThrowingBody : IFrameBody
    {
        public int Size => 8;

        public void Write(Span<byte> destination) => throw new InvalidOperationException("A defect in a body.");
    }
}
