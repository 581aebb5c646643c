using System.Runtime.CompilerServices;
using FastPort.Connections;
using FastPort.Framing;
using FastPort.Sessions.Requests;
using FastPort.Sessions.Streams;

namespace FastPort.Sessions.Sending;

/// <content>Frames of streams. Their items may follow a Goodbye, as replies do: they belong to calls that were made before.</content>
internal sealed partial class FrameOutput
{
    private volatile bool _carriesStreams;

    /// <summary>Whether the stream extension is in force; set on the loop, once.</summary>
    public bool CarriesStreams
    {
        get => _carriesStreams;
        set => _carriesStreams = value;
    }

    /// <summary>Whether nothing can be sent any more.</summary>
    public bool IsClosing => _connection.IsClosing;

    /// <summary>The counts of the session's items.</summary>
    public StreamCounts Streams { get; } = new();

    /// <summary>
    /// As <see cref="WriteRequest"/>, with the Credit that opens a stream just before the request: no other frame comes between them. The
    /// correlation of the grant, which is for the reply items, is set here.
    /// </summary>
    public SendStatus WriteOpening<TBody>(
        ushort type, FrameFlags flags, scoped in TBody body, in CreditBody grant, PendingReply pending, OutstandingRequests outstanding,
        out uint correlation)
        where TBody : IFrameBody, allows ref struct
    {
        correlation = 0;
        int size = body.Size;
        if (!FrameWriter.Fits(size, Limit, flags))
        {
            return SendStatus.TooLarge;
        }

        ArrayPoolCircularBuffer? ring = _connection.BeginWrite();
        if (ring is null)
        {
            return SendStatus.Closed;
        }

        var status = SendStatus.Closed;
        bool onLoop = _connection.IsLoopWrite;
        long start = ring.WritePosition;
        try
        {
            if (!_end.IsAnnounced)
            {
                status = !ring.TryReserve((2 * FrameHeader.Size) + CreditBody.LargestSize + size) ? SendStatus.Full
                    : outstanding.TryAdd(pending, out correlation) ? SendStatus.Queued : SendStatus.Closed;
            }

            if (status == SendStatus.Queued)
            {
                status = SendStatus.Closed;
                CreditBody opening = grant with { Correlation = correlation };
                FrameWriter.Write(ring, ControlType.Credit, FrameFlags.OneWay, 0, 0, ref opening, opening.Size);
                FrameWriter.Write(ring, type, flags, correlation, 0, ref Unsafe.AsRef(in body), size);
                status = SendStatus.Queued;
            }
        }
        finally
        {
            if (status != SendStatus.Queued)
            {
                // The body has thrown: its Credit would announce another request.
                ring.RewindTo(start);
            }

            status = EndWrite(status, onLoop, messages: 2);
            if (status != SendStatus.Queued && correlation != 0 && !outstanding.TryRemove(correlation, type, out _))
            {
                // The end of the session has failed the request already: its PendingReply tells, and the status must not tell it again.
                status = SendStatus.Queued;
            }
        }

        return status;
    }

    /// <summary>Writes an item of a stream, whose size the caller has checked; Queued, Full or Closed. The caller flushes.</summary>
    public SendStatus TryWriteItem<TBody>(ushort type, FrameFlags flags, uint correlation, scoped in TBody body, int size)
        where TBody : IFrameBody, allows ref struct
    {
        ArrayPoolCircularBuffer? ring = _connection.BeginWrite();
        if (ring is null)
        {
            return SendStatus.Closed;
        }

        var status = SendStatus.Closed;
        bool onLoop = _connection.IsLoopWrite;
        try
        {
            // If the body throws, FrameWriter removes what it has written.
            status = FrameWriter.TryWrite(ring, type, flags, correlation, 0, ref Unsafe.AsRef(in body), size)
                ? SendStatus.Queued
                : SendStatus.Full;
        }
        finally
        {
            _connection.EndWrite();
        }

        if (status == SendStatus.Queued)
        {
            CountSent(onLoop);
        }

        return status;
    }
}
