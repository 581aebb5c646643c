using System.Diagnostics;
using FastPort.Transports.Epoll.Native;

namespace FastPort.Transports.Epoll;

/// <content>Reading: receives, offers to the protocol, waits. Only the loop runs this code.</content>
internal sealed partial class EpollConnection
{
    // After this many receives in a row the loop serves its other connections.
    private const int ReceivesPerTurn = 16;

    internal override unsafe bool HasUnreadInput
    {
        get
        {
            byte first;
            return Libc.Receive(Descriptor, &first, 1, Libc.Peek | Libc.DontWait) > 0;
        }
    }

    private void Pump()
    {
        if (Has(ReadFlags.Waiting) || Is(LifeFlags.Ended))
        {
            return;
        }

        try
        {
            if (!PumpTurn())
            {
                Request(ContinueRequested);
            }
        }
        catch (Exception e)
        {
            ReadFault(e);
            End();
        }
    }

    // Reads and offers until nothing is left to read, the protocol pauses, or the turn ends. False only when the turn ends.
    private bool PumpTurn()
    {
        Debug.Assert(IsOnLoop);
        // After a Pause, offers even an empty ring: the protocol must learn that reading has resumed.
        bool offer = Has(ReadFlags.Paused) || !_input.Ring.IsEmpty;
        for (int receives = 0; receives < ReceivesPerTurn; receives++)
        {
            if (MustEnd)
            {
                End();
                return true;
            }

            if (!offer && !Has(ReadFlags.InputEnded) && (!Has(ReadFlags.Readable) || !Receive()))
            {
                _input.Ring.ReleaseWhenIdle();
                return !IsAborted;
            }

            offer = false;
            if (IsClosing)
            {
                DropInput(_input.Ring);
            }
            else if (!Has(ReadFlags.InputEnded) || Has(ReadFlags.Paused) || !_input.Ring.IsEmpty)
            {
                Offer();
            }

            if (Has(ReadFlags.InputEnded) && !Has(ReadFlags.Paused))
            {
                ReportInputEnd(!_input.Ring.IsEmpty);
            }

            if (Has(ReadFlags.Paused | ReadFlags.InputEnded) && !MustEnd && TryWait())
            {
                return true;
            }
        }

        return false;
    }

    // One burst: all unread input is offered, and the answers are sent at the end of the round.
    private void Offer()
    {
        OfferTo(_input.Ring);
        RequestTick();
        if (_output.PendingBytes != 0)
        {
            Flush();
        }
    }

    // False when nothing was received.
    private unsafe bool Receive()
    {
        Span<byte> room = _input.MakeRoom();
        while (true)
        {
            nint count;
            fixed (byte* start = room)
            {
                count = Libc.Receive(Descriptor, start, room.Length, Libc.DontWait);
            }

            if (count > 0)
            {
                _output.AllowSendByWriter();
                if (!_input.Received((int)count, room.Length))
                {
                    // The socket is empty. Later bytes raise a new event, but an announced end of stream must still be read.
                    Set(ReadFlags.Readable, Has(ReadFlags.PeerEnded));
                }

                return true;
            }

            if (count == 0)
            {
                Set(ReadFlags.InputEnded);
                return true;
            }

            int error = Errno.Last;
            if (error == Errno.Interrupted)
            {
                continue;
            }

            Set(ReadFlags.Readable, false);
            if (error != Errno.Again)
            {
                Lose(Lost(error));
            }

            return false;
        }
    }

    // While the connection does not read, no receive reports a reset. A reset detected here ends the connection, so that work for this peer
    // can stop. The event is raised once and may arrive together with the last bytes. The end of the peer's stream raises one too, without
    // an error. False when the connection was reset.
    private bool TryWait()
    {
        if (Has(ReadFlags.PeerEnded) && NativeSocket.TakeError(Descriptor) is not 0 and int error)
        {
            Lose(Lost(error));
        }

        Set(ReadFlags.Waiting, !IsAborted);
        return Has(ReadFlags.Waiting);
    }
}
