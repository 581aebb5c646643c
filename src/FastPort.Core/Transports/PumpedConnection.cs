using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>
/// A connection whose "loop" is a pump: a work item of the pool that runs on one thread at a time. It owns the input and makes all calls of
/// the protocol.
/// <para>
/// Whoever has something for the pump sets bits of its word (<see cref="PumpSignals"/>); who finds the pump inactive puts it into the
/// pool's queue. A pump becomes inactive only by a compare-and-swap that fails when a bit was set meanwhile, so nothing is missed, and a
/// pump that runs needs no waking.
/// </para>
/// </summary>
internal abstract class PumpedConnection(ConnectionSettings settings) : TransportConnection(settings), IThreadPoolWorkItem
{
    // After this many steps in a row the pump goes to the back of the pool's queue, if others wait there: one busy peer must not starve
    // them.
    private const int StepsPerTurn = 32;

    [ThreadStatic]
    private static PumpedConnection? _current;

    private int _word = PumpSignals.Active;

    public sealed override bool IsOnLoop => ReferenceEquals(_current, this);

    /// <summary>Where the loop and other threads write.</summary>
    protected abstract SendQueue Output { get; }

    /// <summary>The protocol said Pause and has not been offered its bytes since. The pump's own.</summary>
    protected bool IsPaused => Has(ReadFlags.Paused);

    /// <summary>Whether something was signalled since the last step. The pump's own.</summary>
    protected bool IsSignalled => Volatile.Read(ref _word) != PumpSignals.Active;

    public override ArrayPoolCircularBuffer? BeginWrite() => Output.BeginWrite(IsOnLoop);

    public sealed override void EndWrite() => Output.EndWrite(IsOnLoop);

    internal sealed override bool TryEndWrite() => Output.EndWrite(IsOnLoop, unlessFinal: true);

    internal sealed override void EndFinalWrite() => Output.EndWrite(IsOnLoop, isFinal: true);

    public sealed override bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state) =>
        Output.TryWriteBorrowed(IsOnLoop, memory, release, state);

    public sealed override bool TryAppendBatch(ArrayPoolCircularBuffer ring, ref ArrayPoolCircularBuffer batch) =>
        Output.TryAppendBatch(IsOnLoop, ref batch);

    public sealed override void ResumeReading()
    {
        // The fence orders what the caller has changed before this look: a pump that is found at rest sees it when it runs next.
        Interlocked.MemoryBarrier();
        if ((Volatile.Read(ref _word) & (PumpSignals.Active | PumpSignals.Paused)) != 0)
        {
            Signal(PumpSignals.Resumed);
        }
    }

    void IThreadPoolWorkItem.Execute() => Run();

    /// <summary>
    /// Tells the pump something; any thread. It never runs on the caller's stack, who may hold locks that a handler wants.
    /// </summary>
    internal void Signal(int what)
    {
        if (TryActivate(what))
        {
            Schedule();
        }
    }

    /// <summary>As <see cref="Signal"/>, on a thread of the pool that has nothing else to do: the pump runs here.</summary>
    protected void SignalAndRun(int what)
    {
        if (TryActivate(what))
        {
            Run();
        }
    }

    protected sealed override void BeginLoop() => Schedule();

    protected sealed override void WakeLoop() => Signal(PumpSignals.Look);

    /// <summary>One step of reading: true where there may be more to do at once.</summary>
    /// <param name="signals">What was signalled since the last step.</param>
    protected abstract bool Step(int signals);

    /// <summary>There is nothing to do: waits a little for more, where that pays. True where something came.</summary>
    protected abstract bool Linger();

    /// <summary>The pump is about to rest: gives back what is not needed meanwhile.</summary>
    protected abstract void BeforeRest();

    /// <summary>The pump begins to run again.</summary>
    protected virtual void Woken()
    {
    }

    /// <summary>
    /// Before the protocol is offered its bytes: what has resumed reading before this was about bytes that are offered now.
    /// </summary>
    protected void ForgetResumed()
    {
        if ((Volatile.Read(ref _word) & PumpSignals.Resumed) != 0)
        {
            Interlocked.And(ref _word, ~PumpSignals.Resumed);
        }
    }

    /// <summary><see cref="TransportConnection.CompleteEnd"/> as the loop: whichever thread it is, the pump does no more.</summary>
    protected void CompleteEndAsLoop()
    {
        PumpedConnection? outer = _current;
        _current = this;
        try
        {
            CompleteEnd();
        }
        finally
        {
            _current = outer;
        }
    }

    // True where the pump is the caller's to run or to schedule.
    private bool TryActivate(int what)
    {
        int before = Interlocked.Or(ref _word, what);
        if ((before & PumpSignals.Active) != 0 || (what == PumpSignals.Bytes && (before & PumpSignals.Paused) != 0))
        {
            // A pump that runs looks again before it rests; one that has paused looks when it is resumed.
            return false;
        }

        return (Interlocked.Or(ref _word, PumpSignals.Active) & PumpSignals.Active) == 0;
    }

    private void Schedule() => ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);

    private void Run()
    {
        PumpedConnection? outer = _current;
        _current = this;
        try
        {
            Woken();
            if (!Has(ReadFlags.Open))
            {
                Open();
            }

            Pump();
        }
        catch (Exception e)
        {
            Fault(e);
            End();
        }
        finally
        {
            _current = outer;
        }
    }

    private void Pump()
    {
        int steps = 0;
        do
        {
            while (DoStep())
            {
                // Also where the protocol has paused and perhaps resumed at once: it wants others to have their turn.
                if (IsPaused || ++steps == StepsPerTurn)
                {
                    steps = 0;
                    if (ThreadPool.PendingWorkItemCount != 0)
                    {
                        Schedule();
                        return;
                    }
                }
            }

            if (Is(LifeFlags.Ended))
            {
                return;
            }
        }
        while (Linger() || !TryRest());
    }

    private bool DoStep()
    {
        int signals = IsSignalled ? Interlocked.Exchange(ref _word, PumpSignals.Active) : 0;
        RunWork();
        return Step(signals);
    }

    // False where something was signalled meanwhile.
    private bool TryRest()
    {
        BeforeRest();
        while (true)
        {
            int word = Volatile.Read(ref _word);
            int kept = IsPaused ? word & PumpSignals.Bytes : 0;
            if (word != (PumpSignals.Active | kept))
            {
                return false;
            }

            if (Interlocked.CompareExchange(ref _word, IsPaused ? PumpSignals.Paused | kept : 0, word) == word)
            {
                return true;
            }
        }
    }
}
