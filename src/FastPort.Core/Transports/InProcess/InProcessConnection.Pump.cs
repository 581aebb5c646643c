using FastPort.Connections;

namespace FastPort.Transports.InProcess;

/// <content>The pump: takes, offers to the protocol, rests. It runs on one thread at a time and owns the input.</content>
internal sealed partial class InProcessConnection
{
    // After this many bursts in a row the pump goes to the back of the pool's queue, if others wait there: one busy peer must not starve them.
    private const int BurstsPerTurn = 32;

    // Between looks at the clock and at the pool: about a microsecond.
    private const int Looks = 25;

    private int _word = LinkSignals.Active;

    // The protocol said Pause and has not been offered its bytes since.
    private bool _held;
    private bool _inputEndReported;

    internal LoopWaiting Waiting { get; }

    void IThreadPoolWorkItem.Execute()
    {
        Waiting.Woken();
        try
        {
            Pump();
        }
        catch (Exception e)
        {
            Fault(e);
            End();
        }
    }

    /// <summary>Tells this end something; see <see cref="LinkSignals"/>. Any thread.</summary>
    internal void Signal(int what)
    {
        int before = Interlocked.Or(ref _word, what);
        if ((before & LinkSignals.Active) != 0 || (what == LinkSignals.Bytes && (before & LinkSignals.Held) != 0))
        {
            // A pump that runs looks again before it rests; one that is held for the protocol looks when it is resumed.
            return;
        }

        if ((Interlocked.Or(ref _word, LinkSignals.Active) & LinkSignals.Active) == 0)
        {
            Schedule();
        }
    }

    private void Schedule() => ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);

    private void Pump()
    {
        int bursts = 0;
        do
        {
            while (Step())
            {
                if (++bursts == BurstsPerTurn)
                {
                    bursts = 0;
                    if (ThreadPool.PendingWorkItemCount != 0)
                    {
                        Schedule();
                        return;
                    }
                }
            }

            if (_ended != 0)
            {
                return;
            }
        }
        while (Linger() || !TryRest());
    }

    // True where something came.
    private bool Linger()
    {
        if (_held || IsClosing || !Waiting.TryBegin())
        {
            return false;
        }

        bool came;
        do
        {
            came = CameSoon();
        }
        while (!came && ThreadPool.PendingWorkItemCount == 0 && Waiting.GoOn());
        Waiting.EndSpin();
        if (came)
        {
            Waiting.Woken();
        }

        return came;
    }

    private bool CameSoon()
    {
        for (int i = 0; i < Looks; i++)
        {
            if (Volatile.Read(ref _word) != LinkSignals.Active)
            {
                return true;
            }

            Thread.SpinWait(1);
        }

        return false;
    }

    // True where there may be more to do.
    private bool Step()
    {
        int signals = Volatile.Read(ref _word) == LinkSignals.Active ? 0 : Interlocked.Exchange(ref _word, LinkSignals.Active);
        if (_inbound.IsReset)
        {
            Lose();
        }

        if (IsAborted || _lost)
        {
            End();
            return false;
        }

        if (IsClosing)
        {
            DropInput();
            return false;
        }

        if (_held)
        {
            if ((signals & LinkSignals.Resumed) == 0)
            {
                return false;
            }

            if (_input.Current.IsEmpty)
            {
                _input.TryAdvance();
            }
        }
        else if (!_input.TryAdvance())
        {
            return TryReportEnd();
        }

        Offer();
        return true;
    }

    // One burst: everything answered is announced to the peer once.
    private void Offer()
    {
        // What resumed before this was about bytes that are offered now.
        if ((Volatile.Read(ref _word) & LinkSignals.Resumed) != 0)
        {
            Interlocked.And(ref _word, ~LinkSignals.Resumed);
        }

        // Before, so that a tick sees what came however long the protocol is at it, and with the flush, for what the protocol has changed.
        RequestTick();
        _held = Protocol!.OnReceived(_input.Current) == ReceiveOutcome.Pause;
        _input.Offered(_held);
        Flush();
    }

    private bool TryReportEnd()
    {
        if (!_inbound.HasEnded || _inputEndReported)
        {
            return false;
        }

        _inputEndReported = true;
        Protocol!.OnInputEnded(_input.HasRest);
        return true;
    }

    // What still comes is dropped: only the peer's end is of interest.
    private void DropInput()
    {
        _held = false;
        do
        {
            _input.Drop();
        }
        while (_inbound.TryTake());

        if (IsOutputDown && _inbound.HasEnded)
        {
            End();
        }
    }

    // False where something was signalled meanwhile.
    private bool TryRest()
    {
        _input.Rest();
        while (true)
        {
            int word = Volatile.Read(ref _word);
            int kept = _held ? word & LinkSignals.Bytes : 0;
            if (word != (LinkSignals.Active | kept))
            {
                return false;
            }

            if (Interlocked.CompareExchange(ref _word, _held ? LinkSignals.Held | kept : 0, word) == word)
            {
                return true;
            }
        }
    }
}
