using System.Runtime.CompilerServices;

namespace FastPort.Transports.Epoll;

/// <content>What is sent, in which order, and how. All of it is for the thread that holds the role.</content>
internal sealed partial class EpollSender
{
    // After so many lanes of other threads in a row it is the turn of the loop's other connections.
    private const int LanesPerTurn = 64;

    private void SendAll()
    {
        if (_blocked)
        {
            _blocked = false;
            Interlocked.MemoryBarrier();
        }

        OutputLane loopLane = _output.LoopLane;
        for (int lanes = 0; lanes < LanesPerTurn; lanes++)
        {
            // Read before the queue is looked at: see TakeOthers.
            long until = _output.WrittenByLoop;
            bool found = TryTakeOthers(until);
            if (!SendLoopLane(loopLane, found ? _others!.After : until) || (found && !SendOthers()))
            {
                return;
            }

            if (!found)
            {
                ShutDownIfAsked();
                return;
            }
        }

        _connection.FlushNextRound();
    }

    // Once, behind the last byte.
    private void ShutDownIfAsked()
    {
        // Pending is read last: what the writer looked for has written is counted then.
        if (_output.IsEnding && !_shutDown && !_output.HasWriter() && Pending == 0)
        {
            _shutDown = true;
            _connection.ShutDownOutput();
        }
    }

    private bool SendLoopLane(OutputLane lane, long until)
    {
        if (lane.IsEmpty)
        {
            return true;
        }

        int burst = lane.Ring.Length;
        if (!Send(lane, until))
        {
            return false;
        }

        if (lane.IsEmpty)
        {
            lane.Rest(burst);
        }

        return true;
    }

    // What other threads have written first, if it goes out before the loop's byte at this position; also what a blocked socket has left of
    // it.
    private bool TryTakeOthers(long sentByLoop)
    {
        if (_others is null)
        {
            _others = _output.TakeOthers(sentByLoop);
            if (_others is null)
            {
                return false;
            }

            _othersBytes = _others.Pending;
            _othersRingBytes = _others.Ring.Length;
        }

        return true;
    }

    private bool SendOthers()
    {
        OutputLane lane = _others!;
        if (!Send(lane, lane.Sent + lane.Pending))
        {
            return false;
        }

        lane.Rest(_othersRingBytes);
        _others = null;
        _output.Return(lane, _othersBytes, _othersRingBytes);
        return true;
    }

    // False where the socket takes no more, or failed.
    private bool Send(OutputLane lane, long until)
    {
        // Segments without a byte that nothing precedes.
        lane.TakeSent(0, _release);
        while (lane.Sent < until)
        {
            Volatile.Write(ref _calls, _calls + 1);
            nint count = SendSome(lane, until - lane.Sent);
            if (count >= 0)
            {
                lane.TakeSent((int)count, _release);
                Interlocked.Exchange(ref _sent, _sent + count);
                _connection.SentSome();
                continue;
            }

            int error = Errno.Last;
            if (error == Errno.Again && TryAwaitWritable(ref error))
            {
                _blocked = true;
                return false;
            }

            if (error != Errno.Interrupted)
            {
                _failed = true;
                _connection.OutputFailed(error);
                return false;
            }
        }

        return true;
    }

    // The event of a socket that takes bytes again by the time it is asked for comes, too.
    private bool TryAwaitWritable(ref int error)
    {
        if (!_awaitsWritable && !_connection.TryAwaitWritable())
        {
            error = Errno.Last;
            return false;
        }

        _awaitsWritable = true;
        return true;
    }

    private nint SendSome(OutputLane lane, long left)
    {
        if (lane.BorrowedCount > 1 && GatheredSend.TrySend(_connection.Descriptor, lane, left, out nint sent))
        {
            return sent;
        }

        lane.Next(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
        first = first[..(int)Math.Min(first.Length, left)];
        second = second[..(int)Math.Min(second.Length, left - first.Length)];
        return Send(first, second);
    }

    [SkipLocalsInit]
    private unsafe nint Send(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second)
    {
        fixed (byte* one = first, two = second)
        {
            if (second.IsEmpty)
            {
                return Libc.Send(_connection.Descriptor, one, first.Length, Libc.NoSignal | Libc.DontWait);
            }

            Libc.Vector* vectors = stackalloc Libc.Vector[2];
            vectors[0] = new Libc.Vector { Base = one, Length = first.Length };
            vectors[1] = new Libc.Vector { Base = two, Length = second.Length };
            var message = new Libc.MessageHeader { Vectors = vectors, VectorCount = 2 };
            return Libc.SendMessage(_connection.Descriptor, &message, Libc.NoSignal | Libc.DontWait);
        }
    }
}
