using System.Runtime.CompilerServices;
using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports.InProcess;

/// <summary>
/// One direction of a link: two <see cref="SendRing"/>s, one that the sender's writers fill and one that the receiver reads. A burst is handed over by
/// swapping them, so the receiver reads the very array that was written to. Batches come in rings of their own, which wait in line before the one being
/// filled.
/// <para>
/// <see cref="_gate"/> guards what is written and not taken, the swap and the flags. The ring being read belongs to the receiver's pump, which alone swaps.
/// The lock is held for one write or for the swap, never during a call elsewhere. Segments borrowed from the sender's writers belong to whoever the ring
/// beside them belongs to; their release is called under no lock.
/// </para>
/// <para>
/// Bytes count as sent when the receiver has taken their ring; borrowed ones when their owner has them back, as until then they bind the owner's memory.
/// What is left when the sender ends in order counts as sent, too: it stays here for the receiver, as it would in a socket's buffers.
/// </para>
/// </summary>
internal sealed partial class LinkLane
{
    private readonly Lock _gate = new();
    private readonly InProcessConnection _sender;
    private readonly InProcessConnection _receiver;
    private readonly ConnectionSettings _settings;
    private readonly OthersWrite _others;
    private SendRing _filling;
    private long _writeStart;
    private long _written;
    private long _announced;
    private BurstSize _burst;
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
        _others = new OthersWrite(settings.MaxSendBytes, settings.Pool);
        _filling = new SendRing(settings.MaxSendBytes, settings.Pool);
        Reading = new SendRing(settings.MaxSendBytes, settings.Pool);
    }

    public long BytesSent => Volatile.Read(ref _sent);

    public long PendingBytes => Volatile.Read(ref _written) - Volatile.Read(ref _sent);

    /// <summary>Whether the receiver has not taken all that was announced to it.</summary>
    public bool IsBlocked => Volatile.Read(ref _announced) > Volatile.Read(ref _sent);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ArrayPoolCircularBuffer? BeginWrite()
    {
        if (!_sender.IsOnLoop)
        {
            return BeginOthersWrite();
        }

        _gate.Enter();
        if (_closed || _ending)
        {
            return Refuse();
        }

        ArrayPoolCircularBuffer ring = _filling.Ring;
        if (ring.Capacity == 0)
        {
            _filling.MakeRoom(_burst, _gate);
        }

        _writeStart = ring.WritePosition;
        return ring;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EndWrite()
    {
        if (_sender.IsOnLoop)
        {
            EndLoopWrite();
        }
        else
        {
            EndOthersWrite(unlessFinal: false);
        }
    }

    /// <summary>As <see cref="EndWrite"/>; false where a final write came first: then nothing was written, and nothing lent.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryEndWrite()
    {
        if (_sender.IsOnLoop)
        {
            EndLoopWrite();
            return true;
        }

        return EndOthersWrite(unlessFinal: true);
    }

    /// <summary>Ends a write of the loop's, behind which <see cref="TryEndWrite"/> of other threads refuses.</summary>
    public void EndFinalWrite()
    {
        _final = true;
        EndLoopWrite();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void EndLoopWrite()
    {
        Volatile.Write(ref _written, _written + (_filling.Ring.WritePosition - _writeStart));
        _gate.Exit();
    }

    private ArrayPoolCircularBuffer? BeginOthersWrite()
    {
        _others.Enter();
        _gate.Enter();
        if (_closed || _ending)
        {
            _others.Leave();
            return Refuse();
        }

        // What is copied behind others needs no room of its own for a whole burst.
        int waiting = _filling.Ring.Length;
        int expected = _filling.IsEmpty ? _burst.Expected : 0;
        _gate.Exit();
        return _others.Begin(waiting, expected);
    }

    private bool EndOthersWrite(bool unlessFinal)
    {
        long bytes = _others.Bytes;
        bool accepted = true;
        bool joined = true;
        if (bytes != 0 || _others.Ring.BorrowedCount != 0)
        {
            lock (_gate)
            {
                accepted = !(_closed || _ending) && !(unlessFinal && _final);
                joined = accepted && _others.TryJoin(ref _filling);
                Volatile.Write(ref _written, _written + (joined ? bytes : 0));
            }
        }

        if (!joined)
        {
            _others.Drop(unlessFinal && !accepted ? null : _sender.Release);
        }

        _others.Leave();
        if (accepted && !joined)
        {
            _sender.SendFault(new OutOfMemoryException($"There is no memory for {bytes} bytes to be sent."));
        }

        return accepted;
    }

    /// <summary>Appends bytes that stay where they are; false where there is no room, and then they stay the caller's. Between BeginWrite and EndWrite only.</summary>
    public bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        if (!_sender.IsOnLoop)
        {
            return TryBorrowForOthers(memory, release, state);
        }

        if (!_filling.TryBorrow(memory, release, state))
        {
            return false;
        }

        // EndWrite counts from here on: bytes beside the ring then cost it nothing.
        _writeStart -= memory.Length;
        return true;
    }

    private bool TryBorrowForOthers(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        lock (_gate)
        {
            long waiting = _filling.Ring.Length + _filling.BorrowedBytes;
            return waiting + _others.Bytes + memory.Length <= _settings.MaxSendBytes && _others.Ring.TryBorrow(memory, release, state);
        }
    }

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
        bool down;
        lock (_gate)
        {
            _ending = true;

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
    /// The sender ends. Unless it has ended in order before, what was not taken is dropped and the receiver sees a reset. False where borrowed memory is
    /// still to come back: the receiver tells when it has.
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
        if (!_ending || _outputDown || _closed || _lent != 0 || Untaken.Any(static ring => ring.BorrowedCount != 0))
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
