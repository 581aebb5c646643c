using System.Runtime.CompilerServices;
using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports.Epoll;

/// <summary>
/// The send side of a connection of the event loops. This file has the writing: where the loop and other threads put their bytes. The
/// others decide which thread sends and when, and what.
/// <para>
/// Bytes are sent in the order in which the writes ended, on any thread. The loop writes to its own ring without a lock, and the end of its
/// write publishes how many bytes it has written. Other threads write to the queue, where each ring stores how many of the loop's bytes the
/// sender sends before it. While many rings wait, the loop writes to the queue, too.
/// </para>
/// </summary>
internal sealed partial class EpollOutput : SendQueue
{
    private readonly EpollConnection _connection;
    private readonly SendRing _lockFreeRing;
    private SizeEstimate _loopBurst;
    private long _loopWriteStart;

    // Whether the loop is writing to its own ring, or to the queue.
    private bool _loopWrites;
    private bool _loopQueues;

    public EpollOutput(EpollConnection connection, ConnectionSettings settings)
        : base(connection, settings)
    {
        _connection = connection;
        _lockFreeRing = new SendRing(settings.MaxSendBytes, connection.SendPool);
    }

    /// <summary>
    /// Within a write: whether it goes to the loop's ring. Every thread sees its own mark, so a thread that sees only the loop's mark is
    /// the loop. The current thread is checked, which costs some nanoseconds, only while the loop and another thread both write.
    /// </summary>
    public bool IsLoopWrite => _loopWrites && (!IsOtherWriting || _connection.IsOnLoop);

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

        if (IsLong)
        {
            ArrayPoolCircularBuffer? queued = BeginWrite(onLoop: true);
            _loopQueues = queued is not null;
            return queued;
        }

        ArrayPoolCircularBuffer ring = _lockFreeRing.Ring;
        if (ring.Capacity == 0)
        {
            // The next burst is likely as large as the last. Done before the mark is set, because the allocation may fail.
            ring.TryMakeRoom(_loopBurst.Expected);
        }

        _loopWrites = true;
        _loopWriteStart = ring.WritePosition;
        return ring;
    }

    /// <inheritdoc cref="SendQueue.EndWrite"/>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool EndWrite(bool unlessFinal = false, bool isFinal = false)
    {
        if (!IsLoopWrite)
        {
            return EndQueuedWrite(unlessFinal, isFinal);
        }

        if (isFinal)
        {
            // First: a write that joins the queue from now on may be ordered after this write.
            SetFinal();
        }

        _loopWrites = false;
        LoopBytes += _lockFreeRing.Ring.WritePosition - _loopWriteStart;
        return true;
    }

    public bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        if (!IsLoopWrite)
        {
            return TryWriteBorrowed(IsQueuedByLoop, memory, release, state);
        }

        // The end of the write counts bytes from its start. Moving the start back adds the borrowed bytes, which are not in the ring.
        bool lent = _lockFreeRing.TryBorrow(memory, release, state);
        _loopWriteStart -= lent ? memory.Length : 0;
        return lent;
    }

    // Within a write that does not go to the loop's ring.
    private bool IsQueuedByLoop => _loopQueues && _connection.IsOnLoop;

    private bool EndQueuedWrite(bool unlessFinal, bool isFinal)
    {
        bool onLoop = IsQueuedByLoop;
        bool accepted = EndWrite(onLoop, unlessFinal, isFinal);
        if (onLoop)
        {
            _loopQueues = false;
            ReleaseWhenIdle();
        }

        return accepted;
    }

    protected override void Ending() => _connection.Request(EpollConnection.FlushRequested | EpollConnection.ResumeRequested);
}
