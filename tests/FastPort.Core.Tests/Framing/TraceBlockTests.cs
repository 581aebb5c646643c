using System.Diagnostics;
using FastPort.Connections;
using FastPort.Framing;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Framing;

public sealed class TraceBlockTests
{
    private const int Limit = 1024;

    [Fact]
    public void What_is_written_with_a_trace_block_is_read_at_every_cut_and_wherever_a_ring_wraps()
    {
        var frames = from trace in Gen.Choose(0, 255).Select(static b => (byte)b).ArrayOf(16)
                     from span in Gen.Choose(0, 255).Select(static b => (byte)b).ArrayOf(8)
                     from recorded in Gen.Elements(ActivityTraceFlags.None, ActivityTraceFlags.Recorded)
                     from flags in Gen.Elements(FrameFlags.None, FrameFlags.Timing, FrameFlags.OneWay)
                     from type in Gen.Choose(0x0100, 0xFFFF)
                     from body in Gen.Choose(0, 255).Select(static b => (byte)b).ArrayOf()
                     from offset in Gen.Choose(0, 127)
                     select new Frame(trace, span, recorded, flags, (ushort)type, body, offset);

        Prop.ForAll(frames.ToArbitrary(), static frame => IsReadAtEveryCut(frame)).QuickCheckThrowOnFailure();
    }

    private static void IsReadAtEveryCut(Frame frame)
    {
        ActivityContext context = frame.Context;
        byte[] bytes = frame.Write();
        using var ring = new ArrayPoolCircularBuffer(128, 4096);
        ring.Write(new byte[frame.Offset + 1]);
        ring.Consume(frame.Offset);
        for (int cut = 0; cut < bytes.Length; cut++)
        {
            ring.Write(bytes.AsSpan(cut, 1));
            if (cut == 0)
            {
                // Never empty, so that the ring does not start anew at 0.
                ring.Consume(1);
            }

            FrameReadStatus status = FrameReader.TryReadHead(ring, Limit, FrameBlocks.Trace, out FrameHeader header);
            ring.GetReadableSpans(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
            Assert.Equal((status, header), (FrameReader.TryRead(first, second, Limit, FrameBlocks.Trace, out FrameHeader same), same));
            if (cut < bytes.Length - 1)
            {
                Assert.Equal(FrameReadStatus.Incomplete, status);
                continue;
            }

            Assert.Equal(FrameReadStatus.Complete, status);
            Assert.Equal((frame.Type, frame.Flags | FrameFlags.Trace, bytes.Length), (header.Type, header.Flags, (int)header.FrameSize));
            Assert.Equal((frame.Body.Length, TraceBlock.Size), (header.BodySize, header.TraceSize));
            byte[] body = new byte[header.BodySize];
            ring.CopyTo(header.BodyOffset, body);
            Assert.Equal(frame.Body, body);
            ActivityContext read = TraceBlock.Read(ring);
            Assert.Equal(context, read);
            Assert.Equal(context != default, read.IsRemote);
        }
    }

    [Theory]
    [InlineData(FrameFlags.Trace, FrameBlocks.Trace, Limit + 25, "Incomplete")]
    [InlineData(FrameFlags.Trace, FrameBlocks.Trace, Limit + 26, "TooLarge")]
    [InlineData(FrameFlags.None, FrameBlocks.Trace, Limit + 1, "TooLarge")]
    [InlineData(FrameFlags.Trace, FrameBlocks.Timing, Limit + 1, "TooLarge")]
    [InlineData(FrameFlags.Trace, FrameBlocks.None, Limit, "Malformed")]
    [InlineData(FrameFlags.Trace, FrameBlocks.None, 33, "Malformed")]
    [InlineData(FrameFlags.Trace, FrameBlocks.Trace, 32, "Malformed")]
    [InlineData(FrameFlags.Trace, FrameBlocks.Trace, 33, "Incomplete")]
    [InlineData(FrameFlags.Trace | FrameFlags.Reply, FrameBlocks.Trace, 33, "Malformed")]
    [InlineData(FrameFlags.Trace | FrameFlags.Reply | FrameFlags.Timing, FrameBlocks.Trace | FrameBlocks.Timing, 100, "Malformed")]
    internal void A_block_is_judged_by_its_header(FrameFlags flags, FrameBlocks expected, int length, string status)
    {
        byte[] header = new byte[FrameHeader.Size];
        new FrameHeader((uint)length, 0x1000, flags, 1, 1).Write(header);

        Assert.Equal(status, $"{FrameReader.TryRead(header, default, Limit, expected, out _)}");
    }

    private sealed record Frame(
        byte[] Trace, byte[] Span, ActivityTraceFlags Recorded, FrameFlags Flags, ushort Type, byte[] Body, int Offset)
    {
        // An id of zeros is no context: it is written all the same, and read as none.
        public ActivityContext Context => Trace.All(static b => b == 0) || Span.All(static b => b == 0)
            ? default
            : new ActivityContext(
                ActivityTraceId.CreateFromBytes(Trace), ActivitySpanId.CreateFromBytes(Span), Recorded, isRemote: true);

        public byte[] Write()
        {
            using var ring = new ArrayPoolCircularBuffer(64, 4096);
            var context = new ActivityContext(
                ActivityTraceId.CreateFromBytes(Trace), ActivitySpanId.CreateFromBytes(Span), Recorded);
            var body = new TracedBody<RawBody>(context, new RawBody(Body));
            Assert.True(FrameWriter.Fits(body.Size, Body.Length + FrameHeader.MinimumLength, Flags | FrameFlags.Trace));
            FrameWriter.Write(ring, Type, Flags | FrameFlags.Trace, 7, 0, ref body, body.Size);
            byte[] bytes = new byte[ring.Length];
            ring.CopyTo(0, bytes);
            return bytes;
        }
    }
}
