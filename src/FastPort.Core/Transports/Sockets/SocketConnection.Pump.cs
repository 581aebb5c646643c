using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <content>The pump: receives, offers to the protocol, waits or parks. It runs on one thread at a time and owns the input.</content>
internal sealed partial class SocketConnection
{
    // After this many receives in a row the pump goes to the back of the pool's queue: one busy peer must not starve the others.
    private const int ReceivesPerTurn = 32;

    private void Pump()
    {
        try
        {
            while (!RunPump())
            {
            }
        }
        catch (Exception e)
        {
            Fault(e);
            End();
        }
    }

    // False to run again at once, true when the pump waits, is parked or has ended.
    private bool RunPump()
    {
        // After a Pause also with nothing unread: the protocol has to learn that it is being read for again.
        bool offer = _held || !_input.Ring.IsEmpty;
        for (int receives = 0; receives < ReceivesPerTurn; receives++)
        {
            bool drained = false;
            if (IsAborted || _lost || (IsClosing && IsOutputDown && _input.Ended))
            {
                End();
                return true;
            }

            if (!offer && !_input.Ended)
            {
                SocketError error = _input.Receive(out drained);
                switch (error)
                {
                    case SocketError.Success:
                        break;
                    case SocketError.WouldBlock:
                        if (WaitForData())
                        {
                            return true;
                        }

                        continue;
                    default:
                        LoseTo(error);
                        End();
                        return true;
                }
            }

            offer = false;
            if (IsClosing)
            {
                // What still comes is dropped: only the peer's end of stream is of interest.
                _input.Ring.Consume(_input.Ring.Length);
            }
            else if (!Offer())
            {
                if (Park())
                {
                    return true;
                }

                offer = true;
                continue;
            }

            if (_input.Ended)
            {
                if (!IsClosing && !_inputEndReported)
                {
                    _inputEndReported = true;
                    Protocol!.OnInputEnded(!_input.Ring.IsEmpty);
                }

                if (IsAborted || (IsClosing && IsOutputDown))
                {
                    End();
                    return true;
                }

                // Nothing more can be read; Close or Abort resumes the pump to its end.
                if (Park())
                {
                    return true;
                }
            }
            else if (drained && WaitForData())
            {
                return true;
            }
        }

        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        return true;
    }

    // One burst: everything that is there is offered, everything answered leaves with one flush. False where the protocol paused.
    private bool Offer()
    {
        ReceiveOutcome outcome = ReceiveOutcome.Continue;
        if (_held || !_input.Ring.IsEmpty || !_input.Ended)
        {
            // Before, so that a tick sees what came however long the protocol is at it, and with the flush, for what the protocol has changed.
            RequestTick();
            outcome = Protocol!.OnReceived(_input.Ring);
            FlushSoon();
        }

        _held = outcome == ReceiveOutcome.Pause;
        return !_held;
    }

    // True while waiting: the completion runs the pump again. False where data (or the end) is there already.
    private bool WaitForData()
    {
        _input.Rest();
        if (_socket.ReceiveAsync(_wait))
        {
            return true;
        }

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

    private bool Park()
    {
        if (Interlocked.CompareExchange(ref _state, Parked, Running) == Running)
        {
            // A parked connection is looked at for a reset.
            RequestTick();
            return true;
        }

        Volatile.Write(ref _state, Running);
        return false;
    }

    private sealed class WaitArgs(SocketConnection connection) : SocketAsyncEventArgs(true)
    {
        protected override void OnCompleted(SocketAsyncEventArgs e)
        {
            connection.Waited();
            connection.Pump();
        }
    }
}
