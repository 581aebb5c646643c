using System.Runtime.CompilerServices;
using FastPort.Buffers;
using FastPort.Transports.Sockets;

namespace FastPort.Transports.Epoll;

/// <summary>
/// The writing half of the send side: where the loop and other threads put their bytes. What is sent when is <see cref="EpollSender"/>'s.
/// <para>
/// The loop writes to a lane of its own without any lock. All other threads share <see cref="_filling"/> under <see cref="_gate"/>, so a handler on the
/// loop never waits for a thread that writes, nor the other way round. Each lane holds whole frames and keeps its order; between the two the order is
/// that of sending, the loop's bytes before those of others.
/// </para>
/// </summary>
internal sealed class EpollOutput
{
    private readonly EpollConnection _connection;
    private readonly int _maximumBytes;
    private readonly Lock _gate = new();
    private readonly OutputLane _loopLane;
    private OutputLane? _filling;
    private long _writtenByLoop;
    private long _writtenByOthers;
    private long _writeStart;
    private long _loopWriteStart;
    private volatile bool _closed;
    private volatile bool _ending;

    // The loop's own: it is writing to the shared lane.
    private bool _loopShares;

    public EpollOutput(EpollConnection connection, int maximumBytes)
    {
        _connection = connection;
        _maximumBytes = maximumBytes;
        _loopLane = new OutputLane(maximumBytes);
    }

    private bool WritesToLoopLane => _connection.IsOnLoop && !_loopShares;

    /// <summary>Bytes written so far, by anyone.</summary>
    public long Written => Volatile.Read(ref _writtenByLoop) + Volatile.Read(ref _writtenByOthers);

    /// <summary>The loop's own lane; for the loop.</summary>
    public OutputLane LoopLane => _loopLane;

    /// <summary>Whether no more bytes are accepted and the send side is to be shut down behind those that were.</summary>
    public bool IsEnding => _ending;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ArrayPoolCircularBuffer? BeginWrite()
    {
        if (!_connection.IsOnLoop)
        {
            return BeginSharedWrite();
        }

        if (_closed || _ending)
        {
            return null;
        }

        _loopLane.Prepare();
        _loopWriteStart = _loopLane.Ring.WritePosition;
        return _loopLane.Ring;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EndWrite()
    {
        if (WritesToLoopLane)
        {
            Volatile.Write(ref _writtenByLoop, _writtenByLoop + (_loopLane.Ring.WritePosition - _loopWriteStart));
            return;
        }

        Volatile.Write(ref _writtenByOthers, _writtenByOthers + (_filling!.Ring.WritePosition - _writeStart));
        if (_connection.IsOnLoop)
        {
            _loopShares = false;
        }

        _gate.Exit();
    }

    /// <summary>As <see cref="BeginWrite"/>, into the lane that all threads share, also on the loop.</summary>
    public ArrayPoolCircularBuffer? BeginSharedWrite()
    {
        _gate.Enter();
        if (_closed || _ending)
        {
            _gate.Exit();
            return null;
        }

        OutputLane lane = _filling ??= new OutputLane(_maximumBytes);
        lane.Prepare();
        _writeStart = lane.Ring.WritePosition;
        if (_connection.IsOnLoop)
        {
            _loopShares = true;
        }

        return lane.Ring;
    }

    public bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        // The end of the write counts from its start: moved back, bytes beside the ring cost it nothing.
        if (WritesToLoopLane)
        {
            bool lent = _loopLane.TryBorrow(memory, release, state);
            _loopWriteStart -= lent ? memory.Length : 0;
            return lent;
        }

        bool shared = _filling!.TryBorrow(memory, release, state);
        _writeStart -= shared ? memory.Length : 0;
        return shared;
    }

    /// <summary>What other threads have written since the last time; null where that is nothing. For whoever sends.</summary>
    /// <param name="spare">An empty lane that is filled from now on instead; taken only where something is given.</param>
    public OutputLane? TakeShared(ref OutputLane? spare)
    {
        lock (_gate)
        {
            if (_filling is null || _filling.IsEmpty)
            {
                return null;
            }

            OutputLane taken = _filling;
            _filling = spare;
            spare = null;
            return taken;
        }
    }

    /// <summary>Accepts no more bytes; those that were accepted are still sent.</summary>
    public void End()
    {
        lock (_gate)
        {
            _ending = true;
        }
    }

    /// <summary>Accepts no more bytes, and those that were accepted are not sent either.</summary>
    public void Close()
    {
        lock (_gate)
        {
            _closed = true;
        }
    }

    /// <summary>Gives everything back, after <see cref="Close"/>, by whoever sends, as the last act.</summary>
    public void Dispose(Action<BorrowedSegments.Segment> release)
    {
        foreach (OutputLane? lane in (ReadOnlySpan<OutputLane?>)[_loopLane, _filling])
        {
            lane?.DropBorrowed(release);
            lane?.Dispose();
        }
    }
}
