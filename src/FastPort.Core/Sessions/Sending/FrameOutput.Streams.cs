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

        var status = SendStatus.Closed;
        try
        {
            using var write = new RingWrite(this, ref status, messages: 2);
            if (write.Ring is { } ring)
            {
                SendStatus added = !ring.TryReserve((2 * FrameHeader.Size) + CreditBody.LargestSize + size) ? SendStatus.Full
                    : outstanding.TryAdd(pending, out correlation) ? SendStatus.Queued : SendStatus.Closed;
                if (added == SendStatus.Queued)
                {
                    WriteOpening(ring, type, flags, in body, size, grant with { Correlation = correlation });
                }

                status = added;
            }
        }
        finally
        {
            if (status != SendStatus.Queued && correlation != 0 && !outstanding.TryRemove(correlation, type, out _))
            {
                // The end of the session has failed the request already: its PendingReply tells, and the status must not tell it again.
                status = SendStatus.Queued;
            }
        }

        return status;
    }

    private static void WriteOpening<TBody>(
        ArrayPoolCircularBuffer ring, ushort type, FrameFlags flags, scoped in TBody body, int size, CreditBody grant)
        where TBody : IFrameBody, allows ref struct
    {
        long start = ring.WritePosition;
        FrameWriter.Write(ring, ControlType.Credit, FrameFlags.OneWay, 0, 0, ref grant, grant.Size);
        try
        {
            FrameWriter.Write(ring, type, flags, grant.Correlation, 0, ref Unsafe.AsRef(in body), size);
        }
        catch
        {
            // Without its request, the Credit would announce another one.
            ring.RewindTo(start);
            throw;
        }
    }

    /// <summary>Writes an item of a stream, whose size the caller has checked; Queued, Full or Closed. The caller flushes.</summary>
    public SendStatus TryWriteItem<TBody>(ushort type, FrameFlags flags, uint correlation, scoped in TBody body, int size)
        where TBody : IFrameBody, allows ref struct
    {
        var status = SendStatus.Closed;
        using (var write = new RingWrite(this, ref status, mayFollowGoodbye: true))
        {
            if (write.Ring is { } ring)
            {
                status = FrameWriter.TryWrite(ring, type, flags, correlation, 0, ref Unsafe.AsRef(in body), size)
                    ? SendStatus.Queued
                    : SendStatus.Full;
            }
        }

        return status;
    }
}
