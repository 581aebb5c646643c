using System.Diagnostics;

namespace FastPort.Transports;

/// <content>The queue itself: how rings join it, are taken to be sent, and come back for the next writer.</content>
internal abstract partial class SendQueue
{
    /// <summary>
    /// Takes the first ring; null if the queue is empty or more of the loop's bytes are sent before that ring. A write that ended before
    /// the loop's last write began is found if the caller read <see cref="LoopBytes"/> first.
    /// </summary>
    /// <param name="sentByLoop">How many of the loop's bytes may be sent before the ring.</param>
    public SendRing? Take(long sentByLoop = long.MaxValue)
    {
        if (_count == 0)
        {
            return null;
        }

        lock (Gate)
        {
            if (_first is not { } first || first.After > sentByLoop)
            {
                return null;
            }

            _first = first.NextRing;
            first.NextRing = null;
            _last = _first is null ? null : _last;
            _count--;
            _ringBytes -= first.Ring.Length;
            _burst.Saw(first.Ring.Length);
            return first;
        }
    }

    /// <summary>Takes back an empty ring that <see cref="Take"/> returned, for the next writer.</summary>
    /// <param name="sent">The ring.</param>
    /// <param name="keepArray">
    /// Keeps the ring's array for the next writer, until <see cref="ReleaseSpares"/>. Otherwise the array returns to the pool: an idle
    /// connection holds no array, and the next burst of any connection rents a warm one.
    /// </param>
    public void Return(SendRing sent, bool keepArray = false)
    {
        if (!keepArray)
        {
            sent.Ring.TryReleaseWhenEmpty();
        }

        if (sent.IsUnframed)
        {
            // Such writes are rare; a spare ring would only cost memory while the connection is idle.
            return;
        }

        lock (Gate)
        {
            sent.NextRing = _spares;
            _spares = sent;
        }
    }

    /// <summary>Returns the arrays that spare rings have kept to the pool.</summary>
    protected void ReleaseSpares()
    {
        lock (Gate)
        {
            for (SendRing? spare = _spares; spare is not null; spare = spare.NextRing)
            {
                spare.Ring.TryReleaseWhenEmpty();
            }
        }
    }

    /// <summary>Drops the queued rings and releases their borrowed memory. Called under no lock, after <see cref="Close"/>.</summary>
    /// <param name="taken">A ring that was taken and not, or not fully, sent; null if there is none.</param>
    /// <param name="countAsSent">Whether the bytes are counted as sent already.</param>
    protected void DropWaiting(SendRing? taken, bool countAsSent = false)
    {
        SendRing[] dropped;
        lock (Gate)
        {
            dropped = taken is null ? [.. Waiting] : [taken, .. Waiting];
            _first = null;
            _last = null;
            _count = 0;
            _ringBytes = 0;
            Volatile.Write(ref _queued, _queued - (countAsSent ? 0 : dropped.Sum(static ring => ring.Bytes)));
        }

        foreach (SendRing ring in dropped)
        {
            ring.Drop(connection);
        }
    }

    // Under the gate. Leaves the writer an empty ring.
    private void Append(ref SendRing ring)
    {
        Debug.Assert(Gate.IsHeldByCurrentThread);
        if (TryAppendToLast(ring))
        {
            return;
        }

        ring.Ring.LimitTo(settings.MaxSendBytes);
        Enqueue(ring);
        ring = SpareOrNew();
    }

    // Under the gate.
    private bool TryAppendToLast(SendRing ring)
    {
        int ringBytes = ring.Ring.Length;
        long bytes = ring.Bytes;
        if (_last is not { IsUnframed: false } last || last.After != Volatile.Read(ref _loopBytes) || ringBytes > CopyAtMost
            || last.Ring.Length > FullRing || !ring.TryMoveTo(last))
        {
            return false;
        }

        _ringBytes += ringBytes;
        Volatile.Write(ref _queued, _queued + bytes);
        return true;
    }

    // Under the gate.
    private void Enqueue(SendRing ring)
    {
        Debug.Assert(Gate.IsHeldByCurrentThread);

        // The count comes first, with a fence. A loop that still reads 0 has read before how many bytes it has written: this ring is sent
        // after all of them, even if the socket takes only a part of them now.
        Interlocked.Increment(ref _count);
        ring.After = Volatile.Read(ref _loopBytes);
        _ringBytes += ring.Ring.Length;
        if (_last is null)
        {
            _first = ring;
        }
        else
        {
            _last.NextRing = ring;
        }

        _last = ring;
        Volatile.Write(ref _queued, _queued + ring.Bytes);
    }

    // Under the gate.
    private SendRing SpareOrNew()
    {
        Debug.Assert(Gate.IsHeldByCurrentThread);
        if (_spares is not { } spare)
        {
            return new SendRing(settings.MaxSendBytes, connection.SendPool);
        }

        _spares = spare.NextRing;
        spare.NextRing = null;
        return spare;
    }
}
