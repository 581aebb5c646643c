using System.Net.Sockets;

namespace FastPort.Transports.Sockets;

/// <content>The pump: receives, offers to the protocol, waits or rests.</content>
internal sealed partial class SocketConnection
{
    protected override bool Linger() => false;

    protected override void BeforeRest()
    {
        _output.ReleaseWhenIdle();
        bool nobodyReceives = Has(ReadFlags.Paused | ReadFlags.InputEnded);
        if (nobodyReceives && !_nobodyReceives)
        {
            // From now on the tick checks the socket for a reset.
            RequestTick();
        }

        _nobodyReceives = nobodyReceives;
    }

    protected override bool Step(int signals)
    {
        if ((signals & PumpSignals.Bytes) != 0)
        {
            Set(ReadFlags.Receiving, false);
        }

        if (MustEnd)
        {
            End();
            return false;
        }

        bool mayBeMore = true;
        if (IsPaused)
        {
            if ((signals & PumpSignals.Resumed) == 0 && !IsClosing)
            {
                return false;
            }
        }
        else if (Has(ReadFlags.Receiving | ReadFlags.InputEnded))
        {
            // No more bytes can be read; Close or Abort ends the connection.
            return false;
        }
        else
        {
            switch (Receive(out mayBeMore))
            {
                case SocketError.Success:
                    break;
                case SocketError.WouldBlock:
                    return !WaitForData();
                case SocketError error:
                    Lose(Lost(error));
                    return true;
            }
        }

        if (IsClosing)
        {
            DropInput(_input.Ring);
        }
        else
        {
            Offer();
            if (IsPaused)
            {
                return true;
            }
        }

        if (!Has(ReadFlags.InputEnded))
        {
            return mayBeMore || !WaitForData();
        }

        ReportInputEnd(!_input.Ring.IsEmpty);
        return true;
    }

    // Success is also the end of the stream.
    private SocketError Receive(out bool mayBeMore)
    {
        mayBeMore = true;
        Span<byte> room = _input.MakeRoom();
        int count;
        SocketError error;
        do
        {
            count = _socket.Receive(room, SocketFlags.None, out error);
        }
        while (error == SocketError.Interrupted);
        if (error == SocketError.Success && count == 0)
        {
            Set(ReadFlags.InputEnded);
        }
        else if (error == SocketError.Success)
        {
            mayBeMore = _input.Received(count, room.Length);
        }

        return error;
    }

    // One burst: all available input is offered, and all answers are sent with one flush.
    private void Offer()
    {
        if (IsPaused || !_input.Ring.IsEmpty || !Has(ReadFlags.InputEnded))
        {
            ForgetResumed();
            OfferTo(_input.Ring);
            FlushSoon();
        }
    }

    // True while waiting: the completion runs the pump again. False if data (or the end) is available already.
    private bool WaitForData()
    {
        _input.Ring.ReleaseWhenIdle();

        // First: the completion may run before this call returns.
        Set(ReadFlags.Receiving);
        bool waits = false;
        try
        {
            waits = _socket.ReceiveAsync(_wait);
        }
        finally
        {
            // It also throws, where the system does not watch one socket more: there is no completion then, either.
            if (!waits)
            {
                Set(ReadFlags.Receiving, false);
            }
        }

        if (!waits)
        {
            Waited();
        }

        return waits;
    }

    // The socket reports a reset once, to the first call that asks: the next receive would see only the end of the stream.
    private void Waited()
    {
        if (_wait.SocketError != SocketError.Success)
        {
            Lose(Lost(_wait.SocketError));
        }
    }

    private sealed class WaitArgs(SocketConnection connection) : SocketAsyncEventArgs(true)
    {
        protected override void OnCompleted(SocketAsyncEventArgs e)
        {
            connection.Waited();
            connection.SignalAndRun(PumpSignals.Bytes);
        }
    }
}
