using FastPort.Connections;

namespace FastPort.Transports;

/// <content>What the loop does besides reading: the clock and other threads request it, by bits of <see cref="_work"/>.</content>
internal abstract partial class TransportConnection
{
    private const int CallsArePosted = 1;
    private const int TickIsDue = 2;
    private const int OutputHasDrained = 4;
    private const int OutputIsStuck = 8;

    // Made at the first post; PostedCalls.Ended after the end.
    private PostedCalls? _calls;
    private long _protocolDue = ConnectionClock.Never;
    private int _work;

    public sealed override bool Post(Action<object?> callback, object? state)
    {
        ArgumentNullException.ThrowIfNull(callback);
        if (!LazyInitializer.EnsureInitialized(ref _calls, static () => new PostedCalls()).TryAdd(callback, state))
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

    /// <summary>Makes, on the loop, the calls that other threads have requested, once the connection is open.</summary>
    protected void RunWork()
    {
        if (!Has(ReadFlags.Open) || Volatile.Read(ref _work) == 0)
        {
            return;
        }

        int work = Interlocked.Exchange(ref _work, 0);
        if ((work & CallsArePosted) != 0)
        {
            _calls!.Run(Fault);
        }

        try
        {
            if ((work & OutputHasDrained) != 0)
            {
                Protocol!.OnOutputDrained();
                NoContext.Restore();
            }

            if ((work & OutputIsStuck) != 0 && !IsClosing)
            {
                CloseAsStuck();
                NoContext.Restore();
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

        NoContext.Restore();
        if (PendingBytes != 0)
        {
            Flush();
        }
    }

    internal override long Tick(long nowMilliseconds, bool requested)
    {
        bool stuck = _progress.IsStuck(nowMilliseconds, BytesSent, PendingBytes);
        Volatile.Write(ref _sendWaitsSince, _progress.WaitsSince);
        if (IsClosing)
        {
            // Until the last byte is sent, a reading peer has one write timeout; then draining is bounded, and so is the total time.
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
            // The loop notifies the next waiter.
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

    // The peer counts as too slow only if it was offered the bytes: a loop that was blocked has not sent what it wrote.
    private void CloseAsStuck()
    {
        if (!IsSendBlocked)
        {
            return;
        }

        var reason = new CloseReason(
            CloseKind.WriteTimeout,
            $"The peer read none or too few of {PendingBytes} pending bytes in {Settings.WriteTimeout.TotalSeconds:0.#} s.");
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
}
