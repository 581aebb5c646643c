using FastPort.Connections;

namespace FastPort.Transports.Epoll;

/// <content>Reading: receives, offers to the protocol, rests or parks. All of it is the loop's.</content>
internal sealed partial class EpollConnection
{
    private const int ReceiveSize = 64 * 1024;
    private const int MaxReceiveSize = 512 * 1024;

    // After this many receives in a row it is the turn of the loop's other connections.
    private const int ReceivesPerTurn = 16;

    private int _receiveSize = ReceiveSize;
    private bool _readable;
    private bool _peerEnded;
    private bool _failed;
    private bool _inputEnded;
    private bool _inputEndReported;
    private bool _held;
    private bool _parked;

    private void Pump()
    {
        if (_parked || _ended)
        {
            return;
        }

        try
        {
            if (!PumpTurn() && !_continueQueued)
            {
                _continueQueued = true;
                _loop.ContinueLater(this);
            }
        }
        catch (Exception e)
        {
            Fault(e);
            End();
        }
    }

    // Reads and offers until nothing is left to read, the protocol pauses, or the turn is over, which is the one case of false.
    private bool PumpTurn()
    {
        // After a Pause also with nothing unread: the protocol has to learn that it is being read for again.
        bool offer = _held || !_input.IsEmpty;
        for (int receives = 0; receives < ReceivesPerTurn; receives++)
        {
            if (IsAborted || _lost || (IsClosing && IsOutputDown && _inputEnded))
            {
                End();
                return true;
            }

            if (!offer && !_inputEnded)
            {
                if (!_readable || !Receive())
                {
                    Rest();
                    return !_lost;
                }
            }

            offer = false;
            if (IsClosing)
            {
                // What still comes is dropped: only the peer's end of stream is of interest.
                _input.Consume(_input.Length);
            }
            else if (!Offer())
            {
                if (Park())
                {
                    return true;
                }

                continue;
            }

            if (_inputEnded)
            {
                if (!IsClosing && !_inputEndReported)
                {
                    _inputEndReported = true;
                    Protocol!.OnInputEnded(!_input.IsEmpty);
                }

                if (IsAborted || (IsClosing && IsOutputDown))
                {
                    End();
                    return true;
                }

                // Nothing more can be read; Close or Abort brings the connection to its end.
                if (Park())
                {
                    return true;
                }
            }
        }

        return false;
    }

    // One burst: everything that is there is offered, everything answered leaves at the end of the round. False where the protocol paused.
    private bool Offer()
    {
        ReceiveOutcome outcome = ReceiveOutcome.Continue;
        if (_held || !_input.IsEmpty || !_inputEnded)
        {
            // Before, so that a tick sees what came however long the protocol is at it, and after, for what the protocol has changed.
            RequestTick();

            outcome = Protocol!.OnReceived(_input);
            RequestTick();
            if (_sender.Pending != 0)
            {
                Flush();
            }
        }

        _held = outcome == ReceiveOutcome.Pause;
        return !_held;
    }

    // False where nothing was received.
    private unsafe bool Receive()
    {
        int room = Math.Min(_receiveSize, Math.Max(_input.MaximumCapacity - _input.Length, 1));
        if (_input.Capacity - _input.Length < room && !_input.TryMakeRoom(room))
        {
            _input.TryMakeRoom(1);
        }

        Span<byte> span = _input.GetWritableSpan(1);
        while (true)
        {
            nint count;
            fixed (byte* start = span)
            {
                count = Libc.Receive(Descriptor, start, span.Length, Libc.DontWait);
            }

            if (count > 0)
            {
                Received((int)count, span.Length);
                return true;
            }

            if (count == 0)
            {
                _inputEnded = true;
                return true;
            }

            int error = Errno.Last;
            if (error == Errno.Interrupted)
            {
                continue;
            }

            _readable = false;
            if (error != Errno.Again)
            {
                Lose(error);
            }

            return false;
        }
    }

    private void Received(int count, int asked)
    {
        _input.Advance(count);
        Volatile.Write(ref _received, _received + count);
        _sender.AllowDirect();
        if (count < asked)
        {
            // All there was. What comes from now on raises an event of its own, but an end of stream that was announced is still to be
            // read.
            _readable = _peerEnded;
            _receiveSize = Math.Max(ReceiveSize, _receiveSize - (_receiveSize >> 3));
        }
        else
        {
            _receiveSize = Math.Min(_receiveSize * 2, MaxReceiveSize);
        }
    }

    private void Rest()
    {
        _input.ReleaseWhenIdle();
    }

    // A reset while nothing is read here, where no receive would tell, ends the connection: whoever works for this peer may stop. Its event
    // may have come with the last bytes, and comes once.
    private bool Park()
    {
        if (_failed && NativeSocket.TakeError(Descriptor) is not 0 and int error)
        {
            Lose(error);
        }

        _parked = !_lost;
        return _parked;
    }
}
