using System.Buffers;
using System.Net;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>
/// The life cycle of a connection, the same for every transport: the connection starts once, closes for the first reason given, drains for
/// a bounded time, and notifies its protocol last. A transport adds how bytes are sent and received.
/// <para>
/// <see cref="Close"/>, <see cref="Abort"/> and the members that senders call are thread-safe; the clock's thread calls the tick.
/// <see cref="LifeFlags"/> holds the state of the life cycle, set by any thread; <see cref="ReadFlags"/> holds the state of reading and
/// belongs to the loop. Other threads request calls of the protocol by bits of <see cref="_work"/>, and the loop makes them:
/// <see cref="RunWork"/>. Once there is a loop only the loop calls <see cref="End"/>; a connection that was never started is ended by the
/// thread that claims it.
/// </para>
/// </summary>
internal abstract partial class TransportConnection : Connection, ISegmentReleaser
{
    // Null unless memory has a budget; the second also until a protocol asks for it.
    private readonly BudgetedPool? _receiveArrays;
    private BudgetedPool? _messageArrays;
    private readonly BudgetedPool? _sendArrays;
    private EndPoint? _remote;
    private UnixPeer? _unixPeer;
    private WriteProgress _progress;
    private CloseReason? _reason;
    private int _life;
    private ReadFlags _reading;

    // Allocated at the first wait.
    private DrainNotices? _drain;
    private long _deadline;
    private long _closeBy = long.MaxValue;
    private long _sendWaitsSince = -1;

    /// <param name="settings">Settings.</param>
    /// <param name="remote">The peer's address; null if the transport has none.</param>
    /// <param name="unixPeer">The peer of a Unix socket; null for other connections.</param>
    protected TransportConnection(ConnectionSettings settings, EndPoint? remote, UnixPeer? unixPeer)
    {
        Settings = settings;
        _remote = remote;
        _unixPeer = unixPeer;
        if (settings.Memory is { } memory)
        {
            _receiveArrays = new BudgetedPool(settings.Pool, memory);
            _sendArrays = new BudgetedPool(settings.Pool, memory);
        }

        _progress = new WriteProgress(settings.WriteTimeout, settings.MinimumSendRate);
    }

    public sealed override EndPoint? RemoteEndPoint => _remote;

    public sealed override UnixPeer? UnixPeer => _unixPeer;

    public sealed override bool IsClosing => Is(LifeFlags.Closing);

    internal sealed override CloseReason? ClosingReason => Volatile.Read(ref _reason);

    public sealed override long BytesReceived => Wire?.BytesReceived ?? Received;

    internal sealed override (long Frames, long Bytes) ReceivedWithoutData => Wire?.WithoutData ?? default;

    // Unframed bytes are counted when they are written, sent ones later: the difference may be negative for a moment.
    public sealed override long BytesSent => Math.Max(0, Output.BytesSent - (Wire?.UnframedBytes ?? 0));

    public override long PendingBytes => Output.PendingBytes;

    /// <summary>Number of send calls to the operating system, failed ones included. 0 if the connection makes none itself.</summary>
    internal long SendCalls => Output.SendCalls;

    public sealed override ArrayPool<byte> MessagePool => (ArrayPool<byte>?)Volatile.Read(ref _messageArrays) ?? MakeMessagePool();

    internal override ArrayPool<byte> RingPool => SendPool;

    internal override long ReceiveMemory => (_receiveArrays?.Counted ?? 0) + (_messageArrays?.Counted ?? 0);

    internal override long SendMemory => _sendArrays?.Counted ?? 0;

    internal sealed override long SendWaitsSince => Volatile.Read(ref _sendWaitsSince);

    /// <summary>The pool from which receive rings rent their arrays.</summary>
    internal ArrayPool<byte> ReceivePool => (ArrayPool<byte>?)_receiveArrays ?? Settings.Pool;

    /// <summary>The pool from which send rings rent their arrays.</summary>
    internal ArrayPool<byte> SendPool => (ArrayPool<byte>?)_sendArrays ?? Settings.Pool;

    internal override int BatchCapacity => Settings.MaxSendBytes;

    /// <summary>
    /// The frames that carry its bytes on the wire; null if there are none. Set before the protocol, which never sees them.
    /// </summary>
    internal WireFormat? Wire { get; private set; }

    protected ConnectionSettings Settings { get; }

    /// <summary>Bytes received, including the headers of frames.</summary>
    protected abstract long Received { get; }

    /// <summary>The queue to which the loop and other threads write.</summary>
    protected abstract SendQueue Output { get; }

    /// <summary>A connection as one of this library's transports.</summary>
    /// <param name="connection">The connection.</param>
    /// <param name="what">What needs it, the subject of the error's sentence.</param>
    /// <exception cref="NotSupportedException">It is of a custom transport.</exception>
    public static TransportConnection Of(Connection connection, string what) => connection as TransportConnection
        ?? throw new NotSupportedException($"{what} needs one of the library's transports; {connection.GetType()} is of a custom one.");

    /// <summary>The peer is a proxy, and this is its client's address; null if it is not known. Before the connection is served.</summary>
    public void SetClient(EndPoint? client)
    {
        _remote = client;
        _unixPeer = null;
    }

    /// <summary>Sets <see cref="Wire"/>. Called while reading is paused, after the preamble has read the handshake.</summary>
    internal void SetWire(WireFormat wire)
    {
        wire.CountUnframed((int)Output.Written);
        Wire = wire;
    }

    /// <inheritdoc cref="SendQueue.WriteUnframed"/>
    internal void WriteUnframed(ReadOnlySpan<byte> bytes) => Output.WriteUnframed(bytes);

    /// <summary>Whether the connection was aborted: the loop ends it as soon as it checks.</summary>
    protected bool IsAborted => Is(LifeFlags.Aborted);

    /// <summary>Whether this side's stream has ended, after its last byte.</summary>
    internal bool IsOutputDown => Is(LifeFlags.OutputDown);

    /// <summary>Whether the loop has to end the connection now.</summary>
    protected bool MustEnd => IsAborted || (IsClosing && IsOutputDown && Has(ReadFlags.InputEnded));

    /// <summary>Whether the connection ends by a reset: the unsent bytes do not justify a lingering socket.</summary>
    protected bool EndsByReset => IsAborted && !IsOutputDown && _reason!.Kind is not (CloseKind.PeerClosed or CloseKind.LocalClosed);

    public override ArrayPoolCircularBuffer? BeginWrite() => Output.BeginWrite(IsOnLoop);

    public override void EndWrite() => Output.EndWrite(IsOnLoop);

    internal override bool TryEndWrite() => Output.EndWrite(IsOnLoop, unlessFinal: true);

    internal override void EndFinalWrite() => Output.EndWrite(IsOnLoop, isFinal: true);

    public override bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state) =>
        Output.TryWriteBorrowed(IsOnLoop, memory, release, state);

    public sealed override void Close(CloseReason reason)
    {
        if (Interlocked.CompareExchange(ref _reason, reason, null) is not null)
        {
            return;
        }

        long now = Settings.Clock.PreciseMilliseconds;
        Volatile.Write(ref _closeBy, now + (long)Settings.CloseTimeout.TotalMilliseconds);
        Volatile.Write(ref _deadline, now + (long)Math.Max(Settings.DrainTimeout.TotalMilliseconds, 1000));
        SetClosing();
        RequestTick();
        if (TrySet(LifeFlags.Claimed))
        {
            // Never started: the connection has no loop, and nothing is written.
            End();
            return;
        }

        OnClosing();
    }

    public sealed override void Abort(CloseReason reason)
    {
        bool first = Lose(reason);
        if (TrySet(LifeFlags.Claimed))
        {
            End();
        }
        else if (first)
        {
            OnAborted();
        }
    }

    public sealed override void NotifyWhenDrained(long pendingBytes)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(pendingBytes);
        Drain.NotifyProtocol(pendingBytes);
    }

    public sealed override ValueTask<bool> WaitForRoomAsync(long lowWater, CancellationToken cancellationToken = default)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(lowWater);
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<bool>(cancellationToken);
        }

        if (IsClosing || PendingBytes <= lowWater)
        {
            return new ValueTask<bool>(!IsClosing);
        }

        // Without a flush, bytes that were only written would never be sent and the wait would not end.
        Flush();
        return Drain.WaitAsync(lowWater, cancellationToken);
    }

    /// <summary>Some bytes were sent and counted. Called by the sender, after a full fence.</summary>
    internal void SentSome()
    {
        if (AwaitedPending is >= 0 and var mark && PendingBytes <= mark)
        {
            Drain.Check();
        }
    }

    /// <summary>A waiter for sent bytes was added, under no lock. For a connection that does not send itself.</summary>
    internal virtual void RoomAwaited()
    {
    }

    /// <summary>Calls the release of memory that a writer has lent. Called by the sender, under no lock.</summary>
    public void Release(SendRing.Segment segment)
    {
        try
        {
            if (segment.Release is { } release)
            {
                // On the thread of any sender, whose context it must not see.
                NoContext.Run(release, segment.State);
            }
        }
        catch (Exception e)
        {
            // The release was called; its exception must not affect other writers' bytes.
            TransportLog.ReleaseFault(Settings.Logger, Id, e);
        }
    }

    /// <summary>
    /// All written bytes are sent: ends this side of the stream. Called once, by the sender; for sockets and TLS under the output's gate.
    /// </summary>
    internal abstract void ShutDownOutput();

    /// <summary>Input and output hold nothing any more: the last step of <see cref="End"/>, on any thread, under no lock.</summary>
    internal abstract void Finish();

    /// <summary>Sending threw, for example because lent memory was disposed before its release. Called by the sender.</summary>
    internal void SendFault(Exception e)
    {
        TransportLog.SendFault(Settings.Logger, Id, e);
        Abort(new CloseReason(CloseKind.Internal, "Sending threw; see the log.", Exception: e));
    }

    /// <summary>The pending bytes have reached the mark that the protocol set. Called by the sender or by a waiter.</summary>
    internal void OutputDrained() => RequestWork(OutputHasDrained);

    protected override void StartCore()
    {
        if (!TrySet(LifeFlags.Claimed))
        {
            return;
        }

        _progress.Start(Settings.Clock.PreciseMilliseconds);
        BeginLoop();
    }

    /// <summary>The loop's first action: opens the protocol and joins the clock.</summary>
    protected void Open()
    {
        Set(ReadFlags.Open);
        try
        {
            Protocol!.OnOpened(this);
        }
        catch (Exception e)
        {
            Fault(e);
        }

        NoContext.Restore();
        Settings.Clock.Add(this);
    }

    /// <summary>
    /// Makes the loop call <see cref="RunWork"/>. Thread-safe. Ignored if the connection has not begun to read or has ended.
    /// </summary>
    protected abstract void WakeLoop();

    /// <summary>
    /// Begins to read; never on the caller's stack: the caller is an accept loop, which no protocol may block. The loop begins with
    /// <see cref="Open"/>.
    /// </summary>
    protected abstract void BeginLoop();

    /// <summary>
    /// Closing has begun: no more bytes are accepted, this side's stream ends after the accepted ones, and the loop has to check its state.
    /// </summary>
    protected abstract void OnClosing();

    /// <summary>Aborted: the loop has to check its state, and operations that wait for the peer have to end.</summary>
    protected abstract void OnAborted();

    /// <summary>
    /// Releases what input and output hold. Called by the loop, or by the closing thread if there never was a loop; leads to
    /// <see cref="LeaveClock"/> and <see cref="CompleteEnd"/>.
    /// </summary>
    protected abstract void End();

    /// <summary>
    /// Marks the connection as aborted, for this reason unless there is an earlier one; the loop ends it as soon as it checks. True once.
    /// </summary>
    protected bool Lose(CloseReason reason)
    {
        CloseFor(reason);
        return TrySet(LifeFlags.Aborted);
    }

    /// <summary>The first step of <see cref="End"/>: true once.</summary>
    protected bool TryBeginEnd()
    {
        CloseFor(CloseReason.LocalClosed);
        return TrySet(LifeFlags.Ended);
    }

    protected bool Is(LifeFlags flag) => (Volatile.Read(ref _life) & (int)flag) != 0;

    /// <summary>True for the thread that sets the flag. A full fence.</summary>
    protected bool TrySet(LifeFlags flag) => (Interlocked.Or(ref _life, (int)flag) & (int)flag) == 0;

    protected bool Has(ReadFlags any) => (_reading & any) != 0;

    protected void Set(ReadFlags flag, bool value = true) => _reading = value ? _reading | flag : _reading & ~flag;

    /// <summary>
    /// Starts the time limit for draining the peer's input. Called before the peer can see the end of this side's stream.
    /// </summary>
    protected void OutputIsDown()
    {
        Volatile.Write(ref _deadline, Settings.Clock.PreciseMilliseconds + (long)Settings.DrainTimeout.TotalMilliseconds);
        TrySet(LifeFlags.OutputDown);
    }

    protected void LeaveClock() => Settings.Clock.Remove(this);

    /// <summary>Runs the calls still posted, then notifies the protocol and the tasks that wait for the end. The last step.</summary>
    protected void CompleteEnd()
    {
        Wire?.Release();
        NoContext.Run(static connection => connection.TellEnd(), this);
    }

    // Possibly on the thread that closed or flushed the connection.
    private void TellEnd()
    {
        Interlocked.Exchange(ref _calls, PostedCalls.Ended)?.End(Fault);
        Owner?.OnEnding();
        try
        {
            // A connection that was closed while it was being started may already have a protocol, which was never opened.
            if (Has(ReadFlags.Open))
            {
                Protocol!.OnClosed(_reason!);
            }
        }
        catch (Exception e)
        {
            TransportLog.ProtocolFault(Settings.Logger, Id, e);
        }

        CompleteClosed(_reason!);
    }

    /// <summary>The protocol threw.</summary>
    protected void Fault(Exception e)
    {
        TransportLog.ProtocolFault(Settings.Logger, Id, e);
        Abort(new CloseReason(CloseKind.Internal, "The protocol threw; see the log.", Exception: e));
    }

    private DrainNotices Drain => Volatile.Read(ref _drain) ?? MakeDrain();

    private ArrayPool<byte> MakeMessagePool()
    {
        if (Settings.Memory is not { } memory)
        {
            return Settings.Pool;
        }

        var made = new BudgetedPool(Settings.Pool, memory);
        return Interlocked.CompareExchange(ref _messageArrays, made, null) ?? made;
    }

    private DrainNotices MakeDrain()
    {
        var made = new DrainNotices(this);
        return Interlocked.CompareExchange(ref _drain, made, null) ?? made;
    }

    private void CloseFor(CloseReason reason)
    {
        Interlocked.CompareExchange(ref _reason, reason, null);
        SetClosing();
    }

    // A full fence: either a thread that begins to wait for room sees that the connection closes, or this thread sees the waiter.
    private void SetClosing()
    {
        TrySet(LifeFlags.Closing);
        Volatile.Read(ref _drain)?.Check();
    }
}
