using System.Diagnostics;
using FastPort.Connections;
using FastPort.Framing;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace FastPort.Core.Tests.Framing;

public sealed class DeadlineBlockTests
{
    private const int Limit = 1024;
    private const FrameBlocks Both = FrameBlocks.Trace | FrameBlocks.Deadline;

    private static readonly ActivityContext Context = new(
        ActivityTraceId.CreateFromString("0af7651916cd43dd8448eb211c80319c"),
        ActivitySpanId.CreateFromString("b7ad6b7169203331"),
        ActivityTraceFlags.Recorded);

    [Fact]
    public void What_is_written_with_a_deadline_block_is_read_at_every_cut_and_wherever_a_ring_wraps()
    {
        var frames = from milliseconds in Gen.Choose(0, int.MaxValue)
                     from isTraced in Gen.Elements(true, false)
                     from body in Gen.Choose(0, 255).Select(static b => (byte)b).ArrayOf()
                     from offset in Gen.Choose(0, 127)
                     select (Milliseconds: (uint)milliseconds * 2, isTraced, body, offset);

        Prop.ForAll(
            frames.ToArbitrary(),
            static frame => IsReadAtEveryCut(frame.Milliseconds, frame.isTraced, frame.body, frame.offset)).QuickCheckThrowOnFailure();
    }

    [Theory]
    [InlineData(FrameFlags.Deadline, FrameBlocks.Deadline, Limit + 4, "Incomplete")]
    [InlineData(FrameFlags.Deadline, FrameBlocks.Deadline, Limit + 5, "TooLarge")]
    [InlineData(FrameFlags.Deadline | FrameFlags.Trace, Both, Limit + 29, "Incomplete")]
    [InlineData(FrameFlags.Deadline | FrameFlags.Trace, Both, Limit + 30, "TooLarge")]
    [InlineData(FrameFlags.Deadline | FrameFlags.Trace, Both, 37, "Incomplete")]
    [InlineData(FrameFlags.Deadline | FrameFlags.Trace, Both, 36, "Malformed")]
    [InlineData(FrameFlags.None, FrameBlocks.Deadline, Limit + 1, "TooLarge")]
    [InlineData(FrameFlags.Trace, Both, Limit + 26, "TooLarge")]
    [InlineData(FrameFlags.Deadline, FrameBlocks.Deadline, 12, "Incomplete")]
    [InlineData(FrameFlags.Deadline, FrameBlocks.Deadline, 11, "Malformed")]
    [InlineData(FrameFlags.Deadline, FrameBlocks.Trace, 100, "Malformed")]
    [InlineData(FrameFlags.Deadline | FrameFlags.OneWay, FrameBlocks.Deadline, 100, "Malformed")]
    [InlineData(FrameFlags.Deadline | FrameFlags.Reply, FrameBlocks.Deadline, 100, "Malformed")]
    internal void A_block_is_judged_by_its_header(FrameFlags flags, FrameBlocks expected, int length, string status)
    {
        byte[] header = new byte[FrameHeader.Size];
        new FrameHeader((uint)length, 0x1000, flags, 1, 1).Write(header);

        Assert.Equal(status, $"{FrameReader.TryRead(header, default, Limit, expected, out _)}");
    }

    [Theory]
    [InlineData(0.0001, 1u)]
    [InlineData(1, 1u)]
    [InlineData(1.2, 2u)]
    [InlineData(30_000, 30_000u)]
    [InlineData(1e12, uint.MaxValue)]
    public void The_time_left_is_rounded_up_and_bounded(double milliseconds, uint written) =>
        Assert.Equal(written, DeadlineBlock.Of(TimeSpan.FromMilliseconds(milliseconds)));

    private static void IsReadAtEveryCut(uint milliseconds, bool isTraced, byte[] body, int offset)
    {
        byte[] bytes = Write(milliseconds, isTraced, body);
        using var ring = new ArrayPoolCircularBuffer(128, 4096);
        ring.Write(new byte[offset + 1]);
        ring.Consume(offset);
        for (int cut = 0; cut < bytes.Length; cut++)
        {
            ring.Write(bytes.AsSpan(cut, 1));
            if (cut == 0)
            {
                // Never empty, so that the ring does not start anew at 0.
                ring.Consume(1);
            }

            FrameReadStatus status = FrameReader.TryReadHead(ring, Limit, Both, out FrameHeader header);
            Assert.Equal(cut < bytes.Length - 1 ? FrameReadStatus.Incomplete : FrameReadStatus.Complete, status);
            if (status != FrameReadStatus.Complete)
            {
                continue;
            }

            Assert.Equal((body.Length, DeadlineBlock.Size), (header.BodySize, header.DeadlineSize));
            Assert.Equal(milliseconds, DeadlineBlock.Read(header, ring));
            Assert.Equal(isTraced ? Context.TraceId : default, isTraced ? TraceBlock.Read(ring).TraceId : default);
            byte[] read = new byte[header.BodySize];
            ring.CopyTo(header.BodyOffset, read);
            Assert.Equal(body, read);
        }
    }

    private static byte[] Write(uint milliseconds, bool isTraced, byte[] body)
    {
        using var ring = new ArrayPoolCircularBuffer(64, 4096);
        var limited = new DeadlineBody<RawBody>(milliseconds, new RawBody(body));
        if (isTraced)
        {
            var traced = new TracedBody<DeadlineBody<RawBody>>(Context, in limited);
            const FrameFlags flags = FrameFlags.Deadline | FrameFlags.Trace;
            Assert.True(FrameWriter.Fits(traced.Size, body.Length + FrameHeader.MinimumLength, flags));
            FrameWriter.Write(ring, 0x1000, flags, 7, 0, ref traced, traced.Size);
        }
        else
        {
            Assert.True(FrameWriter.Fits(limited.Size, body.Length + FrameHeader.MinimumLength, FrameFlags.Deadline));
            FrameWriter.Write(ring, 0x1000, FrameFlags.Deadline, 7, 0, ref limited, limited.Size);
        }

        byte[] bytes = new byte[ring.Length];
        ring.CopyTo(0, bytes);
        return bytes;
    }
}
