using System.Buffers;
using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>
/// The life of a connection, which is the same whatever carries its bytes: it starts once, closes for the first reason it is given, drains
/// for a bounded time, and tells its protocol last of all. A transport adds how bytes come and go.
/// <para>
/// <see cref="Close"/>, <see cref="Abort"/> and what is called by senders may come from any thread, the tick comes from the clock's. How
/// far it has gone is in <see cref="LifeFlags"/>, which any thread sets; what its loop has seen is in <see cref="ReadFlags"/>, the loop's
/// own. What other threads have for the protocol they note in <see cref="_work"/>, and the loop does it: <see cref="RunWork"/>.
/// <see cref="End"/> belongs to the transport's loop once there is one: whoever claims a connection that was never started ends it in its
/// place.
/// </para>
/// </summary>
internal abstract partial class TransportConnection : Connection
{
    // Where memory has a budget.
    private readonly BudgetedPool? _receiveArrays;
    private readonly BudgetedPool? _sendArrays;
    private WriteProgress _progress;
    private CloseReason? _reason;
    private int _life;
    private ReadFlags _reading;

    // Made when somebody first waits.
    private DrainNotices? _drain;
    private long _deadline;
    private long _closeBy = long.MaxValue;
    private long _sendWaitsSince = -1;

    protected TransportConnection(ConnectionSettings settings)
    {
        Settings = settings;
        if (settings.Memory is { } memory)
        {
            _receiveArrays = new BudgetedPool(settings.Pool, memory);
            _sendArrays = new BudgetedPool(settings.Pool, memory);
        }

        _progress = new WriteProgress(settings.WriteTimeout, settings.MinimumSendRate);
    }

    public sealed override bool IsClosing => Is(LifeFlags.Closing);

    internal sealed override CloseReason? ClosingReason => Volatile.Read(ref _reason);

    /// <summary>How often the operating system was asked to send, also in vain. None within a process.</summary>
    internal virtual long SendCalls => 0;

    internal override ArrayPool<byte> RingPool => SendPool;

    internal sealed override long ReceiveMemory => _receiveArrays?.Counted ?? 0;

    internal sealed override long SendMemory => _sendArrays?.Counted ?? 0;

    internal sealed override long SendWaitsSince => Volatile.Read(ref _sendWaitsSince);

    /// <summary>Where receive rings get their arrays.</summary>
    internal ArrayPool<byte> ReceivePool => (ArrayPool<byte>?)_receiveArrays ?? Settings.Pool;

    /// <summary>The same for rings with bytes to be sent.</summary>
    internal ArrayPool<byte> SendPool => (ArrayPool<byte>?)_sendArrays ?? Settings.Pool;

    internal override int BatchCapacity => Settings.MaxSendBytes;

    protected ConnectionSettings Settings { get; }

    /// <summary>Whether it ends as soon as the loop looks.</summary>
    protected bool IsAborted => Is(LifeFlags.Aborted);

    /// <summary>Whether this side's stream has ended, behind its last byte.</summary>
    internal bool IsOutputDown => Is(LifeFlags.OutputDown);

    /// <summary>Whether the loop has to end it now.</summary>
    protected bool MustEnd => IsAborted || (IsClosing && IsOutputDown && Has(ReadFlags.InputEnded));

    /// <summary>Whether what the peer did not take is not worth a lingering socket.</summary>
    protected bool EndsByReset => IsAborted && !IsOutputDown && _reason!.Kind is not (CloseKind.PeerClosed or CloseKind.LocalClosed);

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
            // Never started: no loop knows it, and nothing is written.
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

        // What was written and not flushed would be waited for in vain.
        Flush();
        return Drain.WaitAsync(lowWater, cancellationToken);
    }

    /// <summary>Some bytes are sent and counted; by whoever sends, after a full fence.</summary>
    internal void SentSome()
    {
        if (Volatile.Read(ref _drain) is { } drain && drain.IsReached(PendingBytes))
        {
            drain.Check();
        }
    }

    /// <summary>Whether anybody waits for bytes to be sent.</summary>
    internal bool IsDrainAwaited => Volatile.Read(ref _drain) is { IsAwaited: true };

    /// <summary>Calls the release of memory that a writer has lent; by whoever sends, under no lock.</summary>
    internal void Release(BorrowedSegments.Segment segment)
    {
        try
        {
            segment.Release?.Invoke(segment.State);
        }
        catch (Exception e)
        {
            // It has been called; the bytes of others must not suffer.
            TransportLog.ReleaseFault(Settings.Logger, Id, e);
        }
    }

    /// <summary>Sending threw, as memory that was lent does when it has been disposed of before its release; by whoever sends.</summary>
    internal void SendFault(Exception e)
    {
        TransportLog.SendFault(Settings.Logger, Id, e);
        Abort(new CloseReason(CloseKind.Internal, "Sending threw; see the log.", Exception: e));
    }

    /// <summary>No more bytes wait than the protocol wants to be told of; by whoever sends, or waits.</summary>
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

    /// <summary>The first thing on the loop.</summary>
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

        Settings.Clock.Add(this);
    }

    /// <summary>
    /// The loop has to call <see cref="RunWork"/>; any thread. Nothing where the connection has not begun to read or has ended.
    /// </summary>
    protected abstract void WakeLoop();

    /// <summary>
    /// Begins to read; never on the stack of the caller, which is an accept loop that no protocol may hold up. The loop begins with
    /// <see cref="Open"/>.
    /// </summary>
    protected abstract void BeginLoop();

    /// <summary>
    /// Closing has begun: nothing more is written, this side's stream ends behind what is there, and the loop has to look.
    /// </summary>
    protected abstract void OnClosing();

    /// <summary>Aborted: the loop has to look, and whatever waits for the peer to wait no longer.</summary>
    protected abstract void OnAborted();

    /// <summary>
    /// Gives back what input and output hold. By the loop, or where there never was one by whoever closes; leads to
    /// <see cref="LeaveClock"/> and <see cref="CompleteEnd"/>.
    /// </summary>
    protected abstract void End();

    /// <summary>It is over for this reason, unless there is an earlier one; the loop ends it as soon as it looks. True once.</summary>
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

    /// <summary>Offers one burst to the protocol; on the loop.</summary>
    protected void OfferTo(ArrayPoolCircularBuffer input)
    {
        // Before, so that a tick sees what came however long the protocol is at it. The transport asks again for what it has changed.
        RequestTick();
        Set(ReadFlags.Paused, Protocol!.OnReceived(input) == ReceiveOutcome.Pause);
    }

    /// <summary>While closing: only the peer's end of stream is of interest.</summary>
    protected void DropInput(ArrayPoolCircularBuffer input)
    {
        Set(ReadFlags.Paused, false);
        input.Consume(input.Length);
    }

    /// <summary>Tells the protocol of the end of the peer's stream, once; on the loop.</summary>
    protected void ReportInputEnd(bool hasUnread)
    {
        if (!Has(ReadFlags.InputEndReported) && !IsClosing)
        {
            Set(ReadFlags.InputEndReported);
            Protocol!.OnInputEnded(hasUnread);
        }
    }

    protected bool Is(LifeFlags flag) => (Volatile.Read(ref _life) & (int)flag) != 0;

    /// <summary>True for the one who sets it. A full fence.</summary>
    protected bool TrySet(LifeFlags flag) => (Interlocked.Or(ref _life, (int)flag) & (int)flag) == 0;

    protected bool Has(ReadFlags any) => (_reading & any) != 0;

    protected void Set(ReadFlags flag, bool value = true) => _reading = value ? _reading | flag : _reading & ~flag;

    /// <summary>The time for draining the peer's input begins. Before the peer can know that this side's stream has ended.</summary>
    protected void OutputIsDown()
    {
        Volatile.Write(ref _deadline, Settings.Clock.PreciseMilliseconds + (long)Settings.DrainTimeout.TotalMilliseconds);
        TrySet(LifeFlags.OutputDown);
    }

    protected void LeaveClock() => Settings.Clock.Remove(this);

    /// <summary>Runs what is posted still, then tells the protocol and whoever waits. The last act.</summary>
    protected void CompleteEnd()
    {
        _calls.End(Fault);
        Owner?.OnEnding();
        try
        {
            Protocol?.OnClosed(_reason!);
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

    // A full fence: who begins to wait for room now sees that the connection closes, or is seen here.
    private void SetClosing()
    {
        TrySet(LifeFlags.Closing);
        Volatile.Read(ref _drain)?.Check();
    }
}
