using System.Runtime.CompilerServices;
using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports.Epoll;

/// <summary>
/// The writing half of the send side: where the loop and other threads put their bytes. What is sent when is <see cref="EpollSender"/>'s.
/// <para>
/// Bytes leave in the order in which the writes ended, whichever thread wrote. The loop writes to a ring of its own without a lock, and the
/// end of its write publishes how many bytes it has written. Other threads write to the queue, where each ring has the number of the loop's
/// bytes that the sender sends before it.
/// </para>
/// </summary>
internal sealed class EpollOutput : SendQueue
{
    private readonly EpollConnection _connection;
    private SizeEstimate _loopBurst;
    private long _loopWriteStart;

    // Whether a write of the loop's is in progress.
    private bool _loopWrites;

    public EpollOutput(EpollConnection connection, ConnectionSettings settings)
        : base(connection, settings)
    {
        _connection = connection;
        LoopRing = new SendRing(settings.MaxSendBytes, connection.SendPool);
    }

    /// <summary>
    /// Within a write: whether it goes to the loop's ring. Every thread sees its own mark, so one that sees the loop's alone is the loop;
    /// which thread this is need be asked, at some nanoseconds, only where both kinds of writes are in progress.
    /// </summary>
    public bool IsLoopWrite => _loopWrites && (!IsOtherWriting || _connection.IsOnLoop);

    /// <summary>Bytes that the loop has written so far.</summary>
    public long WrittenByLoop => LoopBytes;

    /// <summary>The loop's own ring; for the loop.</summary>
    public SendRing LoopRing { get; }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ArrayPoolCircularBuffer? BeginWrite()
    {
        if (!_connection.IsOnLoop)
        {
            return BeginWrite(onLoop: false);
        }

        if (IsClosed || IsEnding)
        {
            return null;
        }

        ArrayPoolCircularBuffer ring = LoopRing.Ring;
        if (ring.Capacity == 0)
        {
            // The next burst is likely as large as the last. Before the mark: it may find no memory.
            ring.TryMakeRoom(_loopBurst.Expected);
        }

        _loopWrites = true;
        _loopWriteStart = ring.WritePosition;
        return ring;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EndWrite()
    {
        if (IsLoopWrite)
        {
            EndLoopWrite();
            return;
        }

        EndWrite(onLoop: false);
    }

    /// <summary>As <see cref="EndWrite()"/>; false where a final write came first: then nothing was written, and nothing lent.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryEndWrite()
    {
        if (IsLoopWrite)
        {
            EndLoopWrite();
            return true;
        }

        return EndWrite(onLoop: false, unlessFinal: true);
    }

    /// <summary>Ends a write of the loop's, behind which <see cref="TryEndWrite"/> of other threads refuses.</summary>
    public void EndFinalWrite()
    {
        // First: what joins the queue from now on may be found behind this write.
        SetFinal();
        EndLoopWrite();
    }

    public bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        if (!IsLoopWrite)
        {
            return TryWriteBorrowed(onLoop: false, memory, release, state);
        }

        // The end of the write counts from its start: moved back, bytes beside the ring cost it nothing.
        bool lent = LoopRing.TryBorrow(memory, release, state);
        _loopWriteStart -= lent ? memory.Length : 0;
        return lent;
    }

    /// <summary>The loop's ring is sent: an idle connection holds no array. For whoever sends.</summary>
    /// <param name="burst">Bytes that it held when its sending began.</param>
    public void LoopRingSent(int burst)
    {
        _loopBurst.Saw(burst);
        LoopRing.Ring.TryReleaseWhenEmpty();
    }

    /// <summary>Gives everything back, after <see cref="SendQueue.Close"/>, on the loop, as sender, as the last act.</summary>
    /// <param name="taken">What was taken of other threads and not sent.</param>
    public void Drop(SendRing? taken)
    {
        LoopBytes -= LoopRing.Bytes;
        LoopRing.Drop(Release);
        DropWaiting(taken);
    }

    protected override void LastWriteEnded() => _connection.FlushNextRound();

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void EndLoopWrite()
    {
        _loopWrites = false;
        LoopBytes += LoopRing.Ring.WritePosition - _loopWriteStart;
    }
}
