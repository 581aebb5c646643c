using System.Runtime.CompilerServices;
using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports.Epoll;

/// <summary>
/// The writing half of the send side: where the loop and other threads put their bytes. What is sent when is <see cref="EpollSender"/>'s.
/// <para>
/// Bytes leave in the order in which the writes ended, whichever thread wrote. The loop writes to a lane of its own without a lock. Another
/// thread writes to <see cref="_writing"/>, under <see cref="_writers"/>, which only such threads take. At the end of its write that lane
/// goes into the queue under <see cref="_gate"/>, with the number of bytes that the loop has written so far
/// (<see cref="OutputLane.After"/>): the sender sends so many of the loop's bytes before it. So a thread that stops in the middle of a
/// write holds up other writers, but neither the loop nor the sender.
/// </para>
/// <para>Order of locks: <see cref="_writers"/>, then <see cref="_gate"/>. No code of others runs under the gate.</para>
/// </summary>
internal sealed class EpollOutput
{
    // Fewer bytes are copied behind those that wait already; more are queued in the lane they were written to.
    private const int CopyAtMost = 4 * 1024;

    // A lane that holds more takes no copies: one send takes about as much.
    private const int FullLane = 64 * 1024;

    private readonly EpollConnection _connection;
    private readonly ConnectionSettings _settings;
    private readonly Lock _writers = new();
    private readonly Lock _gate = new();
    private readonly OutputLane _loopLane;

    // Guarded by the writers' lock: the lane of the write under way. It keeps its array between small writes until all is sent.
    private OutputLane? _writing;

    // Guarded by the gate: what other threads have written, in order, the last of it apart; lanes lent for batches; empty lanes; bytes that
    // wait.
    private readonly Queue<OutputLane> _ready = new();
    private readonly List<OutputLane> _lent = [];
    private readonly Stack<OutputLane> _spares = new();
    private OutputLane? _last;
    private int _queuedRingBytes;
    private long _queuedBytes;
    private bool _final;

    private long _writtenByLoop;
    private long _writtenByOthers;
    private long _loopWriteStart;
    private int _waitingLanes;
    private volatile bool _closed;
    private volatile bool _ending;
    private volatile bool _disposed;

    // Whether a write to the loop's lane is in progress, and whether one of another thread is. Each is set and cleared by the thread that
    // writes.
    private bool _loopWrites;
    private bool _othersWrite;

    public EpollOutput(EpollConnection connection, ConnectionSettings settings)
    {
        _connection = connection;
        _settings = settings;
        _loopLane = NewLane();
    }

    /// <summary>
    /// Within a write: whether it goes to the loop's lane. Every thread sees its own mark, so one that sees the loop's alone is the loop;
    /// which thread this is need be asked, at some nanoseconds, only where both kinds of writes are in progress.
    /// </summary>
    public bool IsLoopWrite => _loopWrites && (!_othersWrite || _connection.IsOnLoop);

    /// <summary>Bytes written so far, by anyone.</summary>
    public long Written => Volatile.Read(ref _writtenByLoop) + Volatile.Read(ref _writtenByOthers);

    /// <summary>Bytes that the loop has written so far.</summary>
    public long WrittenByLoop => Volatile.Read(ref _writtenByLoop);

    /// <summary>The loop's own lane; for the loop.</summary>
    public OutputLane LoopLane => _loopLane;

    /// <summary>Whether no more bytes are accepted and the send side is to be shut down behind those that were.</summary>
    public bool IsEnding => _ending;

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ArrayPoolCircularBuffer? BeginWrite()
    {
        if (!_connection.IsOnLoop)
        {
            return BeginOthersWrite();
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
            EndLoopWrite();
            return;
        }

        EndOthersWrite(unlessFinal: false);
    }

    /// <summary>As <see cref="EndWrite"/>; false where a final write came first: then nothing was written, and nothing lent.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryEndWrite()
    {
        if (IsLoopWrite)
        {
            EndLoopWrite();
            return true;
        }

        return EndOthersWrite(unlessFinal: true);
    }

    /// <summary>Ends a write of the loop's, behind which <see cref="TryEndWrite"/> of other threads refuses.</summary>
    public void EndFinalWrite()
    {
        lock (_gate)
        {
            _final = true;
            EndLoopWrite();
        }
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void EndLoopWrite()
    {
        _loopWrites = false;
        Volatile.Write(ref _writtenByLoop, _writtenByLoop + (_loopLane.Ring.WritePosition - _loopWriteStart));
    }

    private ArrayPoolCircularBuffer? BeginOthersWrite()
    {
        _writers.Enter();
        if (_closed || _ending)
        {
            _writers.Exit();
            return null;
        }

        try
        {
            OutputLane lane = _writing ??= TakeSpare();
            lane.Ring.LimitTo(Math.Max(_settings.MaxSendBytes - Volatile.Read(ref _queuedRingBytes), 0));
            lane.Prepare();
            _othersWrite = true;
            return lane.Ring;
        }
        catch
        {
            // No memory: the writer learns of it, and nobody waits for it.
            _writers.Exit();
            throw;
        }
    }

    private bool EndOthersWrite(bool unlessFinal)
    {
        OutputLane lane = _writing!;
        bool accepted;
        lock (_gate)
        {
            accepted = lane.IsEmpty || (!_closed && !(unlessFinal && _final));
            if (accepted && !lane.IsEmpty)
            {
                _writing = Enqueue(lane, mayCopy: true);
            }
        }

        if (!accepted)
        {
            Drop(lane, wereLent: !unlessFinal);
        }

        _othersWrite = false;
        _writers.Exit();
        if (_ending)
        {
            // The stream's end has waited for this write.
            _connection.FlushNextRound();
        }

        if (_disposed)
        {
            DisposeWriting();
        }

        return accepted;
    }

    // Under the gate. Returns the lane that its writer goes on with: the same where its bytes were copied, else an empty one.
    private OutputLane Enqueue(OutputLane lane, bool mayCopy)
    {
        long after = Volatile.Read(ref _writtenByLoop);
        long bytes = lane.Pending;
        int ringBytes = lane.Ring.Length;
        _queuedBytes += bytes;
        _queuedRingBytes += ringBytes;
        if (!mayCopy || bytes > CopyAtMost || _last is not { } last || last.After != after || last.Ring.Length > FullLane
            || !lane.TryMoveTo(last))
        {
            lane.Ring.LimitTo(_settings.MaxSendBytes);
            lane.After = after;
            if (_last is not null)
            {
                _ready.Enqueue(_last);
            }

            _last = lane;
            _waitingLanes++;
            lane = SpareOrNew();
        }

        Volatile.Write(ref _writtenByOthers, _writtenByOthers + bytes);
        return lane;
    }

    public bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        if (IsLoopWrite)
        {
            // The end of the write counts from its start: moved back, bytes beside the ring cost it nothing.
            bool lent = _loopLane.TryBorrow(memory, release, state);
            _loopWriteStart -= lent ? memory.Length : 0;
            return lent;
        }

        OutputLane lane = _writing!;
        return Volatile.Read(ref _queuedBytes) + lane.Pending + memory.Length <= _settings.MaxSendBytes
            && lane.TryBorrow(memory, release, state);
    }

    public ArrayPoolCircularBuffer BeginBatch()
    {
        lock (_gate)
        {
            OutputLane lane = SpareOrNew();
            _lent.Add(lane);
            return lane.Ring;
        }
    }

    /// <summary>
    /// Queues a batch behind what was written before, without a copy. Within a write of another thread's that has written nothing.
    /// </summary>
    /// <returns>
    /// False where it exceeds the bound together with what waits, or a final write came first; the batch is then as it was.
    /// </returns>
    public bool TryAppendBatch(ref ArrayPoolCircularBuffer batch)
    {
        lock (_gate)
        {
            int index = IndexOfLent(batch);
            OutputLane lane = _lent[index];
            if (_final || _closed || _queuedRingBytes + (long)batch.Length > _settings.MaxSendBytes)
            {
                return false;
            }

            if (!lane.IsEmpty)
            {
                _lent[index] = Enqueue(lane, mayCopy: false);
                batch = _lent[index].Ring;
            }

            return true;
        }
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

    /// <summary>
    /// What other threads have written first, if it goes out before the loop's next bytes; null where that is nothing. For whoever sends. A
    /// write that ended before the loop's last one, as <see cref="WrittenByLoop"/> was read before this, is found.
    /// </summary>
    /// <param name="sentByLoop">Up to where the loop's bytes may be sent before it.</param>
    public OutputLane? TakeOthers(long sentByLoop)
    {
        if (Volatile.Read(ref _waitingLanes) == 0)
        {
            return null;
        }

        lock (_gate)
        {
            if (_ready.TryPeek(out OutputLane? first))
            {
                return first.After <= sentByLoop ? _ready.Dequeue() : null;
            }

            if (_last is null || _last.After > sentByLoop)
            {
                return null;
            }

            OutputLane taken = _last;
            _last = null;
            return taken;
        }
    }

    /// <summary>Takes back a lane of <see cref="TakeOthers"/> that is sent.</summary>
    /// <param name="sent">The lane, empty.</param>
    /// <param name="bytes">What it held when it was taken.</param>
    /// <param name="ringBytes">Those of it that lay in its ring.</param>
    public void Return(OutputLane sent, long bytes, int ringBytes)
    {
        bool all;
        lock (_gate)
        {
            _waitingLanes--;
            _queuedBytes -= bytes;
            _queuedRingBytes -= ringBytes;
            _spares.Push(sent);
            all = _waitingLanes == 0;
        }

        if (all && _writing is { Ring.Capacity: not 0 } && _writers.TryEnter())
        {
            // An idle connection holds no array. A write that is under way is flushed after its end, and leads here again.
            _writing?.Ring.TryReleaseWhenEmpty();
            _writers.Exit();
        }
    }

    /// <summary>
    /// Whether another thread writes now. After <see cref="End"/> none begins to, and one that ends its write asks for a flush.
    /// </summary>
    public bool HasWriter()
    {
        if (!_writers.TryEnter())
        {
            return true;
        }

        _writers.Exit();
        return false;
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

    /// <summary>
    /// Gives everything back, after <see cref="Close"/>, by whoever sends, as the last act. Lanes that are being written to follow with the
    /// end of their write.
    /// </summary>
    public void Dispose(Action<BorrowedSegments.Segment> release)
    {
        OutputLane[] lanes;
        lock (_gate)
        {
            _disposed = true;
            lanes = _last is null ? [_loopLane, .. _ready, .. _spares] : [_loopLane, _last, .. _ready, .. _spares];
            _last = null;
            _ready.Clear();
            _spares.Clear();
        }

        foreach (OutputLane lane in lanes)
        {
            lane.DropBorrowed(release);
            lane.Dispose();
        }

        DisposeWriting();
    }

    // By whoever disposes, and after its write by a thread that has seen it: taking and leaving the lock are full fences, so one of the two
    // finds the lock free.
    private void DisposeWriting()
    {
        if (_writers.TryEnter())
        {
            _writing?.Dispose();
            _writing = null;
            _writers.Exit();
        }
    }

    // Under the writers' lock. Memory that was lent is given back, unless the writer is told that it was not lent.
    private void Drop(OutputLane lane, bool wereLent)
    {
        lane.DropBorrowed(wereLent ? _connection.Release : static _ => { });
        lane.Ring.Consume(lane.Ring.Length);
        lane.Ring.TryReleaseWhenEmpty();
    }

    private OutputLane TakeSpare()
    {
        lock (_gate)
        {
            return SpareOrNew();
        }
    }

    // Under the gate.
    private OutputLane SpareOrNew() => _spares.TryPop(out OutputLane? spare) ? spare : NewLane();

    private OutputLane NewLane() => new(_settings.MaxSendBytes, _connection.SendPool);

    private int IndexOfLent(ArrayPoolCircularBuffer batch) => _lent.FindIndex(lane => ReferenceEquals(lane.Ring, batch));
}
