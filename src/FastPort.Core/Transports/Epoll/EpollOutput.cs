using System.Runtime.CompilerServices;
using FastPort.Buffers;
using FastPort.Connections;

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
    private readonly ConnectionSettings _settings;
    private readonly Lock _gate = new();
    private readonly OutputLane _loopLane;

    // Guarded by the gate: batches, and what was written before them, in order; lanes lent for batches; empty lanes.
    private readonly Queue<OutputLane> _ready = new();
    private readonly List<OutputLane> _lent = [];
    private readonly Stack<OutputLane> _spares = new();
    private OutputLane? _filling;

    private long _writtenByLoop;
    private long _writtenByOthers;
    private long _writeStart;
    private long _loopWriteStart;
    private bool _disposed;
    private volatile bool _finalWrite;
    private volatile bool _closed;
    private volatile bool _ending;

    // Whether a write to the loop's lane is in progress, and whether one to the shared lane is. Each is set and cleared by the thread that writes.
    private bool _loopWrites;
    private bool _sharedWrites;

    public EpollOutput(EpollConnection connection, ConnectionSettings settings)
    {
        _connection = connection;
        _settings = settings;
        _loopLane = NewLane();
    }

    /// <summary>
    /// Within a write: whether it goes to the loop's lane. Every thread sees its own mark, so one that sees the loop's alone is the loop; which thread this
    /// is need be asked, at some nanoseconds, only where both kinds of writes are in progress.
    /// </summary>
    public bool IsLoopWrite => _loopWrites && (!_sharedWrites || _connection.IsOnLoop);

    /// <summary>Bytes written so far, by anyone.</summary>
    public long Written => Volatile.Read(ref _writtenByLoop) + Volatile.Read(ref _writtenByOthers);

    /// <summary>Whether all that the loop has written is sent. For whoever sends.</summary>
    public bool IsLoopLaneSent => Volatile.Read(ref _writtenByLoop) == _loopLane.Sent;

    /// <summary>The loop's own lane; for the loop.</summary>
    public OutputLane LoopLane => _loopLane;

    /// <summary>Whether no more bytes are accepted and the send side is to be shut down behind those that were.</summary>
    public bool IsEnding => _ending;

    /// <summary>Whether a final write has begun, after which only the loop sends.</summary>
    public bool IsFinal => _finalWrite;

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

        // Before the mark: it may find no memory.
        _loopLane.Prepare();
        _loopWrites = true;
        _loopWriteStart = _loopLane.Ring.WritePosition;
        return _loopLane.Ring;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EndWrite()
    {
        if (IsLoopWrite)
        {
            _loopWrites = false;
            Volatile.Write(ref _writtenByLoop, _writtenByLoop + (_loopLane.Ring.WritePosition - _loopWriteStart));
            return;
        }

        Volatile.Write(ref _writtenByOthers, _writtenByOthers + (_filling!.Ring.WritePosition - _writeStart));
        _sharedWrites = false;
        _gate.Exit();
    }

    /// <summary>
    /// As <see cref="BeginWrite"/>, into the lane that all threads share, also on the loop. From then on only the loop sends, and of that lane only
    /// while its own is empty: whatever it wrote before goes out first, also what it wrote while the socket was blocked.
    /// </summary>
    public ArrayPoolCircularBuffer? BeginFinalWrite()
    {
        ArrayPoolCircularBuffer? ring = BeginSharedWrite();
        if (ring is not null)
        {
            _finalWrite = true;
        }

        return ring;
    }

    private ArrayPoolCircularBuffer? BeginSharedWrite()
    {
        _gate.Enter();
        if (_closed || _ending)
        {
            _gate.Exit();
            return null;
        }

        OutputLane lane;
        try
        {
            lane = _filling ??= TakeSpare();
            lane.Prepare();
        }
        catch
        {
            // No memory: the writer learns of it, and nobody waits for it.
            _gate.Exit();
            throw;
        }

        _writeStart = lane.Ring.WritePosition;
        _sharedWrites = true;
        return lane.Ring;
    }

    public bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        // The end of the write counts from its start: moved back, bytes beside the ring cost it nothing.
        if (IsLoopWrite)
        {
            bool lent = _loopLane.TryBorrow(memory, release, state);
            _loopWriteStart -= lent ? memory.Length : 0;
            return lent;
        }

        bool shared = _filling!.TryBorrow(memory, release, state);
        _writeStart -= shared ? memory.Length : 0;
        return shared;
    }

    public ArrayPoolCircularBuffer BeginBatch()
    {
        lock (_gate)
        {
            OutputLane lane = TakeSpare();
            _lent.Add(lane);
            return lane.Ring;
        }
    }

    /// <summary>Makes a batch what goes out next after what was written before, without a copy. Within a write to the shared lane.</summary>
    public void AppendBatch(ref ArrayPoolCircularBuffer batch)
    {
        int index = IndexOfLent(batch);
        OutputLane lane = _lent[index];
        if (_filling!.IsEmpty)
        {
            // The write began with an array that it does not need.
            _filling.Ring.TryReleaseWhenEmpty();
        }
        else
        {
            _ready.Enqueue(_filling);
            _filling = TakeSpare();
        }

        _ready.Enqueue(lane);

        // EndWrite counts from the start of a write in the lane that is filled then: moved back, the batch is counted too.
        _writeStart = _filling.Ring.WritePosition - lane.Pending;
        _lent[index] = TakeSpare();
        batch = _lent[index].Ring;
    }

    public void EndBatch(ArrayPoolCircularBuffer batch)
    {
        lock (_gate)
        {
            int index = IndexOfLent(batch);
            OutputLane lane = _lent[index];
            _lent.RemoveAt(index);
            if (_disposed)
            {
                lane.Dispose();
                return;
            }

            int length = batch.Length;
            batch.Consume(length);
            lane.Rest(length);
            _spares.Push(lane);
        }
    }

    /// <summary>What other threads have written, lane by lane in order; null where that is nothing. For whoever sends.</summary>
    /// <param name="sent">A lane taken before that is sent and empty; null where there is none.</param>
    /// <param name="onLoop">
    /// Whether the loop asks. Once a final write has begun others get nothing more, and the loop nothing while its own lane holds anything: it all precedes that write.
    /// </param>
    public OutputLane? TakeShared(OutputLane? sent, bool onLoop)
    {
        lock (_gate)
        {
            if (sent is not null)
            {
                _spares.Push(sent);
            }

            if (_finalWrite && (!onLoop || !_loopLane.IsEmpty))
            {
                return null;
            }

            if (_ready.TryDequeue(out OutputLane? first))
            {
                return first;
            }

            if (_filling is null || _filling.IsEmpty)
            {
                return null;
            }

            OutputLane taken = _filling;
            _filling = null;
            return taken;
        }
    }

    /// <summary>Takes an emptied lane back. Whether there is more to take.</summary>
    public bool ReturnShared(OutputLane sent)
    {
        lock (_gate)
        {
            _spares.Push(sent);
            return _ready.Count != 0 || _filling is { IsEmpty: false };
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

    /// <summary>What is not sent by now will never be, and waits no longer; after <see cref="Close"/>, by the loop.</summary>
    /// <param name="sent">Bytes that were sent.</param>
    public void ForgetUnsent(long sent) => Volatile.Write(ref _writtenByOthers, sent - _writtenByLoop);

    /// <summary>Gives everything back, after <see cref="Close"/>, by whoever sends, as the last act. Lanes lent for a batch follow with its end.</summary>
    public void Dispose(Action<BorrowedSegments.Segment> release)
    {
        OutputLane[] lanes;
        lock (_gate)
        {
            _disposed = true;
            lanes = _filling is null ? [_loopLane, .. _ready, .. _spares] : [_loopLane, _filling, .. _ready, .. _spares];
            _ready.Clear();
            _spares.Clear();
        }

        foreach (OutputLane lane in lanes)
        {
            lane.DropBorrowed(release);
            lane.Dispose();
        }
    }

    private OutputLane TakeSpare() => _spares.TryPop(out OutputLane? spare) ? spare : NewLane();

    private OutputLane NewLane() => new(_settings.MaxSendBytes, _settings.Pool);

    private int IndexOfLent(ArrayPoolCircularBuffer batch) => _lent.FindIndex(lane => ReferenceEquals(lane.Ring, batch));
}
