using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports.InProcess;

/// <summary>
/// One direction of a link: two <see cref="SendRing"/>s, one that the sender's writers fill and one that the receiver reads. A burst is
/// handed over by swapping them, so the receiver reads the very array that was written to. Batches come in rings of their own, which wait
/// in line before the one being filled.
/// <para>
/// <see cref="_gate"/> guards what is written and not taken, the swap and the flags. The ring being read belongs to the receiver's pump,
/// which alone swaps. The lock is held for one write or for the swap, never during a call elsewhere. Segments borrowed from the sender's
/// writers belong to whoever the ring beside them belongs to; their release is called under no lock.
/// </para>
/// <para>
/// Bytes count as sent when the receiver has taken their ring; borrowed ones when their owner has them back, as until then they bind the
/// owner's memory. What is left when the sender ends in order counts as sent, too: it stays here for the receiver, as it would in a
/// socket's buffers.
/// </para>
/// </summary>
internal sealed partial class LinkLane
{
    private readonly Lock _gate = new();
    private readonly InProcessConnection _sender;
    private readonly InProcessConnection _receiver;
    private readonly ConnectionSettings _settings;
    private readonly Lock _writers = new();
    private readonly WriteRing _loopWrite;
    private readonly WriteRing _othersWrite;
    private SendRing _filling;
    private long _written;
    private long _announced;
    private SizeEstimate _burst;
    private int _writes;
    private bool _final;
    private bool _outputDown;
    private bool _dropped;
    private volatile bool _ending;
    private volatile bool _closed;

    // What the receiver has to give back of what was borrowed, and whether the sender's end waits for that.
    private int _lent;
    private bool _awaited;

    /// <param name="sender">The end that writes.</param>
    /// <param name="receiver">The end that reads.</param>
    /// <param name="settings">The sender's.</param>
    public LinkLane(InProcessConnection sender, InProcessConnection receiver, ConnectionSettings settings)
    {
        _sender = sender;
        _receiver = receiver;
        _settings = settings;
        _loopWrite = new WriteRing(settings.MaxSendBytes, sender.SendPool);
        _othersWrite = new WriteRing(settings.MaxSendBytes, sender.SendPool);
        _filling = new SendRing(settings.MaxSendBytes, sender.SendPool);
        Reading = new SendRing(settings.MaxSendBytes, sender.SendPool);
    }

    public long BytesSent => Volatile.Read(ref _sent);

    public long PendingBytes => Volatile.Read(ref _written) - Volatile.Read(ref _sent);

    /// <summary>Whether the receiver has not taken all that was announced to it.</summary>
    public bool IsBlocked => Volatile.Read(ref _announced) > Volatile.Read(ref _sent);

    public ArrayPoolCircularBuffer? BeginWrite()
    {
        bool onLoop = _sender.IsOnLoop;
        if (!onLoop)
        {
            _writers.Enter();
        }

        _gate.Enter();
        if (_closed || _ending)
        {
            if (!onLoop)
            {
                _writers.Exit();
            }

            return Refuse();
        }

        // What is copied behind others needs no room of its own for a whole burst.
        int waiting = _filling.Ring.Length + _readyBytes;
        int expected = _filling.IsEmpty ? _burst.Expected : 0;
        _writes++;
        _gate.Exit();
        try
        {
            return (onLoop ? _loopWrite : _othersWrite).Begin(waiting, expected);
        }
        catch
        {
            // No memory: nothing was written, and nobody waits for it.
            EndWrite();
            throw;
        }
    }

    public void EndWrite() => EndWrite(unlessFinal: false, isFinal: false);

    /// <summary>As <see cref="EndWrite()"/>; false where a final write came first: then nothing was written, and nothing lent.</summary>
    public bool TryEndWrite() => EndWrite(unlessFinal: true, isFinal: false);

    /// <summary>Ends a write of the loop's, behind which <see cref="TryEndWrite"/> refuses.</summary>
    public void EndFinalWrite() => EndWrite(unlessFinal: false, isFinal: true);

    private bool EndWrite(bool unlessFinal, bool isFinal)
    {
        bool onLoop = _sender.IsOnLoop;
        WriteRing write = onLoop ? _loopWrite : _othersWrite;
        long bytes = write.Bytes;
        bool accepted = true;
        bool joined = true;
        bool ended;
        lock (_gate)
        {
            if (!write.IsEmpty)
            {
                accepted = !_closed && !(unlessFinal && _final);
                joined = accepted && TryJoin(write);
                Volatile.Write(ref _written, _written + (joined ? bytes : 0));
            }

            _final |= isFinal;
            ended = --_writes == 0 && _ending;
        }

        if (!joined)
        {
            write.Drop(unlessFinal && !accepted ? null : _sender.Release);
        }

        if (!onLoop)
        {
            write.Rest();
            _writers.Exit();
        }

        if (ended)
        {
            // The stream's end has waited for this write.
            EndBehindWrites();
        }

        if (accepted && !joined)
        {
            _sender.SendFault(new IOException($"There is no memory for {bytes} bytes to be sent."));
        }

        return accepted;
    }

    // Under the gate.
    private bool TryJoin(WriteRing write)
    {
        if (!_filling.IsEmpty && write.RingBytes >= InLineAtLeast)
        {
            // The receiver takes it as it lies.
            PutFillingInLine();
        }

        return write.TryJoin(ref _filling);
    }

    /// <summary>
    /// Appends bytes that stay where they are; false where there is no room, and then they stay the caller's. Within a write.
    /// </summary>
    public bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        WriteRing write = _sender.IsOnLoop ? _loopWrite : _othersWrite;
        lock (_gate)
        {
            return PendingBytes + write.Bytes + memory.Length <= _settings.MaxSendBytes && write.TryBorrow(memory, release, state);
        }
    }

    /// <summary>Before the loop rests, and at its end: gives back what its writes keep.</summary>
    public void RestLoopWrite() => _loopWrite.Rest();

    /// <summary>Announces what was written to the receiver, which takes it when it gets there.</summary>
    public void Flush()
    {
        long written = Volatile.Read(ref _written);
        long announced = Volatile.Read(ref _announced);
        while (written > announced && written != Volatile.Read(ref _sent))
        {
            // Never backwards: who announces more than this one signals that, too.
            long seen = Interlocked.CompareExchange(ref _announced, written, announced);
            if (seen == announced)
            {
                _receiver.Signal(PumpSignals.Bytes);
                return;
            }

            announced = seen;
        }
    }

    /// <summary>Ends this direction behind what was written. Later writes are refused.</summary>
    public void ShutDown()
    {
        lock (_gate)
        {
            _ending = true;
        }

        EndBehindWrites();
    }

    private void EndBehindWrites()
    {
        bool down;
        lock (_gate)
        {
            // With the receiver gone in order nothing is left to wait for.
            down = TryGoDown() || _receiverGone;
        }

        _receiver.Signal(PumpSignals.Bytes);
        _sender.SentSome();
        if (down)
        {
            _sender.OutputShutDown();
        }
    }

    /// <summary>
    /// The sender ends. Unless it has ended in order before, what was not taken is dropped and the receiver sees a reset. False where
    /// borrowed memory is still to come back: the receiver tells when it has.
    /// </summary>
    public bool CloseSender()
    {
        bool drop;
        bool back;
        lock (_gate)
        {
            _closed = true;
            IsReset |= !_outputDown;
            drop = IsReset && TryDrop();
            back = _lent == 0;
            _awaited = !back;
        }

        if (drop)
        {
            ReleaseUnsent();
        }

        _receiver.Signal(PumpSignals.Look);
        return back;
    }

    // Under the gate, which it leaves.
    private ArrayPoolCircularBuffer? Refuse()
    {
        bool toNobody = _receiverGone && !_ending;
        _gate.Exit();
        if (toNobody)
        {
            _sender.Lose();
        }

        return null;
    }

    // Under the gate. True once, when nothing is left that only the sender has: the caller owes the sender the news.
    private bool TryGoDown()
    {
        if (!_ending || _writes != 0 || _outputDown || _closed || _lent != 0 || Untaken.Any(static ring => ring.BorrowedCount != 0))
        {
            return false;
        }

        _outputDown = true;
        Interlocked.Add(ref _sent, Untaken.Sum(static ring => (long)ring.Ring.Length));
        return true;
    }

    // Under the gate. True for the first of both ends, which owes the unsent segments their release.
    private bool TryDrop()
    {
        if (_dropped)
        {
            return false;
        }

        _dropped = true;
        foreach (SendRing ring in Untaken.Concat(_spares ?? []))
        {
            ring.Ring.Dispose();
        }

        Volatile.Write(ref _written, Volatile.Read(ref _sent));
        return true;
    }

    // Outside the gate, after TryDrop: nobody writes any more.
    private void ReleaseUnsent()
    {
        foreach (SendRing ring in Untaken)
        {
            while (ring.TryDrop(out BorrowedSegments.Segment unsent))
            {
                _sender.Release(unsent);
            }
        }
    }
}
