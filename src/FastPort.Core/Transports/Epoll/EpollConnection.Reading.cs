using FastPort.Transports.Epoll.Native;

namespace FastPort.Transports.Epoll;

/// <content>Reading: receives, offers to the protocol, waits. All of it is the loop's.</content>
internal sealed partial class EpollConnection
{
    // After this many receives in a row it is the turn of the loop's other connections.
    private const int ReceivesPerTurn = 16;

    private void Pump()
    {
        if (Has(ReadFlags.Waiting) || Is(LifeFlags.Ended))
        {
            return;
        }

        try
        {
            if (!PumpTurn() && !Has(ReadFlags.ContinueQueued))
            {
                Set(ReadFlags.ContinueQueued);
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

    // One burst: everything that is there is offered, everything answered leaves at the end of the round.
    private void Offer()
    {
        OfferTo(_input.Ring);
        RequestTick();
        if (_sender.Pending != 0)
        {
            Flush();
        }
    }

    // False where nothing was received.
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
                _sender.AllowSendByWriter();
                if (!_input.Received((int)count, room.Length))
                {
                    // All there was. What comes from now on raises an event of its own, but an end of stream that was announced is still
                    // to be read.
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

    // A reset while nothing is read here, where no receive would tell, ends the connection: whoever works for this peer may stop. Its event
    // may have come with the last bytes, and comes once. False where there was one.
    private bool TryWait()
    {
        if (Has(ReadFlags.SocketFailed) && NativeSocket.TakeError(Descriptor) is not 0 and int error)
        {
            Lose(Lost(error));
        }

        Set(ReadFlags.Waiting, !IsAborted);
        return Has(ReadFlags.Waiting);
    }
}
