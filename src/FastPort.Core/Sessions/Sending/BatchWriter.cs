using System.Runtime.CompilerServices;
using FastPort.Buffers;
using FastPort.Framing;

namespace FastPort.Sessions.Sending;

/// <summary>
/// What a <see cref="SendBatch"/> has collected. Belongs to one thread between <see cref="Begin"/> and <see cref="End"/>.
/// </summary>
internal sealed class BatchWriter(FrameOutput output)
{
    private ArrayPoolCircularBuffer _ring = null!;
    private int _largest;
    private int _collected;
    private bool _solicited;
    private bool _admitted;

    // A ring that grew to a chunk by doubling would copy each once more.
    private SizeEstimate _chunk;

    /// <summary>Batches that have ended: a <see cref="SendBatch"/> that was begun at another number is over.</summary>
    public int Ended { get; private set; }

    public void Begin(ArrayPoolCircularBuffer ring, bool solicited)
    {
        _ring = ring;
        _solicited = solicited;
        _largest = FrameLimits.MaxBodyBytes(output.Limit);
        _admitted = false;
    }

    // Not into its caller: the compiler inlines only so much into one method, and what was left out, differently with each run, cost up to
    // a quarter of the rate.
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
                // A large body would be copied once more for nothing.
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

        // What comes next is asked about anew: after a chunk that was dropped it is refused and not promised.
        _admitted = false;
        return output.AppendBatch(ref _ring, messages);
    }

    public void End()
    {
        Ended++;
        Flush();

        // Not before: another one may have taken its place.
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
