using System.Buffers;
using System.Net;
using FastPort.Buffers;

namespace FastPort.Connections;

/// <summary>
/// Bytes in and out, deadlines, counters and a stop: what every transport offers and every protocol builds on. It knows no message.
/// <para>
/// Reading belongs to the connection's loop, which makes all calls of the <see cref="Protocol"/>, one at a time. <see cref="Post"/> brings
/// other work there.
/// </para>
/// <para>
/// Writing is safe from any thread. Bytes leave in the order in which the writes ended: what one <see cref="EndWrite"/> has ended goes out
/// before what a later one ends, whichever threads wrote. Two writes may be under way at the same time, the loop's and that of one other
/// thread. A protocol that numbers its messages therefore takes a lock of its own, from its number to <see cref="EndWrite"/>.
/// </para>
/// <para>
/// A filter that changes the bytes on their way (encryption) is a protocol towards the transport and a connection towards the protocol
/// above it.
/// </para>
/// </summary>
public abstract class Connection
{
    // Far more than a chunk of a batch ever holds.

    private static long _lastId;
    private ArrayPoolCircularBuffer? _batch;

    // The place in the clock, the slot written before the chunk: null before and after, when there is nothing to visit.
    private ClockChunk? _clockChunk;
    private int _clockSlot;
    private readonly TaskCompletionSource<CloseReason> _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>A number unique in this process.</summary>
    public long Id { get; } = Interlocked.Increment(ref _lastId);

    /// <summary>The peer's address, where the transport has one.</summary>
    public abstract EndPoint? RemoteEndPoint { get; }

    /// <summary>The address on this side, where the transport has one.</summary>
    public abstract EndPoint? LocalEndPoint { get; }

    /// <summary>The protocol that reads and writes here; set by <see cref="Start"/>.</summary>
    public IConnectionProtocol? Protocol { get; private set; }

    /// <summary>Bytes received since the start.</summary>
    public abstract long BytesReceived { get; }

    /// <summary>Bytes handed to the operating system since the start.</summary>
    public abstract long BytesSent { get; }

    /// <summary>Bytes written here and not yet taken by the operating system.</summary>
    public abstract long PendingBytes { get; }

    /// <summary>
    /// Whether the operating system has refused to take more bytes for now: the peer does not read as fast as this side writes.
    /// </summary>
    public abstract bool IsSendBlocked { get; }

    /// <summary>Whether a close has begun; what is written from then on may be lost.</summary>
    public abstract bool IsClosing { get; }

    /// <summary>Why it closes; null as long as it does not, and where a filter does not say.</summary>
    internal virtual CloseReason? ClosingReason => null;

    /// <summary>
    /// Whether the present thread is the connection's loop, so that all calls of the protocol come on this thread, one after the other.
    /// </summary>
    public abstract bool IsOnLoop { get; }

    /// <summary>
    /// Runs a callback on the connection's loop: after the protocol's <see cref="IConnectionProtocol.OnOpened"/>, in order with the bursts
    /// and with what was posted before, also when nothing arrives. What it writes is flushed afterwards. It must not block; what it throws
    /// ends the connection, with a line in the log. Safe from any thread; with a static callback nothing is allocated.
    /// </summary>
    /// <param name="callback">Called once with <paramref name="state"/>.</param>
    /// <param name="state">Handed to <paramref name="callback"/>.</param>
    /// <returns>
    /// False where the connection has ended: then it is not called. With true it is called before
    /// <see cref="IConnectionProtocol.OnClosed"/>.
    /// </returns>
    public abstract bool Post(Action<object?> callback, object? state);

    /// <summary>
    /// As <see cref="Post"/>, after a delay: a timer for one call. It comes up to 2 ms late, more where the loop is busy. Timers cost
    /// nothing while none is set. A connection that has ended meanwhile does not call.
    /// </summary>
    /// <param name="delay">From zero on; of <see cref="ConnectionClock.Time"/>.</param>
    /// <param name="callback">Called once with <paramref name="state"/>, on the loop.</param>
    /// <param name="state">Handed to <paramref name="callback"/>.</param>
    public abstract void PostAfter(TimeSpan delay, Action<object?> callback, object? state);

    /// <summary>
    /// Between <see cref="BeginWrite"/> and <see cref="EndWrite"/>: whether this write is the loop's own, which excludes no other thread's.
    /// </summary>
    internal virtual bool IsLoopWrite => IsOnLoop;

    /// <summary>Where rings of this class's own get their arrays.</summary>
    internal virtual ArrayPool<byte> RingPool => ArrayPool<byte>.Shared;

    /// <summary>The most that a batch holds.</summary>
    internal virtual int BatchCapacity => 1024 * 1024;

    /// <summary>Bytes of the memory budget that are held for what was received; any thread, as the next two.</summary>
    internal virtual long ReceiveMemory => 0;

    /// <summary>The same for what is to be sent.</summary>
    internal virtual long SendMemory => 0;

    /// <summary>Since when bytes wait without the peer taking enough of them, in milliseconds of its clock; -1 where none wait.</summary>
    internal virtual long SendWaitsSince => -1;

    /// <summary>Who counts the connection; set before the start.</summary>
    internal IConnectionOwner? Owner { get; set; }

    /// <summary>Completes with the reason when the connection is over and all it held has been given back.</summary>
    public Task<CloseReason> Closed => _closed.Task;

    /// <summary>Plugs the protocol in and begins to read. Call once.</summary>
    /// <param name="protocol">The protocol of this connection.</param>
    public void Start(IConnectionProtocol protocol)
    {
        ArgumentNullException.ThrowIfNull(protocol);
        if (Protocol is not null)
        {
            throw new InvalidOperationException("The connection has been started already; a connection serves one protocol.");
        }

        Protocol = protocol;
        StartCore();
    }

    /// <summary>
    /// Begins to write: returns the ring to append to, or null when nothing can be sent any more. After a ring was returned,
    /// <see cref="EndWrite"/> must follow on the same thread, soon: other threads that write wait meanwhile, the loop does not. Does not
    /// nest.
    /// </summary>
    public abstract ArrayPoolCircularBuffer? BeginWrite();

    /// <summary>
    /// Appends bytes that are sent from where they lie, without a copy, behind what was written to the ring so far and before what is
    /// written to it from now on. Only between <see cref="BeginWrite"/> and <see cref="EndWrite"/>; the ring must not be rewound to before
    /// this point afterwards.
    /// <para>
    /// Ownership: with true the memory is lent and must stay unchanged until <paramref name="release"/> is called, which happens exactly
    /// once: when the operating system has taken all of it, or when the connection has ended, before <see cref="Closed"/> completes. With
    /// false it stays the caller's and <paramref name="release"/> is never called. Borrowed bytes count as <see cref="PendingBytes"/>.
    /// </para>
    /// </summary>
    /// <param name="memory">The bytes. Worth it from 16 KiB on; below, a copy is cheaper.</param>
    /// <param name="release">
    /// Called with <paramref name="state"/> on any thread, under no lock, after <see cref="EndWrite"/>, perhaps inside <see cref="Flush"/>.
    /// Must not block; what it throws is logged. Null where nobody needs to know.
    /// </param>
    /// <param name="state">Handed to <paramref name="release"/>.</param>
    /// <returns>
    /// False where ring and borrowed bytes together would exceed the ring's <see cref="ArrayPoolCircularBuffer.MaximumCapacity"/>.
    /// </returns>
    public abstract bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state);

    /// <summary>
    /// Lends a ring that the caller alone fills, on one thread, without excluding anybody: for many messages at once. What is written there
    /// is sent after <see cref="TryAppendBatch"/> only. To be given back with <see cref="EndBatch"/>.
    /// </summary>
    public virtual ArrayPoolCircularBuffer BeginBatch() =>
        Interlocked.Exchange(ref _batch, null) ?? new ArrayPoolCircularBuffer(4096, BatchCapacity, RingPool);

    /// <summary>
    /// Appends all bytes of a batch behind what was written so far and leaves it empty. Only between <see cref="BeginWrite"/> and
    /// <see cref="EndWrite"/>, with nothing written in between; the ring must not be written to afterwards. Without anything better a
    /// transport copies once.
    /// </summary>
    /// <param name="ring">From <see cref="BeginWrite"/>.</param>
    /// <param name="batch">From <see cref="BeginBatch"/>; may be another one, of the same state, afterwards.</param>
    /// <returns>False where there is no room; the batch is then as it was.</returns>
    public virtual bool TryAppendBatch(ArrayPoolCircularBuffer ring, ref ArrayPoolCircularBuffer batch)
    {
        if (!ring.TryReserve(batch.Length))
        {
            return false;
        }

        batch.GetReadableSpans(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
        ring.Write(first);
        ring.Write(second);
        batch.Consume(batch.Length);
        return true;
    }

    /// <summary>
    /// From how many bytes on a batch is appended without a copy, so that one message alone is better written into one. Defaults to none.
    /// </summary>
    internal virtual int BatchesInLineFrom => int.MaxValue;

    /// <summary>Gives a batch's ring back; bytes that were not appended are dropped.</summary>
    /// <param name="batch">From <see cref="BeginBatch"/>.</param>
    public virtual void EndBatch(ArrayPoolCircularBuffer batch)
    {
        batch.Consume(batch.Length);
        batch.TryReleaseWhenEmpty();
        Volatile.Write(ref _batch, batch);
    }

    /// <summary>Ends what <see cref="BeginWrite"/> began. The bytes leave with the next <see cref="Flush"/>.</summary>
    public abstract void EndWrite();

    /// <summary>
    /// As <see cref="EndWrite"/>, unless a final write has ended since this one began: then nothing was written, memory that was lent is
    /// the caller's again, and the result is false.
    /// </summary>
    internal virtual bool TryEndWrite()
    {
        EndWrite();
        return true;
    }

    /// <summary>
    /// As <see cref="EndWrite"/>, on the loop, for a message that others must not follow: from now on <see cref="TryEndWrite"/> refuses
    /// what other threads write.
    /// </summary>
    internal virtual void EndFinalWrite() => EndWrite();

    /// <summary>
    /// Hands what was written to the operating system, as much as it takes now; the rest follows by itself. Never blocks.
    /// During <see cref="IConnectionProtocol.OnReceived"/> it is not needed: the burst is flushed once at its end.
    /// </summary>
    public abstract void Flush();

    /// <summary>
    /// As <see cref="Flush"/>, for a loop that writes to another connection: where the transport gathers what its threads send, it leaves
    /// when this thread's present work is done.
    /// </summary>
    public virtual void FlushSoon() => Flush();

    /// <summary>
    /// Asks for one call of <see cref="IConnectionProtocol.OnOutputDrained"/> as soon as no more than this many bytes wait to be sent.
    /// There is one such notice at a time: a further call replaces it. For any number of waiters there is <see cref="WaitForRoomAsync"/>.
    /// </summary>
    /// <param name="pendingBytes">Low-water mark in bytes, 0 or more.</param>
    public abstract void NotifyWhenDrained(long pendingBytes);

    /// <summary>
    /// Flushes, and completes when no more than <paramref name="lowWater"/> bytes wait to be sent, or the connection closes. Safe from any
    /// thread, with any number of waiters; it allocates nothing where there is room. Not to be awaited on the connection's loop, which
    /// would have to send meanwhile. A filter passes it on to the connection below.
    /// </summary>
    /// <remarks>
    /// With it a message of any length is sent piece by piece while only little of it is in memory:
    /// <code>
    /// while (source.TryTake(Piece, out ReadOnlyMemory&lt;byte&gt; piece))
    /// {
    ///     if (!await connection.WaitForRoomAsync(LowWater, cancellationToken) || connection.BeginWrite() is not { } ring)
    ///     {
    ///         return false; // The connection closes: nothing can be sent any more.
    ///     }
    ///
    ///     try
    ///     {
    ///         ring.Write(piece.Span);
    ///     }
    ///     finally
    ///     {
    ///         connection.EndWrite();
    ///     }
    ///
    ///     connection.Flush();
    /// }
    /// </code>
    /// A low-water mark and a piece for each writer together must fit <see cref="ConnectionSettings.MaxSendBytes"/>: several writers may
    /// find room at the same time. Where others may write between two pieces, the protocol numbers its pieces, or lets one message be under
    /// way at a time.
    /// </remarks>
    /// <param name="lowWater">Bytes, 0 or more.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <returns>True where there is room; false where the connection is closing or over, so that nothing can be written any more.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="lowWater"/> is negative.</exception>
    /// <exception cref="OperationCanceledException">The token was canceled before.</exception>
    public abstract ValueTask<bool> WaitForRoomAsync(long lowWater, CancellationToken cancellationToken = default);

    /// <summary>Goes on reading after <see cref="ReceiveOutcome.Pause"/>. Safe from any thread, at any time, also needlessly.</summary>
    public abstract void ResumeReading();

    /// <summary>
    /// Closes in order: what is written goes out, the send side is shut down, input is drained for a bounded time so that the peer gets the
    /// last bytes instead of a reset, then the connection ends. Always ends. Safe from any thread; the first reason given stays.
    /// </summary>
    /// <param name="reason">Why.</param>
    public abstract void Close(CloseReason reason);

    /// <summary>Ends the connection now; what waits to be sent is dropped. Safe from any thread; the first reason given stays.</summary>
    /// <param name="reason">Why.</param>
    public abstract void Abort(CloseReason reason);

    /// <summary>
    /// Has the clock's next tick ask this connection and its protocol, whatever they answered to the last one. To be called after the
    /// change that the tick shall see. <see cref="Flush"/>, every burst and <see cref="Close"/> do so by themselves. Safe from any thread,
    /// and cheap. A filter passes it on to the connection below.
    /// </summary>
    public virtual void RequestTick() => Volatile.Read(ref _clockChunk)?.Request(_clockSlot);

    /// <summary>Begins to read, after <see cref="Protocol"/> was set. Does nothing on a connection that was aborted before.</summary>
    protected abstract void StartCore();

    /// <summary>
    /// The clock's, on its thread: checks the deadlines of this layer, and where it is time for the protocol's has the loop call it.
    /// </summary>
    /// <param name="nowMilliseconds">The clock's reading in milliseconds.</param>
    /// <param name="requested">Whether <see cref="RequestTick"/> was called since the last tick.</param>
    /// <returns>As <see cref="IConnectionProtocol.OnTick"/>.</returns>
    internal virtual long Tick(long nowMilliseconds, bool requested) => ConnectionClock.Never;

    /// <summary>The loop's: the protocol's next deadline, of which the clock learns between its visits.</summary>
    internal void TickAt(long dueMilliseconds)
    {
        if (dueMilliseconds != ConnectionClock.Never)
        {
            Volatile.Read(ref _clockChunk)?.Lower(_clockSlot, dueMilliseconds);
        }
    }

    /// <summary>The clock's: where the connection is from now on.</summary>
    internal void EnterClock(ClockChunk chunk, int slot)
    {
        _clockSlot = slot;
        Volatile.Write(ref _clockChunk, chunk);
    }

    /// <summary>The clock's: the place to be given back; null where there is none.</summary>
    internal ClockChunk? LeaveClock(out int slot)
    {
        slot = _clockSlot;
        return Interlocked.Exchange(ref _clockChunk, null);
    }

    /// <summary>Reports the end, once; to be called by the transport as its last act.</summary>
    /// <param name="reason">Why.</param>
    protected void CompleteClosed(CloseReason reason)
    {
        Owner?.OnEnded();
        _closed.TrySetResult(reason);
    }
}
