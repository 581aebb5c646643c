using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>
/// What was written to a connection and was not taken to be sent: rings, in the order in which the writes ended. Each transport adds how
/// they are taken.
/// <para>
/// A thread writes to a ring of its own: the connection's loop to <see cref="_loopRing"/>, other threads in turns, by
/// <see cref="_writers"/>, to <see cref="_othersRing"/>. When the write ends the ring joins the queue, under <see cref="Gate"/>: copied
/// behind the last ring where it is small, else as it lies, with a spare in its place. So the gate is not held while a body is encoded: a
/// thread that stops in the middle of a write holds up other writers, but neither the loop nor whoever sends.
/// </para>
/// <para>
/// The event loops write beside the queue without a lock (<see cref="Epoll.EpollOutput"/>). There a ring in the queue has the number of
/// bytes that the loop had written when it joined: so many of the loop's bytes go out before it.
/// </para>
/// <para>
/// Order of locks: <see cref="_writers"/>, then <see cref="Gate"/>. No code of others runs under the gate but the array pool's.
/// </para>
/// </summary>
internal abstract class SendQueue(TransportConnection connection, ConnectionSettings settings)
{
    /// <summary>A longer write joins the queue in the ring it was written to.</summary>
    public const int CopyAtMost = 32 * 1024;

    // A ring that holds more takes no copies: one send takes about as much.
    private const int FullRing = 64 * 1024;

    private readonly Lock _writers = new();

    // Guarded by the gate from here on; the volatile ones are read without it, too.
    private readonly Queue<SendRing> _waiting = new();
    private readonly Stack<SendRing> _spares = new();
    private SendRing? _last;
    private SizeEstimate _burst;
    private int _ringBytes;
    private bool _final;
    private volatile int _count;
    private volatile int _writes;
    private volatile bool _ending;
    private volatile bool _closed;
    private long _queued;

    // Each the writer's, from the beginning to the end of its write.
    private SendRing? _loopRing;
    private SendRing? _othersRing;

    private long _loopBytes;

    /// <summary>Bytes written so far and not dropped.</summary>
    public long Written => Volatile.Read(ref _loopBytes) + Volatile.Read(ref _queued);

    /// <summary>Whether no more bytes are accepted and the stream ends behind those that were.</summary>
    public bool IsEnding => _ending;

    /// <summary>Whether a write to the queue is under way; once <see cref="IsEnding"/> none begins.</summary>
    public bool HasWriter => _writes != 0;

    /// <summary>Calls a segment's release; made once.</summary>
    public Action<BorrowedSegments.Segment> Release { get; } = connection.Release;

    /// <summary>Guards what waits, and the flags of the send side.</summary>
    protected Lock Gate { get; } = new();

    /// <summary>Whether a thread that is not the loop writes; exact for the thread that does.</summary>
    protected bool IsOtherWriting { get; private set; }

    /// <summary>Whether no more bytes are accepted, and those that were accepted are not sent either.</summary>
    protected bool IsClosed => _closed;

    /// <summary>Whether nothing waits.</summary>
    protected bool IsEmpty => _count == 0;

    /// <summary>What waits; under the gate.</summary>
    protected IReadOnlyCollection<SendRing> Waiting => _waiting;

    /// <summary>Bytes that the loop has written beside the queue. Written by the loop alone.</summary>
    protected long LoopBytes
    {
        get => Volatile.Read(ref _loopBytes);
        set => Volatile.Write(ref _loopBytes, value);
    }

    public ArrayPoolCircularBuffer? BeginWrite(bool onLoop)
    {
        if (!onLoop)
        {
            _writers.Enter();
        }

        SendRing? ring = null;
        int expected = 0;
        lock (Gate)
        {
            if (!_closed && !_ending)
            {
                ring = Own(onLoop) ??= SpareOrNew();
                ring.Ring.LimitTo(Math.Max(settings.MaxSendBytes - _ringBytes, 0));
                _writes++;

                // Only the loop writes in bursts, and what is copied behind others needs no room for one. A batch that takes the place of
                // another thread's ring would leave it an array beside the one that is sent just then and is warm.
                expected = onLoop && _last is null ? _burst.Expected : 0;
            }
        }

        if (!onLoop)
        {
            IsOtherWriting = ring is not null;
            if (ring is null)
            {
                _writers.Exit();
            }
        }

        try
        {
            ring?.Ring.TryMakeRoom(expected);
            return ring?.Ring;
        }
        catch
        {
            // No memory: the writer learns of it, and nobody waits for it.
            EndWrite(onLoop);
            throw;
        }
    }

    /// <summary>Ends a write. False where it was refused: then nothing was written.</summary>
    /// <param name="onLoop">As told to <see cref="BeginWrite"/>.</param>
    /// <param name="unlessFinal">Refuses it where a final write came first; memory that was lent is the caller's again then.</param>
    /// <param name="isFinal">Whether this is the final one.</param>
    public bool EndWrite(bool onLoop, bool unlessFinal = false, bool isFinal = false)
    {
        ref SendRing? own = ref Own(onLoop);
        bool accepted;
        bool wasAwaited;
        lock (Gate)
        {
            accepted = own!.IsEmpty || (!_closed && !(unlessFinal && _final));
            if (accepted && !own.IsEmpty)
            {
                Append(ref own);
            }

            _final |= isFinal;
            wasAwaited = --_writes == 0 && _ending;
        }

        if (!accepted)
        {
            own.Drop(unlessFinal ? static _ => { } : Release);
        }

        if (!onLoop)
        {
            own.Ring.TryReleaseWhenEmpty();
            IsOtherWriting = false;
            _writers.Exit();
        }

        if (wasAwaited)
        {
            LastWriteEnded();
        }

        return accepted;
    }

    /// <inheritdoc cref="Connection.TryWriteBorrowed"/>
    public bool TryWriteBorrowed(bool onLoop, ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        SendRing own = Own(onLoop)!;
        return connection.PendingBytes + own.Bytes + memory.Length <= settings.MaxSendBytes && own.TryBorrow(memory, release, state);
    }

    /// <summary>Writes a batch by taking its ring. Within a write that has written nothing; false where there is no room.</summary>
    public bool TryAppendBatch(bool onLoop, ref ArrayPoolCircularBuffer batch)
    {
        if (connection.PendingBytes + batch.Length > settings.MaxSendBytes)
        {
            return false;
        }

        SendRing own = Own(onLoop)!;
        own.Ring.LimitTo(settings.MaxSendBytes);
        batch = own.Exchange(batch);
        return true;
    }

    /// <summary>Before the loop waits, and at its end: gives back the array that its writes keep.</summary>
    public void ReleaseWhenIdle() => _loopRing?.Ring.TryReleaseWhenEmpty();

    /// <summary>The stream ends, and the write that it has waited for has ended.</summary>
    protected abstract void LastWriteEnded();

    /// <summary>From now on writes end as <c>unlessFinal</c> says.</summary>
    protected void SetFinal()
    {
        lock (Gate)
        {
            _final = true;
        }
    }

    /// <summary>Accepts no more bytes; those that were accepted are still sent.</summary>
    public void End()
    {
        lock (Gate)
        {
            _ending = true;
        }
    }

    /// <summary>Accepts no more bytes; those that were accepted are not sent either.</summary>
    public void Close()
    {
        lock (Gate)
        {
            _closed = true;
        }
    }

    /// <summary>
    /// Takes the first ring; null where there is none, or more of the loop's bytes go out before it. A write that had ended before the
    /// loop's last one began is found, if <see cref="LoopBytes"/> was read before.
    /// </summary>
    /// <param name="sentByLoop">Up to where the loop's bytes may be sent before it.</param>
    public SendRing? Take(long sentByLoop = long.MaxValue)
    {
        if (_count == 0)
        {
            return null;
        }

        lock (Gate)
        {
            if (!_waiting.TryPeek(out SendRing? first) || first.After > sentByLoop)
            {
                return null;
            }

            _waiting.Dequeue();
            _last = _waiting.Count == 0 ? null : _last;
            _count--;
            _ringBytes -= first.Ring.Length;
            _burst.Saw(first.Ring.Length);
            return first;
        }
    }

    /// <summary>Takes back a ring of <see cref="Take"/> that is empty.</summary>
    /// <param name="sent">The ring.</param>
    /// <param name="keepArray">
    /// Leaves its array to the next writer, until <see cref="ReleaseSpares"/>. Otherwise that goes to the pool: an idle connection holds
    /// none, and the next burst of any connection gets a warm one.
    /// </param>
    public void Return(SendRing sent, bool keepArray = false)
    {
        if (!keepArray)
        {
            sent.Ring.TryReleaseWhenEmpty();
        }

        lock (Gate)
        {
            _spares.Push(sent);
        }
    }

    /// <summary>Gives back the arrays that returned rings have kept.</summary>
    protected void ReleaseSpares()
    {
        lock (Gate)
        {
            foreach (SendRing spare in _spares)
            {
                spare.Ring.TryReleaseWhenEmpty();
            }
        }
    }

    /// <summary>Drops what waits, and releases what was lent of it; under no lock, after <see cref="Close"/>.</summary>
    /// <param name="taken">A ring that was taken and not sent, or not all of it.</param>
    /// <param name="countAsSent">Whether the bytes are counted as sent already.</param>
    protected void DropWaiting(SendRing? taken, bool countAsSent = false)
    {
        SendRing[] dropped;
        lock (Gate)
        {
            dropped = taken is null ? [.. _waiting] : [taken, .. _waiting];
            _waiting.Clear();
            _last = null;
            _count = 0;
            _ringBytes = 0;
            Volatile.Write(ref _queued, _queued - (countAsSent ? 0 : dropped.Sum(static ring => ring.Bytes)));
        }

        foreach (SendRing ring in dropped)
        {
            ring.Drop(Release);
        }
    }

    private ref SendRing? Own(bool onLoop) => ref onLoop ? ref _loopRing : ref _othersRing;

    // Under the gate. Leaves an empty ring in the writer's hands.
    private void Append(ref SendRing ring)
    {
        long after = Volatile.Read(ref _loopBytes);
        long bytes = ring.Bytes;
        _ringBytes += ring.Ring.Length;
        if (_last is not { } last || last.After != after || ring.Ring.Length > CopyAtMost || last.Ring.Length > FullRing
            || !ring.TryMoveTo(last))
        {
            ring.Ring.LimitTo(settings.MaxSendBytes);
            ring.After = after;
            _waiting.Enqueue(ring);
            _last = ring;
            _count++;
            ring = SpareOrNew();
        }

        Volatile.Write(ref _queued, _queued + bytes);
    }

    // Under the gate.
    private SendRing SpareOrNew() =>
        _spares.TryPop(out SendRing? spare) ? spare : new SendRing(settings.MaxSendBytes, connection.SendPool);
}
