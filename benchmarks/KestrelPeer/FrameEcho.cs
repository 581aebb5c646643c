using System.Buffers;
using System.IO.Pipelines;
using static PeerSupport.FrameBytes;

namespace KestrelPeer;

/// <summary>How a walk over the unread bytes ended.</summary>
internal enum FrameEchoStatus
{
    /// <summary>Every whole frame was echoed; what is left is the head of the next.</summary>
    NeedsMore,

    /// <summary>The bytes are no frames of this protocol.</summary>
    Malformed,
}

/// <summary>Copies whole frames from a read buffer to a writer and sets their Reply bit on the way.</summary>
internal static class FrameEcho
{
    public static FrameEchoStatus Echo(ref ReadOnlySequence<byte> unread, PipeWriter output)
    {
        var burst = new BurstWriter(output);
        FrameEchoStatus status = FrameEchoStatus.NeedsMore;
        Span<byte> header = stackalloc byte[HeaderSize];
        while (unread.Length >= HeaderSize)
        {
            // Most frames lie in one segment: those are copied from its span without looking at the sequence again.
            ReadOnlySpan<byte> segment = unread.FirstSpan;
            int taken = EchoWithin(segment, ref burst, ref status);
            unread = unread.Slice(taken);
            if (status == FrameEchoStatus.Malformed)
            {
                break;
            }

            // The rest of the segment begins a frame that goes on in the next one, or is not all there.
            if (unread.Length < HeaderSize)
            {
                break;
            }

            unread.Slice(0, HeaderSize).CopyTo(header);
            if (!TryReadFrameSize(header, out int frameSize))
            {
                status = FrameEchoStatus.Malformed;
                break;
            }

            if (unread.Length < frameSize)
            {
                break;
            }

            header[FlagsOffset] |= ReplyFlag;
            burst.Write(header);
            foreach (ReadOnlyMemory<byte> part in unread.Slice(HeaderSize, frameSize - HeaderSize))
            {
                burst.Write(part.Span);
            }

            unread = unread.Slice(frameSize);
        }

        burst.Commit();
        return status;
    }

    /// <summary>Echoes the frames that lie whole in one segment.</summary>
    /// <returns>Bytes consumed.</returns>
    private static int EchoWithin(ReadOnlySpan<byte> segment, ref BurstWriter burst, ref FrameEchoStatus status)
    {
        int taken = 0;
        while (segment.Length - taken >= HeaderSize)
        {
            ReadOnlySpan<byte> rest = segment[taken..];
            if (!TryReadFrameSize(rest, out int frameSize))
            {
                status = FrameEchoStatus.Malformed;
                break;
            }

            if (rest.Length < frameSize)
            {
                break;
            }

            burst.WriteReply(rest[..frameSize], FlagsOffset, ReplyFlag);
            taken += frameSize;
        }

        return taken;
    }
}
