using System.Buffers;
using System.Net;

namespace FastPort.Connections;

/// <summary>
/// Receives and sends bytes, with deadlines, counters and an ordered close. Every transport implements it and every protocol uses it. It
/// does not know messages.
/// <para>
/// The connection's loop reads and makes all calls of the <see cref="Protocol"/>, one at a time. <see cref="Post"/> runs other work on the
/// loop.
/// </para>
/// <para>
/// Writing is safe from any thread. Bytes are sent in the order in which the writes ended: the bytes of one <see cref="EndWrite"/> precede
/// the bytes of a later one, whichever threads wrote. Two writes can be in progress at the same time: the loop's and that of one other
/// thread. A protocol that numbers its messages therefore holds its own lock from the assignment of the number to <see cref="EndWrite"/>.
/// </para>
/// <para>
/// A filter that transforms the bytes (encryption) is a protocol for the transport and a connection for the protocol above it.
/// </para>
/// </summary>
public abstract class Connection
{
    private static long _lastId;

    // Written by DrainNotices alone. Fields of the connection, because senders read the mark with each message.
    internal long AwaitedMark = -1;
    internal long SentBeforeWaits;

    private ArrayPoolCircularBuffer? _batch;

    // The connection's place in the clock. The slot is written before the chunk; the chunk is null while the clock does not hold the
    // connection.
    private ClockChunk? _clockChunk;
    private int _clockSlot;

    // Made for the first that asks, or at the end.
    private TaskCompletionSource<CloseReason>? _closed;

    /// <summary>A number unique in this process.</summary>
    public long Id { get; } = Interlocked.Increment(ref _lastId);

    /// <summary>The peer's address; null if the transport has none.</summary>
    public abstract EndPoint? RemoteEndPoint { get; }

    /// <summary>The local address; null if the transport has none.</summary>
    public abstract EndPoint? LocalEndPoint { get; }

    /// <summary>
    /// The process at the other end of a Unix socket, as the kernel reports it; null for other connections, and on systems other than
    /// Linux. A filter passes the call to the connection below.
    /// </summary>
    public virtual UnixPeer? UnixPeer => null;

    /// <summary>
    /// The result of the TLS handshake, with the peer's certificate; null if the connection is not encrypted. A filter passes the call to
    /// the connection below.
    /// </summary>
    public virtual TlsInfo? Tls => null;

    /// <summary>The protocol of this connection; set by <see cref="Start"/>.</summary>
    public IConnectionProtocol? Protocol { get; private set; }

    /// <summary>Bytes received since the start.</summary>
    public abstract long BytesReceived { get; }

    /// <summary>
    /// Frames of the wire that brought nothing to the protocol, and bytes of the wire that it does not see because nobody needs them: a
    /// protocol charges its peer for them. Read on the loop.
    /// </summary>
    internal virtual (long Frames, long Bytes) ReceivedWithoutData => default;

    /// <summary>Bytes that the operating system has taken since the start.</summary>
    public abstract long BytesSent { get; }

    /// <summary>Bytes written that the operating system has not taken yet.</summary>
    public abstract long PendingBytes { get; }

    /// <summary>
    /// Whether the operating system has refused to take more bytes for now: the peer reads more slowly than this side writes.
    /// </summary>
    public abstract bool IsSendBlocked { get; }

    /// <summary>Whether a close has begun; bytes written from then on may be lost.</summary>
    public abstract bool IsClosing { get; }

    /// <summary>The reason of the close; null while the connection is open, and for a filter that does not override it.</summary>
    internal virtual CloseReason? ClosingReason => null;

    /// <summary>Whether the calling thread is the connection's loop, which makes all calls of the protocol, one at a time.</summary>
    public abstract bool IsOnLoop { get; }

    /// <summary>
    /// Runs a callback on the connection's loop: after the protocol's <see cref="IConnectionProtocol.OnOpened"/>, between bursts, in the
    /// order of the posts, also when no bytes arrive. The loop flushes what the callback writes. The callback must not block; an exception
    /// is logged and ends the connection. Safe from any thread; with a static callback nothing is allocated.
    /// </summary>
    /// <param name="callback">Called once with <paramref name="state"/>.</param>
    /// <param name="state">Passed to <paramref name="callback"/>.</param>
    /// <returns>
    /// False if the connection has ended: the callback is not called. If true, the callback is called before
    /// <see cref="IConnectionProtocol.OnClosed"/>.
    /// </returns>
    public abstract bool Post(Action<object?> callback, object? state);

    /// <summary>
    /// As <see cref="Post"/>, after a delay: a one-shot timer. The call is up to 2 ms late, more if the loop is busy. Timers cost nothing
    /// while none is set. If the connection ends before the delay has passed, the callback is not called; the timer keeps the connection in
    /// memory until then, so <see cref="IConnectionProtocol.OnTick"/> is better for deadlines that are minutes away.
    /// </summary>
    /// <param name="delay">Zero or more, measured by <see cref="ConnectionClock.Time"/>.</param>
    /// <param name="callback">Called once with <paramref name="state"/>, on the loop.</param>
    /// <param name="state">Passed to <paramref name="callback"/>.</param>
    public abstract void PostAfter(TimeSpan delay, Action<object?> callback, object? state);

    /// <summary>
    /// Between <see cref="BeginWrite"/> and <see cref="EndWrite"/>: whether this write is the loop's, which does not exclude the write of
    /// another thread.
    /// </summary>
    internal virtual bool IsLoopWrite => IsOnLoop;

    /// <summary>
    /// The pool for parts of unfinished messages that a protocol keeps outside the ring. Rented arrays count toward the server's memory
    /// budget until they are returned, above 64 KiB per connection, as queued requests do. So a protocol that collects the parts of
    /// messages stays within the budget. Safe from any thread, also after the end of the connection. A filter passes the call to the
    /// connection below. Defaults to <see cref="ArrayPool{T}.Shared"/>, whose arrays do not count.
    /// </summary>
    public virtual ArrayPool<byte> MessagePool => ArrayPool<byte>.Shared;

    /// <summary>The pool of the rings that this class creates.</summary>
    internal virtual ArrayPool<byte> RingPool => ArrayPool<byte>.Shared;

    /// <summary>Maximum number of bytes of a batch.</summary>
    internal virtual int BatchCapacity => 1024 * 1024;

    /// <summary>
    /// Bytes of the memory budget that received bytes and unfinished messages hold. Safe from any thread, as the next two members.
    /// </summary>
    internal virtual long ReceiveMemory => 0;

    /// <summary>Bytes of the memory budget that bytes to be sent hold.</summary>
    internal virtual long SendMemory => 0;

    /// <summary>Time since which the peer has read too few of the pending bytes, in milliseconds of the clock; -1 if none wait.</summary>
    internal virtual long SendWaitsSince => -1;

    /// <summary>
    /// Whether bytes of the peer have arrived but were not received yet: this side is behind, and the peer is not silent. Read on the loop
    /// before a connection is closed for silence.
    /// </summary>
    internal virtual bool HasUnreadInput => false;

    /// <summary>The server that counts the connection; set before the start.</summary>
    internal IConnectionOwner? Owner { get; set; }

    /// <summary>Completes with the reason when the connection has ended and has released all of its memory.</summary>
    public Task<CloseReason> Closed => ClosedSource.Task;

    /// <summary>Sets the protocol and begins to read. Call once.</summary>
    /// <param name="protocol">The protocol of this connection.</param>
    public void Start(IConnectionProtocol protocol)
    {
        ArgumentNullException.ThrowIfNull(protocol);
        if (Protocol is IConnectionPreamble && IsOnLoop)
        {
            // From within OnOpened of the preamble, which has read nothing.
            Protocol = protocol;
            protocol.OnOpened(this);
            return;
        }

        if (Protocol is IConnectionPreamble)
        {
            // If the connection has ended, the preamble was notified; this protocol is never opened.
            Post(
                static state =>
                {
                    var (connection, next) = ((Connection, IConnectionProtocol))state!;
                    connection.Protocol = next;
                    next.OnOpened(connection);
                    connection.RequestTick();
                    connection.ResumeReading();
                },
                (this, protocol));
            return;
        }

        if (Protocol is not null)
        {
            throw new InvalidOperationException("The connection was already started; a connection serves one protocol.");
        }

        Protocol = protocol;
        StartCore();
    }

    /// <summary>
    /// Begins a write: returns the ring to append to, or null if nothing can be sent any more. If a ring was returned, the same thread must
    /// call <see cref="EndWrite"/> soon: other threads that write wait for it, the loop does not. Writes do not nest.
    /// </summary>
    public abstract ArrayPoolCircularBuffer? BeginWrite();

    /// <summary>
    /// Appends bytes without a copy: the connection sends them from <paramref name="memory"/>, after the bytes written to the ring so far
    /// and before the bytes written to it later. Call it only between <see cref="BeginWrite"/> and <see cref="EndWrite"/>; do not rewind
    /// the ring to before this point afterwards.
    /// <para>
    /// Ownership: if the result is true, the connection borrows the memory, which must stay unchanged until <paramref name="release"/> is
    /// called. It is called exactly once: when the operating system has taken all bytes, or when the connection has ended, before
    /// <see cref="Closed"/> completes or, where this write ends later, by <see cref="EndWrite"/>. If the result is false, the memory stays
    /// the caller's and <paramref name="release"/> is never called. Borrowed bytes count as <see cref="PendingBytes"/>.
    /// </para>
    /// </summary>
    /// <param name="memory">The bytes. Below 16 KiB a copy is cheaper.</param>
    /// <param name="release">
    /// Called with <paramref name="state"/> on any thread, under no lock, after <see cref="EndWrite"/>, possibly inside
    /// <see cref="Flush"/>. Must not block; an exception is logged. Null for no call.
    /// </param>
    /// <param name="state">Passed to <paramref name="release"/>.</param>
    /// <returns>
    /// False if it does not fit: with the bytes of this write and all bytes that wait to be sent it would exceed
    /// <see cref="ConnectionSettings.MaxSendBytes"/>.
    /// </returns>
    public abstract bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state);

    /// <summary>
    /// Returns a ring for many messages, which the calling thread fills without excluding other writers. Its bytes are sent only after
    /// <see cref="TryAppendBatch"/>. Return the ring with <see cref="EndBatch"/>.
    /// </summary>
    public virtual ArrayPoolCircularBuffer BeginBatch() =>
        Interlocked.Exchange(ref _batch, null) ?? new ArrayPoolCircularBuffer(4096, BatchCapacity, RingPool);

    /// <summary>
    /// Appends all bytes of a batch to the bytes written so far and empties the batch. Call it only between <see cref="BeginWrite"/> and
    /// <see cref="EndWrite"/>, with nothing written in between; do not write to the ring afterwards. The default implementation copies
    /// once.
    /// </summary>
    /// <param name="ring">From <see cref="BeginWrite"/>.</param>
    /// <param name="batch">From <see cref="BeginBatch"/>; the call may replace it with another ring.</param>
    /// <returns>False if there is no room; the batch is then unchanged.</returns>
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
    /// Size in bytes from which a batch is appended without a copy, so that even a single message is cheaper as a batch. Defaults to
    /// <see cref="int.MaxValue"/>: never.
    /// </summary>
    internal virtual int BatchesInLineFrom => int.MaxValue;

    /// <summary>Returns a batch's ring; bytes that were not appended are dropped.</summary>
    /// <param name="batch">From <see cref="BeginBatch"/>.</param>
    public virtual void EndBatch(ArrayPoolCircularBuffer batch)
    {
        batch.Consume(batch.Length);
        batch.TryReleaseWhenEmpty();
        Volatile.Write(ref _batch, batch);
    }

    /// <summary>Ends the write of <see cref="BeginWrite"/>. The next <see cref="Flush"/> sends the bytes.</summary>
    public abstract void EndWrite();

    /// <summary>
    /// As <see cref="EndWrite"/>, unless a final write has ended since this one began: then the result is false, nothing was written, and
    /// borrowed memory is the caller's again.
    /// </summary>
    internal virtual bool TryEndWrite()
    {
        EndWrite();
        return true;
    }

    /// <summary>
    /// As <see cref="EndWrite"/>, on the loop, for the last message of the connection: from now on <see cref="TryEndWrite"/> refuses the
    /// writes of other threads.
    /// </summary>
    internal virtual void EndFinalWrite() => EndWrite();

    /// <summary>
    /// Sends written bytes, as many as the operating system takes now; the connection sends the rest later. Never blocks. It is not needed
    /// in <see cref="IConnectionProtocol.OnReceived"/>: the loop flushes once at the end of the burst.
    /// </summary>
    public abstract void Flush();

    /// <summary>
    /// As <see cref="Flush"/>, but also sends at once on the loop, where <see cref="Flush"/> waits for the end of the burst. For a protocol
    /// that takes long to handle a burst: the peer can process the first answers in the meantime. Each call is a system call. Defaults to
    /// <see cref="Flush"/>.
    /// </summary>
    public virtual void FlushNow() => Flush();

    /// <summary>
    /// As <see cref="Flush"/>, for a loop that writes to another connection: a transport that collects sends per thread sends the bytes
    /// when the calling thread has finished its current work.
    /// </summary>
    public virtual void FlushSoon() => Flush();

    /// <summary>
    /// Requests one call of <see cref="IConnectionProtocol.OnOutputDrained"/> as soon as at most this many bytes wait to be sent. There is
    /// one such request at a time: a further call replaces it. For any number of waiters use <see cref="WaitForRoomAsync"/>.
    /// </summary>
    /// <param name="pendingBytes">Low-water mark in bytes, 0 or more.</param>
    public abstract void NotifyWhenDrained(long pendingBytes);

    /// <summary>
    /// Flushes, and completes when at most <paramref name="lowWater"/> bytes wait to be sent, or when the connection closes. Safe from any
    /// thread, with any number of waiters; allocates nothing if there is room. Do not await it on the connection's loop, which must send in
    /// the meantime. A filter passes the call to the connection below.
    /// </summary>
    /// <remarks>
    /// Use it to send a message of any length piece by piece, with few of its bytes in memory:
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
    /// The low-water mark plus one piece per writer must not exceed <see cref="ConnectionSettings.MaxSendBytes"/>: several writers may find
    /// room at the same time. If other writers can write between two pieces, the protocol numbers its pieces, or sends one message at a
    /// time.
    /// </remarks>
    /// <param name="lowWater">Bytes, 0 or more.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>True if there is room; false if the connection is closing or has ended, so that nothing can be written any more.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="lowWater"/> is negative.</exception>
    /// <exception cref="OperationCanceledException">The token was canceled before.</exception>
    public abstract ValueTask<bool> WaitForRoomAsync(long lowWater, CancellationToken cancellationToken = default);

    /// <summary>
    /// The highest number of bytes that <see cref="NotifyWhenDrained"/> or <see cref="WaitForRoomAsync"/> wait for; -1 without waiters.
    /// </summary>
    internal long AwaitedPending => Volatile.Read(ref AwaitedMark);

    /// <summary>Bytes sent since a wait began (<see cref="AwaitedPending"/>); meaningless without waiters.</summary>
    internal long SentWhileAwaited => BytesSent - Volatile.Read(ref SentBeforeWaits);

    /// <summary>
    /// Resumes reading after <see cref="ReceiveOutcome.Pause"/>. Safe from any thread, at any time, also while reading is not paused.
    /// </summary>
    public abstract void ResumeReading();

    /// <summary>
    /// Closes in order: sends the written bytes, shuts down the send side, drains input for a bounded time so that the peer receives the
    /// last bytes instead of a reset, then ends the connection. The connection always ends in bounded time. Safe from any thread; the first
    /// reason is kept.
    /// </summary>
    /// <param name="reason">Why.</param>
    public abstract void Close(CloseReason reason);

    /// <summary>Ends the connection now; bytes that wait to be sent are dropped. Safe from any thread; the first reason is kept.</summary>
    /// <param name="reason">Why.</param>
    public abstract void Abort(CloseReason reason);

    /// <summary>
    /// Requests that the clock's next tick visits this connection and its protocol, regardless of the times that they returned at the last
    /// tick. Call it after the change that the tick must see. <see cref="Flush"/>, every burst and <see cref="Close"/> call it. Safe from
    /// any thread, and cheap. A filter passes the call to the connection below.
    /// </summary>
    public virtual void RequestTick() => Volatile.Read(ref _clockChunk)?.Request(_clockSlot);

    /// <summary>Begins to read, after <see cref="Protocol"/> was set. Ignored if the connection was aborted before.</summary>
    protected abstract void StartCore();

    /// <summary>
    /// Called by the clock on its thread: checks the transport's deadlines, and has the loop call the protocol's tick when it is due.
    /// </summary>
    /// <param name="nowMilliseconds">The clock's reading in milliseconds.</param>
    /// <param name="requested">Whether <see cref="RequestTick"/> was called since the last tick.</param>
    /// <returns>As <see cref="IConnectionProtocol.OnTick"/>.</returns>
    internal virtual long Tick(long nowMilliseconds, bool requested) => ConnectionClock.Never;

    /// <summary>Called by the loop: sets the protocol's next deadline in the clock.</summary>
    internal void TickAt(long dueMilliseconds)
    {
        if (dueMilliseconds != ConnectionClock.Never)
        {
            Volatile.Read(ref _clockChunk)?.Lower(_clockSlot, dueMilliseconds);
        }
    }

    /// <summary>Called by the clock: sets the connection's place in it.</summary>
    internal void EnterClock(ClockChunk chunk, int slot)
    {
        _clockSlot = slot;
        Volatile.Write(ref _clockChunk, chunk);
    }

    /// <summary>Called by the clock: removes and returns the connection's place; null if there is none.</summary>
    internal ClockChunk? LeaveClock(out int slot)
    {
        slot = _clockSlot;
        return Interlocked.Exchange(ref _clockChunk, null);
    }

    /// <summary>Reports the end. The transport calls it once, as its last step.</summary>
    /// <param name="reason">Why.</param>
    protected void CompleteClosed(CloseReason reason)
    {
        Owner?.OnEnded();
        ClosedSource.TrySetResult(reason);
    }

    private TaskCompletionSource<CloseReason> ClosedSource => LazyInitializer.EnsureInitialized(
        ref _closed, static () => new TaskCompletionSource<CloseReason>(TaskCreationOptions.RunContinuationsAsynchronously));
}
