using System.Runtime.CompilerServices;

namespace FastPort.Transports.Epoll;

/// <content>What is sent, in which order, and how. All of it is for the thread that holds the role.</content>
internal sealed partial class EpollSender
{
    private const int SharedLanesPerTurn = 8;

    private void SendAll()
    {
        if (_blocked)
        {
            _blocked = false;
            Interlocked.MemoryBarrier();
        }

        if (_sharedLane is not null && !SendShared(1, out _))
        {
            return;
        }

        // The loop's bytes first: see EpollOutput.BeginFinalWrite. Then again, however much others go on writing.
        bool more;
        do
        {
            if (!SendLoopLane())
            {
                return;
            }

            // Without a look under the lock where nothing is left: whoever writes after this count has to flush, and finds the role taken.
            more = false;
            if (Pending != 0 && !SendShared(SharedLanesPerTurn, out more))
            {
                return;
            }
        }
        while (more || !_output.LoopLane.IsEmpty);

        if (_output.IsEnding && !_shutDown && Pending == 0)
        {
            _shutDown = true;
            _connection.ShutDownOutput();
        }
    }

    // What the lane holds now and no more: the bytes of others must get their turn however much the loop goes on writing.
    private bool SendLoopLane()
    {
        OutputLane lane = _output.LoopLane;
        if (!_inLoopLane)
        {
            if (lane.IsEmpty)
            {
                return true;
            }

            _inLoopLane = true;
            _loopMark = lane.Sent + lane.Pending;
        }

        int burst = lane.Ring.Length;
        if (!Send(lane, _loopMark))
        {
            return false;
        }

        _inLoopLane = false;
        if (lane.IsEmpty)
        {
            lane.Rest(burst);
        }

        return true;
    }

    // So many lanes at most. False where the socket takes no more.
    private bool SendShared(int lanes, out bool more)
    {
        more = false;
        OutputLane? lane = _sharedLane ?? _output.TakeShared(null, _connection.IsOnLoop);
        while (lane is not null)
        {
            _sharedLane = lane;
            int burst = lane.Ring.Length;
            if (!Send(lane, lane.Sent + lane.Pending))
            {
                return false;
            }

            lane.Rest(burst);
            _sharedLane = null;
            if (--lanes == 0)
            {
                more = _output.ReturnShared(lane);
                return true;
            }

            lane = _output.TakeShared(lane, _connection.IsOnLoop);
        }

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
                Volatile.Write(ref _sent, _sent + count);
                NotifyIfDrained();
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
        if (lane.BorrowedCount > 1 && GatheredSend.TrySend(_connection.Descriptor, lane, out nint sent))
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
