using FastPort.Connections;

namespace FastPort.Transports.InProcess;

/// <content>The pump: takes, offers to the protocol, rests.</content>
internal sealed partial class InProcessConnection
{
    // Between looks at the clock and at the pool: about a microsecond.
    private const int Looks = 25;

    private bool _inputEndReported;

    internal LoopWaiting Waiting { get; }

    protected override bool HasEnded => _ended != 0;

    protected override void Woken() => Waiting.Woken();

    protected override void BeforeRest()
    {
        _input.ReleaseWhenIdle();
        _outbound.ReleaseWhenIdle();
    }

    protected override bool Linger()
    {
        if (IsHeld || IsClosing || !Waiting.TryBegin())
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
            if (IsSignalled)
            {
                return true;
            }

            Thread.SpinWait(1);
        }

        return false;
    }

    protected override bool Step(int signals)
    {
        if (_inbound.IsReset)
        {
            LosePeer();
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

        if (IsHeld)
        {
            if ((signals & PumpSignals.Resumed) == 0)
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
        ForgetResumed();

        // Before, so that a tick sees what came however long the protocol is at it, and with the flush, for what the protocol has changed.
        RequestTick();
        _input.Offering();
        IsHeld = Protocol!.OnReceived(_input.Current) == ReceiveOutcome.Pause;
        _input.Offered(IsHeld);
        Flush();
    }

    private bool TryReportEnd()
    {
        if (!_inbound.HasEnded || _inputEndReported)
        {
            return false;
        }

        _inputEndReported = true;
        Protocol!.OnInputEnded(_input.HasUnread);
        return true;
    }

    // What still comes is dropped: only the peer's end is of interest.
    private void DropInput()
    {
        IsHeld = false;
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
}
