using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <content>The pump: receives, offers to the protocol, waits or rests.</content>
internal sealed partial class SocketConnection
{
    // The pump's own: a zero-byte receive is under way. The connection ends after it only.
    private bool _waits;
    private bool _inputEndReported;

    protected override bool HasEnded => _ended;

    protected override bool Linger() => false;

    protected override void BeforeRest()
    {
        _output.ReleaseWhenIdle();
        bool parked = IsHeld || _input.Ended;
        if (parked && !_isParked)
        {
            // A parked connection is looked at for a reset.
            RequestTick();
        }

        _isParked = parked;
    }

    protected override bool Step(int signals)
    {
        if ((signals & PumpSignals.Bytes) != 0)
        {
            _waits = false;
        }

        if (IsAborted || _lost || (IsClosing && IsOutputDown && _input.Ended))
        {
            End();
            return false;
        }

        bool drained = false;
        if (IsHeld)
        {
            if ((signals & PumpSignals.Resumed) == 0 && !IsClosing)
            {
                return false;
            }
        }
        else if (_waits || (_input.Ended && _inputEndReported))
        {
            // Nothing more can be read now; Close or Abort brings the connection to its end.
            return false;
        }
        else if (!_input.Ended)
        {
            SocketError error = _input.Receive(out drained);
            if (error == SocketError.WouldBlock)
            {
                return !WaitForData();
            }

            if (error != SocketError.Success)
            {
                LoseTo(error);
                End();
                return false;
            }
        }

        if (IsClosing)
        {
            // What still comes is dropped: only the peer's end of stream is of interest.
            IsHeld = false;
            _input.Ring.Consume(_input.Ring.Length);
        }
        else
        {
            Offer();
            if (IsHeld)
            {
                return true;
            }
        }

        if (!_input.Ended)
        {
            return !drained || !WaitForData();
        }

        if (!_inputEndReported)
        {
            _inputEndReported = true;
            if (!IsClosing)
            {
                Protocol!.OnInputEnded(!_input.Ring.IsEmpty);
            }
        }

        return true;
    }

    // One burst: everything that is there is offered, everything answered leaves with one flush.
    private void Offer()
    {
        if (!IsHeld && _input.Ring.IsEmpty && _input.Ended)
        {
            return;
        }

        ForgetResumed();

        // Before, so that a tick sees what came however long the protocol is at it, and with the flush, for what the protocol has changed.
        RequestTick();
        IsHeld = Protocol!.OnReceived(_input.Ring) == ReceiveOutcome.Pause;
        FlushSoon();
    }

    // True while waiting: the completion runs the pump again. False where data (or the end) is there already.
    private bool WaitForData()
    {
        _input.ReleaseWhenIdle();

        // First: the completion may come before this thread is back here.
        _waits = true;
        if (_socket.ReceiveAsync(_wait))
        {
            return true;
        }

        _waits = false;
        Waited();
        return false;
    }

    // A reset is told once, to whoever asks first: the next receive would see no more than the end of the stream.
    private void Waited()
    {
        if (_wait.SocketError != SocketError.Success)
        {
            LoseTo(_wait.SocketError);
            _lost = true;
        }
    }

    private void LoseTo(SocketError error) => CloseFor(Lost(error));

    private sealed class WaitArgs(SocketConnection connection) : SocketAsyncEventArgs(true)
    {
        protected override void OnCompleted(SocketAsyncEventArgs e)
        {
            connection.Waited();
            connection.SignalAndRun(PumpSignals.Bytes);
        }
    }
}
