using FastPort.Buffers;
using FastPort.Dispatch;
using FastPort.Framing;

namespace FastPort.Sessions;

/// <content>Frames whose bodies are sent from where they lie.</content>
internal sealed partial class FrameOutput
{
    /// <summary>Below this a copy costs less than a send of its own.</summary>
    public const int BorrowAtLeast = 16 * 1024;

    /// <summary>Sends a one-way message without copying its body. Only with Queued the body is lent, and released once.</summary>
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

        if (Room.IsFull && !Room.TryMake())
        {
            return Room.Refuse();
        }

        SendStatus status = WriteBorrowed(type, FrameFlags.OneWay, 0, 0, body, release, state);
        FlushUnlessInBurst();
        return status == SendStatus.Full ? Room.Refuse() : status;
    }

    /// <summary>Writes a reply without copying its body. Only with Queued the body is lent, and released once.</summary>
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

    /// <summary>Writes a reply whose body ends with bytes of the burst being handled, if that is where they are: sent from there, and copied where not.</summary>
    public SendStatus WriteReply(ushort type, FrameFlags flags, uint correlation, long received, scoped ReadOnlySpan<byte> head, scoped ReadOnlySpan<byte> rest)
    {
        if (rest.Length >= InlineRequest.MinimumShown && _connection.LendsInput && TryWriteInput(type, flags, correlation, received, head, rest))
        {
            return SendStatus.Queued;
        }

        return head.IsEmpty
            ? Write(type, flags, correlation, received, new RawBody(rest))
            : Write(type, flags, correlation, received, new TwoPartBody(head, rest));
    }

    // False where it has to be copied, or cannot be written at all: then nothing was.
    private bool TryWriteInput(ushort type, FrameFlags flags, uint correlation, long received, scoped ReadOnlySpan<byte> head, scoped ReadOnlySpan<byte> rest)
    {
        int size = head.Length + rest.Length;
        if (!FrameWriter.Fits(size, Limit))
        {
            return false;
        }

        ArrayPoolCircularBuffer? ring = _connection.BeginWrite();
        if (ring is null)
        {
            return false;
        }

        try
        {
            long start = ring.WritePosition;
            if (!ring.TryReserve(FrameHeader.Size + FrameTiming.Size + head.Length))
            {
                return false;
            }

            FrameWriter.WriteHead(ring, type, flags, correlation, received, size);
            ring.Write(head);
            if (_connection.TryWriteInput(rest))
            {
                CountSent();
                return true;
            }

            ring.RewindTo(start);
            return false;
        }
        finally
        {
            _connection.EndWrite();
        }
    }

    private SendStatus WriteBorrowed(
        ushort type, FrameFlags flags, uint correlation, long received, ReadOnlyMemory<byte> body, Action<object?>? release, object? state)
    {
        if (!FrameWriter.Fits(body.Length, Limit))
        {
            return SendStatus.TooLarge;
        }

        bool isReply = (flags & FrameFlags.Reply) != 0;
        bool overflow = false;
        ArrayPoolCircularBuffer? ring = _connection.BeginWrite();
        if (ring is null)
        {
            return SendStatus.Closed;
        }

        try
        {
            if (!isReply && _goodbyeSaid)
            {
                return SendStatus.Closed;
            }

            long start = ring.WritePosition;
            if (ring.TryReserve(FrameHeader.Size + FrameTiming.Size))
            {
                FrameWriter.WriteHead(ring, type, flags, correlation, received, body.Length);
                if (_connection.TryWriteBorrowed(body, release, state))
                {
                    CountSent();
                    return SendStatus.Queued;
                }

                ring.RewindTo(start);
            }

            // As with copied frames: a reply is never lost in silence.
            overflow = isReply;
            return isReply ? SendStatus.Closed : SendStatus.Full;
        }
        finally
        {
            _connection.EndWrite();
            if (overflow)
            {
                Room.DisconnectSlowConsumer();
            }
        }
    }
}
