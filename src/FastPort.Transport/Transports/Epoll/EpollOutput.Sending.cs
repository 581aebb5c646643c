using System.Diagnostics;
using System.Runtime.CompilerServices;
using FastPort.Transports.Epoll.Native;

namespace FastPort.Transports.Epoll;

/// <content>What is sent, in which order, and how. Only the thread that holds the role runs this code.</content>
internal sealed partial class EpollOutput
{
    // After this many rings of other threads in a row the loop serves its other connections.
    private const int RingsPerTurn = 64;

    // Long enough for headers and system calls to cost little, short enough for the copy to stay in the cache.
    private const int LongestFrame = 64 * 1024;

    private void SendAll()
    {
        if (_blocked)
        {
            _blocked = false;
            Interlocked.MemoryBarrier();
        }

        for (int rings = 0; rings < RingsPerTurn; rings++)
        {
            // Read before the queue is read: see SendQueue.Take.
            long until = LoopBytes;
            bool found = TryTakeOthers(until);
            if (!SendLoopRing(found ? _others!.After : until) || (found && !SendOthers()))
            {
                return;
            }

            // A release that was called in the meantime may have written more; its flush has found the role taken.
            if (!found && LoopBytes == until)
            {
                ShutDownWhenEnding();
                return;
            }
        }

        _connection.Request(EpollConnection.FlushRequested);
    }

    // Shuts down once, after the last byte.
    private void ShutDownWhenEnding()
    {
        // PendingBytes is read last: once HasWriter is false, it includes the bytes of the writer that ended.
        if (!IsEnding || _connection.IsOutputDown || HasWriter || PendingBytes != 0)
        {
            return;
        }

        if (TryEndFrames())
        {
            _connection.Request(EpollConnection.FlushRequested);
        }
        else
        {
            _connection.ShutDownOutput();
        }
    }

    private bool SendLoopRing(long until)
    {
        if (_lockFreeRing.IsEmpty)
        {
            return true;
        }

        int burst = _lockFreeRing.Ring.Length;
        if (!Send(_lockFreeRing, until))
        {
            return false;
        }

        if (_lockFreeRing.IsEmpty)
        {
            // An idle connection holds no array.
            _loopBurst.Saw(burst);
            _lockFreeRing.Ring.TryReleaseWhenEmpty();
        }

        return true;
    }

    // Takes the ring of other threads that goes out before the loop's byte at this position, or keeps the ring that a blocked socket left
    // partly sent.
    private bool TryTakeOthers(long sentByLoop)
    {
        _others ??= Take(sentByLoop);
        return _others is not null;
    }

    private bool SendOthers()
    {
        SendRing ring = _others!;
        Debug.Assert(ring.After == _lockFreeRing.Sent, "A ring is sent between two writes of the loop.");
        if (!Send(ring, ring.Sent + ring.Bytes))
        {
            return false;
        }

        _others = null;
        Return(ring);
        return true;
    }

    // False when the socket is full or has failed.
    private bool Send(SendRing ring, long until)
    {
        WireFormat? wire = ring.IsUnframed ? null : _connection.Wire;

        // Releases empty segments at the start of the ring.
        ring.TakeSent(0, _connection);
        while (ring.Sent < until)
        {
            CountSendCall();
            nint count = wire is null
                ? SendSome(ring, until - ring.Sent)
                : Send(wire.Next(ring, until - ring.Sent, LongestFrame).Span, default);
            if (count >= 0)
            {
                count = wire?.Sent((int)count) ?? count;
                TakeSent(ring, (int)count);
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

    // If the socket becomes writable before this request, epoll still reports the event.
    private bool TryAwaitWritable(ref int error)
    {
        if (!_awaitsWritable && !_connection.TryAwaitWritable(forRoom: true))
        {
            error = Errno.Last;
            return false;
        }

        _awaitsWritable = true;
        return true;
    }

    private nint SendSome(SendRing ring, long left)
    {
        if (ring.BorrowedCount > 1 && GatheredSend.TrySend(_connection.Descriptor, ring, left, out nint sent))
        {
            return sent;
        }

        ring.Next(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
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
