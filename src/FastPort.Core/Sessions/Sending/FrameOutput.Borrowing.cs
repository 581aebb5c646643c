using FastPort.Connections;
using FastPort.Framing;

namespace FastPort.Sessions.Sending;

/// <content>Frames whose bodies are sent from the caller's memory.</content>
internal sealed partial class FrameOutput
{
    /// <summary>Below this size, in bytes, a copy costs less than a separate send.</summary>
    public const int BorrowAtLeast = 16 * 1024;

    /// <summary>Sends a one-way message without copying its body. Only if Queued the body is lent, and released exactly once.</summary>
    public SendStatus TrySendBorrowed(ushort type, ReadOnlyMemory<byte> body, Action<object?>? release, object? state)
    {
        if (body.Length < BorrowAtLeast)
        {
            SendStatus copied = TrySendOneWay(type, new RawBody(body.Span));
            if (copied == SendStatus.Queued)
            {
                release?.Invoke(state);
            }

            return copied;
        }

        if (QueueLimit.IsFull && !QueueLimit.TryMake())
        {
            return QueueLimit.Refuse();
        }

        SendStatus status = WriteBorrowed(type, FrameFlags.OneWay, 0, 0, body, release, state);
        FlushUnlessDeferred();
        return status == SendStatus.Full ? QueueLimit.Refuse() : status;
    }

    /// <summary>Writes a reply without copying its body. Only if Queued the body is lent, and released exactly once.</summary>
    public SendStatus WriteBorrowedReply(
        ushort type, FrameFlags flags, uint correlation, long received, ReadOnlyMemory<byte> body, Action<object?>? release, object? state)
    {
        if (body.Length >= BorrowAtLeast)
        {
            return WriteBorrowed(type, flags, correlation, received, body, release, state);
        }

        SendStatus copied = Write(type, flags, correlation, received, new RawBody(body.Span));
        if (copied == SendStatus.Queued)
        {
            release?.Invoke(state);
        }

        return copied;
    }

    private SendStatus WriteBorrowed(
        ushort type, FrameFlags flags, uint correlation, long received, ReadOnlyMemory<byte> body, Action<object?>? release, object? state)
    {
        if (!FrameWriter.Fits(body.Length, Limit))
        {
            return SendStatus.TooLarge;
        }

        bool isReply = (flags & FrameFlags.Reply) != 0;
        var status = SendStatus.Closed;
        using (var write = new RingWrite(this, ref status, isReply))
        {
            if (write.Ring is { } ring)
            {
                status = TryLend(ring, type, flags, correlation, received, body, release, state) ? SendStatus.Queued : SendStatus.Full;
            }
        }

        return isReply ? DisconnectIfFull(status) : status;
    }

    private bool TryLend(
        ArrayPoolCircularBuffer ring, ushort type, FrameFlags flags, uint correlation, long received, ReadOnlyMemory<byte> body,
        Action<object?>? release, object? state)
    {
        long start = ring.WritePosition;
        if (!ring.TryReserve(FrameHeader.Size + FrameTiming.Size))
        {
            return false;
        }

        FrameWriter.WriteHead(ring, type, flags, correlation, received, body.Length);
        if (_connection.TryWriteBorrowed(body, release, state))
        {
            return true;
        }

        ring.RewindTo(start);
        return false;
    }
}
