using System.Net;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>
/// A connection whose "loop" is a pump: a work item of the thread pool that runs on one thread at a time. The pump owns the input and makes
/// all calls of the protocol.
/// <para>
/// A thread that signals the pump sets bits of the pump's word (<see cref="PumpSignals"/>); a thread that finds the pump inactive schedules
/// it. The pump becomes inactive only by a compare-and-swap, which fails if a bit was set in the meantime. So no signal is lost, and a
/// running pump needs no wake-up.
/// </para>
/// </summary>
internal abstract class PumpedConnection(ConnectionSettings settings, EndPoint? remote, UnixPeer? unixPeer)
    : TransportConnection(settings, remote, unixPeer), IThreadPoolWorkItem
{
    // After this many steps in a row the pump goes to the back of the pool's queue if other work waits there: one busy peer must not starve
    // others. Also from the runtime's polling thread, where it began if sockets complete inline: other sockets wait for that thread.
    private const int StepsPerTurn = 32;

    [ThreadStatic]
    private static PumpedConnection? _current;

    private int _word = PumpSignals.Active;

    public sealed override bool IsOnLoop => ReferenceEquals(_current, this);

    /// <summary>Whether the protocol returned Pause and has not been offered its bytes since. Belongs to the pump.</summary>
    protected bool IsPaused => Has(ReadFlags.Paused);

    /// <summary>Whether a signal was set since the last step. Belongs to the pump.</summary>
    protected bool IsSignalled => Volatile.Read(ref _word) != PumpSignals.Active;

    public sealed override bool TryAppendBatch(ArrayPoolCircularBuffer ring, ref ArrayPoolCircularBuffer batch) =>
        Output.TryAppendBatch(IsOnLoop, ref batch);

    public sealed override void ResumeReading()
    {
        // The fence orders the caller's changes before this read: a pump that is found at rest sees them when it next runs.
        Interlocked.MemoryBarrier();
        if ((Volatile.Read(ref _word) & (PumpSignals.Active | PumpSignals.Paused)) != 0)
        {
            Signal(PumpSignals.Resumed);
        }
    }

    void IThreadPoolWorkItem.Execute() => Run();

    /// <summary>
    /// Signals the pump. Thread-safe. The pump never runs on the caller's stack: the caller may hold locks that a handler needs.
    /// </summary>
    internal void Signal(int what)
    {
        if (TryActivate(what))
        {
            Schedule();
        }
    }

    /// <summary>As <see cref="Signal"/>, but the pump runs on the calling thread: a pool thread with nothing else to do.</summary>
    protected void SignalAndRun(int what)
    {
        if (TryActivate(what))
        {
            Run();
        }
    }

    protected sealed override void BeginLoop() => Schedule();

    protected sealed override void WakeLoop() => Signal(PumpSignals.Look);

    protected sealed override void OnClosing()
    {
        Output.ShutDown();
        Signal(PumpSignals.Look);
    }

    /// <summary>One step of reading. True if there may be more to do at once.</summary>
    /// <param name="signals">The signals set since the last step.</param>
    protected abstract bool Step(int signals);

    /// <summary>There is nothing to do: waits briefly for more work if that is worthwhile. True if something was signalled.</summary>
    protected abstract bool Linger();

    /// <summary>The pump is about to rest: releases memory that it does not need in the meantime.</summary>
    protected abstract void BeforeRest();

    /// <summary>The pump begins to run again.</summary>
    protected virtual void Woken()
    {
    }

    /// <summary>
    /// Clears the Resumed signal before the protocol is offered its bytes: an earlier resumption concerned the bytes that are offered now.
    /// </summary>
    protected void ForgetResumed()
    {
        if ((Volatile.Read(ref _word) & PumpSignals.Resumed) != 0)
        {
            Interlocked.And(ref _word, ~PumpSignals.Resumed);
        }
    }

    /// <summary>Calls <see cref="TransportConnection.CompleteEnd"/> as the loop, on any thread: the pump does nothing after this.</summary>
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

    // True if the caller has to run or schedule the pump.
    private bool TryActivate(int what)
    {
        int before = Interlocked.Or(ref _word, what);
        if ((before & PumpSignals.Active) != 0 || (what == PumpSignals.Bytes && (before & PumpSignals.Paused) != 0))
        {
            // A running pump checks again before it rests; a paused one checks when it is resumed.
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
            ReadFault(e);
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
                // Also if the protocol has paused and perhaps resumed at once: it yields to other work.
                if (IsPaused || ++steps == StepsPerTurn)
                {
                    steps = 0;
                    if (ThreadPool.PendingWorkItemCount != 0 || !Thread.CurrentThread.IsThreadPoolThread)
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

    // False if a signal was set in the meantime.
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

/// <summary>The signals and the state of a pump: one word, changed only by interlocked operations.</summary>
internal static class PumpSignals
{
    /// <summary>The pump runs, or a work item that will run it waits in the pool.</summary>
    public const int Active = 1;

    /// <summary>The pump rests because the protocol returned Pause: bytes alone do not wake it.</summary>
    public const int Paused = 2;

    /// <summary>There may be bytes to read, or the end of the stream.</summary>
    public const int Bytes = 4;

    /// <summary>Reading is resumed.</summary>
    public const int Resumed = 8;

    /// <summary>A flag has changed: closing, aborted, lost, or there is other work for the loop.</summary>
    public const int Look = 16;
}
