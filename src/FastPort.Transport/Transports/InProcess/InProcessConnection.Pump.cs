namespace FastPort.Transports.InProcess;

/// <content>The pump: takes, offers to the protocol, rests.</content>
internal sealed partial class InProcessConnection
{
    // Iterations between checks of the clock and of the pool: about a microsecond.
    private const int Looks = 25;

    private readonly Func<bool> _look;

    internal LoopWaiting Waiting { get; }

    protected override void Woken() => Waiting.Woken();

    protected override void BeforeRest()
    {
        _input.ReleaseWhenIdle();
        _outbound.ReleaseWhenIdle();
    }

    protected override bool Linger()
    {
        if (IsPaused || IsClosing || !Waiting.Spin(_look) || !IsSignalled)
        {
            return false;
        }

        Waiting.Woken();
        return true;
    }

    // Also true if other work waits for this thread.
    private bool Look()
    {
        for (int i = 0; i < Looks; i++)
        {
            if (IsSignalled)
            {
                return true;
            }

            Thread.SpinWait(1);
        }

        return ThreadPool.PendingWorkItemCount != 0;
    }

    protected override bool Step(int signals)
    {
        if (_inbound.IsReset)
        {
            LosePeer();
        }

        if (IsAborted)
        {
            End();
            return false;
        }

        if (IsClosing)
        {
            DropInput();
            return false;
        }

        if (IsPaused)
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

    // One burst: all answers are announced to the peer once.
    private void Offer()
    {
        ForgetResumed();
        _input.Offering();
        OfferTo(_input.Current);
        _input.Offered(IsPaused);
        Flush();
    }

    private bool TryReportEnd()
    {
        if (!_inbound.HasEnded || Has(ReadFlags.InputEndReported))
        {
            return false;
        }

        ReportInputEnd(_input.HasUnread);
        return true;
    }

    // Drops further input: only the end of the peer's stream matters.
    private void DropInput()
    {
        Set(ReadFlags.Paused, false);
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
