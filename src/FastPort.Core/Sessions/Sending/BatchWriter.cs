using System.Runtime.CompilerServices;
using FastPort.Buffers;
using FastPort.Connections;
using FastPort.Framing;

namespace FastPort.Sessions.Sending;

/// <summary>
/// The collected frames of a <see cref="SendBatch"/>. Used by one thread between <see cref="Begin"/> and <see cref="End"/>.
/// </summary>
internal sealed class BatchWriter(FrameOutput output)
{
    private ArrayPoolCircularBuffer _ring = null!;
    private int _largest;
    private int _collected;
    private bool _solicited;
    private bool _admitted;

    // Room for a whole chunk is made at once: a ring that grows by doubling copies its bytes each time.
    private SizeEstimate _chunk;

    /// <summary>Number of batches that have ended. A <see cref="SendBatch"/> begun at another number has ended.</summary>
    public int Ended { get; private set; }

    public void Begin(ArrayPoolCircularBuffer ring, bool solicited)
    {
        _ring = ring;
        _solicited = solicited;
        _largest = FrameLimits.MaxBodyBytes(output.Limit);
        _admitted = false;
    }

    // NoInlining: the JIT inlines only so much into one method. The calls that it left out differed with each run and cost up to a quarter
    // of the rate.
    [MethodImpl(MethodImplOptions.NoInlining)]
    public SendStatus TrySend<TBody>(ushort type, scoped in TBody body)
        where TBody : IFrameBody, allows ref struct
    {
        int size = body.Size;
        if ((uint)size > (uint)_largest)
        {
            return SendStatus.TooLarge;
        }

        int frame = FrameHeader.Size + size;
        if (!_admitted || _ring.Length + frame > FrameOutput.BatchChunk)
        {
            SendStatus status = NextChunk();
            if (status != SendStatus.Queued || frame > FrameOutput.BatchChunk)
            {
                // A large body is not collected: that would cost one more copy.
                return status == SendStatus.Queued ? output.TrySendOneWay(type, in body, size) : status;
            }
        }

        FrameWriter.Write(_ring, type, FrameFlags.OneWay, 0, 0, ref Unsafe.AsRef(in body), size);
        _collected++;
        return SendStatus.Queued;
    }

    public SendStatus Flush()
    {
        if (_collected == 0)
        {
            return SendStatus.Queued;
        }

        int messages = _collected;
        _collected = 0;
        _chunk.Saw(_ring.Length);

        // The next message is admitted anew: after a dropped chunk it is refused instead of collected.
        _admitted = false;
        return output.AppendBatch(ref _ring, messages);
    }

    public void End()
    {
        Ended++;
        Flush();

        // After the flush, which may have exchanged the ring.
        ArrayPoolCircularBuffer ring = _ring;
        _ring = null!;
        output.EndBatch(this, ring);
    }

    private SendStatus NextChunk()
    {
        SendStatus status = Flush();
        if (status == SendStatus.Queued)
        {
            status = output.AdmitBatch(_solicited);
        }

        _admitted = status == SendStatus.Queued;
        if (_admitted)
        {
            _ring.TryMakeRoom(_chunk.Expected);
        }

        return status;
    }
}
