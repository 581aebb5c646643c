using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>
/// The written bytes of a connection that were not yet taken to be sent: a queue of rings, in the order in which the writes ended. Each
/// transport adds how the rings are taken.
/// <para>
/// Each writer has its own ring: the connection's loop writes to <see cref="_loopRing"/>; other threads write one at a time, under
/// <see cref="_writers"/>, to <see cref="_othersRing"/>. At the end of a write the ring joins the queue, under <see cref="Gate"/>: a small
/// ring is copied behind the last ring, a larger one is enqueued itself and replaced by a spare. The gate is not held while a body is
/// encoded: a thread that stops in the middle of a write blocks other writers, but neither the loop nor the sender.
/// </para>
/// <para>
/// The event loops also write without a lock, past the queue (<see cref="Epoll.EpollOutput"/>). A queued ring therefore records how many
/// bytes the loop had written when the ring joined: that many of the loop's bytes are sent before it. While the queue is long the loop
/// writes to it, too, so that two threads that write in turns do not make a ring of each small write.
/// </para>
/// <para>
/// Lock order: <see cref="_writers"/>, then <see cref="Gate"/>. Under the gate the only foreign code that runs is the array pool.
/// </para>
/// </summary>
internal abstract partial class SendQueue(TransportConnection connection, ConnectionSettings settings)
{
    /// <summary>The largest write, in bytes, that is copied behind the last ring; a longer one is enqueued in its own ring.</summary>
    public const int CopyAtMost = 32 * 1024;

    // Nothing is copied behind a ring that holds more: one send takes about this much.
    private const int FullRing = 64 * 1024;

    // A writer past the queue that finds so many rings joins it: each of its writes would keep the next ring from being copied.
    private const int ManyRings = 16;

    private readonly Lock _writers = new();

    // The following fields are guarded by the gate; the volatile ones are also read without it.
    private SendRing? _first;
    private SendRing? _last;
    private SendRing? _spares;
    private SizeEstimate _burst;
    private int _ringBytes;
    private bool _final;
    private volatile int _count;
    private volatile int _writes;
    private volatile bool _ending;
    private volatile bool _closed;
    private long _queued;

    // Each ring belongs to its writer from the beginning to the end of a write.
    private SendRing? _loopRing;
    private SendRing? _othersRing;

    private long _loopBytes;
    private long _sent;
    private long _calls;

    /// <summary>Bytes that have left the connection.</summary>
    public virtual long BytesSent => Volatile.Read(ref _sent);

    /// <summary>
    /// Bytes written and not sent. Bytes that are written and sent in the meantime count as pending; the number is never negative.
    /// </summary>
    public virtual long PendingBytes => -Volatile.Read(ref _sent) + Written;

    /// <summary>Send calls to the operating system, failed ones included.</summary>
    public long SendCalls => Volatile.Read(ref _calls);

    /// <summary>Bytes written so far and not dropped.</summary>
    public long Written => Volatile.Read(ref _loopBytes) + Volatile.Read(ref _queued);

    /// <summary>Whether no more bytes are accepted and the stream ends after the accepted ones.</summary>
    public bool IsEnding => _ending;

    /// <summary>Whether a write to the queue is in progress; once <see cref="IsEnding"/> is set no write begins.</summary>
    public bool HasWriter => _writes != 0;

    /// <summary>Guards the queue and the flags of the send side.</summary>
    protected Lock Gate { get; } = new();

    /// <summary>Whether a thread other than the loop writes; exact only on that thread.</summary>
    protected bool IsOtherWriting { get; private set; }

    /// <summary>Whether no more bytes are accepted and the accepted ones are no longer sent.</summary>
    protected bool IsClosed => _closed;

    /// <summary>Whether the queue is empty.</summary>
    protected bool IsEmpty => _count == 0;

    protected TransportConnection Connection => connection;

    /// <summary>Whether the queue is long.</summary>
    protected bool IsLong => _count >= ManyRings;

    /// <summary>The queued rings; read under the gate.</summary>
    protected IEnumerable<SendRing> Waiting
    {
        get
        {
            for (SendRing? ring = _first; ring is not null; ring = ring.NextRing)
            {
                yield return ring;
            }
        }
    }

    /// <summary>Bytes of rings that count against the limit of a write; read under the gate.</summary>
    protected virtual long Ahead => _ringBytes;

    /// <summary>Bytes that the loop has written past the queue. Only the loop writes this.</summary>
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
                ring.Ring.LimitTo((int)Math.Max(settings.MaxSendBytes - Ahead, 0));
                _writes++;

                // Only the loop writes in bursts, and a write that is copied behind another ring needs no room for one. For another
                // thread's ring, which a batch may replace, an array rented here would stay unused next to the warm one that is being sent.
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
            // No memory: the writer gets the exception, and the write is ended so that no thread waits for it.
            EndWrite(onLoop);
            throw;
        }
    }

    /// <summary>Ends a write. False if the write was refused: then nothing was written.</summary>
    /// <param name="onLoop">The same value as for <see cref="BeginWrite"/>.</param>
    /// <param name="unlessFinal">Refuses the write if a final write came first; borrowed memory then belongs to the caller again.</param>
    /// <param name="isFinal">Whether this is the final write.</param>
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

        SendRing written = own;
        if (!accepted && unlessFinal)
        {
            written.Drop(releaser: null);
        }

        if (!onLoop)
        {
            own.Ring.TryReleaseWhenEmpty();
            IsOtherWriting = false;
            _writers.Exit();
        }

        if (!accepted && !unlessFinal)
        {
            // The connection has ended, so no write gets this ring any more. Its releases are called under no lock.
            written.Drop(connection);
        }

        if (wasAwaited)
        {
            Ending();
        }

        return accepted;
    }

    /// <inheritdoc cref="Connection.TryWriteBorrowed"/>
    public bool TryWriteBorrowed(bool onLoop, ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        SendRing own = Own(onLoop)!;
        return connection.PendingBytes + own.Bytes + memory.Length <= settings.MaxSendBytes && own.TryBorrow(memory, release, state);
    }

    /// <summary>
    /// Writes a batch by exchanging its ring with the writer's. Called within a write that has written nothing; false if there is no room.
    /// </summary>
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

    /// <summary>
    /// Writes bytes that are sent without a frame around them, between two frames of a connection that has a <see cref="WireFormat"/>.
    /// Ignored after <see cref="Close"/>. Safe from any thread, also while another thread writes.
    /// </summary>
    public void WriteUnframed(ReadOnlySpan<byte> bytes)
    {
        lock (Gate)
        {
            if (!_closed)
            {
                var ring = new SendRing(settings.MaxSendBytes, connection.SendPool, bytes.Length) { IsUnframed = true };
                ring.Ring.Write(bytes);
                Enqueue(ring);
                connection.Wire?.CountUnframed(bytes.Length);
            }
        }
    }

    /// <summary>Returns the array that the loop's writes keep. Called before the loop waits, and when it ends.</summary>
    public void ReleaseWhenIdle() => _loopRing?.Ring.TryReleaseWhenEmpty();

    /// <summary>The stream is ending: called when that begins, and when the last write in progress then has ended.</summary>
    protected abstract void Ending();

    /// <summary>Called by the sender. A full fence.</summary>
    protected void CountSent(long bytes) => Interlocked.Add(ref _sent, bytes);

    /// <summary>Takes bytes that were sent from their ring, and counts them. Called by the sender. A full fence.</summary>
    protected void TakeSent(SendRing ring, int bytes)
    {
        ring.TakeSent(bytes, connection);
        CountSent(bytes);
    }

    /// <summary>Called by the sender before a send call.</summary>
    protected void CountSendCall() => Volatile.Write(ref _calls, _calls + 1);

    /// <summary>
    /// Adds the last frame to the queue. Called by the sender when all bytes are sent and no more can be written.
    /// </summary>
    /// <returns>True once; false if the connection has no frames.</returns>
    protected bool TryEndFrames()
    {
        Span<byte> end = stackalloc byte[WireFormat.MaxEnd];
        if (connection.Wire is not { } wire || !wire.TryEnd(end, out int length))
        {
            return false;
        }

        WriteUnframed(end[..length]);
        return true;
    }

    /// <summary>From now on writes that end with <c>unlessFinal</c> are refused.</summary>
    protected void SetFinal()
    {
        lock (Gate)
        {
            _final = true;
        }
    }

    /// <summary>Accepts no more bytes; the accepted ones are still sent, then this side of the stream ends.</summary>
    public void ShutDown()
    {
        lock (Gate)
        {
            _ending = true;
        }

        Ending();
    }

    /// <summary>Accepts no more bytes; the accepted ones are no longer sent.</summary>
    public void Close()
    {
        lock (Gate)
        {
            _closed = true;
        }
    }

    private ref SendRing? Own(bool onLoop) => ref onLoop ? ref _loopRing : ref _othersRing;
}
