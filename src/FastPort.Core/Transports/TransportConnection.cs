using System.Buffers;
using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>
/// The life of a connection, which is the same whatever carries its bytes: it starts once, closes for the first reason it is given, drains
/// for a bounded time, and tells its protocol last of all. A transport adds how bytes come and go.
/// <para>
/// <see cref="Close"/>, <see cref="Abort"/> and what is called by senders may come from any thread, the tick comes from the clock's; the
/// flags here are volatile and only ever go one way. What any of them has for the protocol it notes in <see cref="_work"/>, and the loop
/// does it: <see cref="RunWork"/>. <see cref="End"/> belongs to the transport's loop once there is one: whoever claims a connection that
/// was never started ends it in its place.
/// </para>
/// </summary>
internal abstract class TransportConnection : Connection
{
    // What the loop has to do besides reading: bits of _work.
    private const int CallsArePosted = 1;
    private const int TickIsDue = 2;
    private const int OutputHasDrained = 4;
    private const int OutputIsStuck = 8;

    private readonly PostedCalls _calls = new();
    private WriteProgress _progress;
    private CloseReason? _reason;
    private long _protocolDue = ConnectionClock.Never;
    private int _work;
    private int _life;
    private ReadFlags _reading;

    // Made when somebody first waits.
    private DrainNotices? _drain;
    private long _deadline;
    private long _closeBy = long.MaxValue;

    protected TransportConnection(ConnectionSettings settings)
    {
        Settings = settings;
        _progress = new WriteProgress(settings.WriteTimeout, settings.MinimumSendRate);
    }

    public sealed override bool IsClosing => Is(LifeFlags.Closing);

    internal sealed override CloseReason? ClosingReason => Volatile.Read(ref _reason);

    /// <summary>How often the operating system was asked to send, also in vain. None within a process.</summary>
    internal virtual long SendCalls => 0;

    internal override ArrayPool<byte> RingPool => Settings.Pool;

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

    public sealed override bool Post(Action<object?> callback, object? state)
    {
        ArgumentNullException.ThrowIfNull(callback);
        if (!_calls.TryAdd(callback, state))
        {
            return false;
        }

        RequestWork(CallsArePosted);
        return true;
    }

    public sealed override void PostAfter(TimeSpan delay, Action<object?> callback, object? state)
    {
        ArgumentNullException.ThrowIfNull(callback);
        Settings.Clock.PostAfter(delay, this, callback, state);
    }

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

    /// <summary>Does on the loop what other threads have requested, once it is open.</summary>
    protected void RunWork()
    {
        if (!Has(ReadFlags.Open) || Volatile.Read(ref _work) == 0)
        {
            return;
        }

        int work = Interlocked.Exchange(ref _work, 0);
        if ((work & CallsArePosted) != 0)
        {
            _calls.Run(Fault);
        }

        try
        {
            if ((work & OutputHasDrained) != 0)
            {
                Protocol!.OnOutputDrained();
            }

            if ((work & OutputIsStuck) != 0 && !IsClosing)
            {
                CloseAsStuck();
            }

            if ((work & TickIsDue) != 0 && !IsClosing)
            {
                long due = Protocol!.OnTick(Settings.Clock.NowMilliseconds);
                Volatile.Write(ref _protocolDue, due);
                TickAt(due);
            }
        }
        catch (Exception e)
        {
            Fault(e);
        }

        if (PendingBytes != 0)
        {
            Flush();
        }
    }

    internal override long Tick(long nowMilliseconds, bool requested)
    {
        bool stuck = _progress.IsStuck(nowMilliseconds, BytesSent, PendingBytes);
        if (IsClosing)
        {
            // Until the last byte is out a peer that reads has the time of any writing, once; then draining is bounded, and so is all of it
            // together.
            bool patient = !IsOutputDown && !stuck && _reason!.Kind != CloseKind.WriteTimeout;
            if ((!patient && nowMilliseconds >= Volatile.Read(ref _deadline)) || nowMilliseconds >= Volatile.Read(ref _closeBy))
            {
                Abort(CloseReason.LocalClosed);
            }

            return ConnectionClock.NextTick;
        }

        if (stuck)
        {
            RequestWork(OutputIsStuck);
        }

        long due = Volatile.Read(ref _protocolDue);
        if (requested || nowMilliseconds >= due)
        {
            // The loop tells the next one.
            Volatile.Write(ref _protocolDue, ConnectionClock.Never);
            RequestWork(TickIsDue);
            due = ConnectionClock.Never;
        }

        if (Protocol is ILoopWatch watch)
        {
            due = Math.Min(due, watch.Watch(nowMilliseconds));
        }

        return _progress.IsWaiting ? ConnectionClock.NextTick : due;
    }

    // The peer is found wanting only where it was offered the bytes: a loop that was held up has not sent what it wrote.
    private void CloseAsStuck()
    {
        if (!IsSendBlocked)
        {
            return;
        }

        var reason = new CloseReason(
            CloseKind.WriteTimeout,
            $"The peer took none or too few of {PendingBytes} waiting bytes for {Settings.WriteTimeout.TotalSeconds:0.#} s.");
        Protocol!.OnWriteTimeout(reason);
        Close(reason);
    }

    private void RequestWork(int what)
    {
        if (Interlocked.Or(ref _work, what) == 0)
        {
            WakeLoop();
        }
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
