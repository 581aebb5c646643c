using System.Net.Sockets;
using System.Runtime.CompilerServices;
using FastPort.Buffers;

namespace FastPort.Transports.Sockets;

/// <summary>
/// The send side of a socket connection: two rings, one being filled by writers, one being sent by whoever flushes.
/// <para>
/// <see cref="_gate"/> guards <see cref="_filling"/>, the swap of the rings and the flags. The ring being sent belongs to the one flusher
/// (<see cref="_flushing"/>), so no lock is held during a system call and writers never wait for the kernel. A ring whose bytes are all
/// sent gives its array back at once: the next burst, of any connection, gets the same warm array from the pool, and an idle connection holds none.
/// </para>
/// <para>
/// Beside each ring are the segments borrowed from writers (<see cref="BorrowedSegments"/>), made when the first is lent; they belong to whoever the
/// ring belongs to. Their release is called by the flusher or by whoever ends the output, never under the lock.
/// </para>
/// </summary>
internal sealed class SocketOutput : IThreadPoolWorkItem
{
    private const int MinimumCapacity = 4096;

    // A pending operation reports nothing until all its bytes are taken: small pieces let the write timeout see progress.
    private const int PendingChunk = 64 * 1024;

    // From here on the copy into the kernel costs more than the peer's wake-up, and the bytes are better sent while they are in the cache.
    private const int FlushAtOnceBytes = 32 * 1024;

    // A flusher that other threads keep feeding goes to the back of the pool's queue after this many rounds.
    private const int RoundsPerTurn = 16;

    private readonly Lock _gate = new();
    private readonly Socket _socket;
    private readonly SocketConnection _connection;
    private ArrayPoolCircularBuffer _filling;
    private ArrayPoolCircularBuffer _sending;
    private BorrowedSegments? _fillingBorrowed;
    private BorrowedSegments? _sendingBorrowed;
    private SendArgs? _args;
    private long _writeStart;
    private long _written;
    private long _sent;
    private long _notifyAt = -1;
    private int _queued;
    private int _sizeHint = MinimumCapacity;
    private volatile bool _blocked;
    private bool _flushing;
    private bool _closed;
    private bool _closeAsked;
    private bool _shutdownWhenFlushed;
    private bool _shutdownDone;

    public SocketOutput(Socket socket, SocketConnection connection, int maximumBytes)
    {
        _socket = socket;
        _connection = connection;
        _filling = new ArrayPoolCircularBuffer(MinimumCapacity, maximumBytes);
        _sending = new ArrayPoolCircularBuffer(MinimumCapacity, maximumBytes);
    }

    public long PendingBytes => Volatile.Read(ref _written) - Volatile.Read(ref _sent);

    /// <summary>Whether an operation waits for the socket to take more.</summary>
    public bool IsBlocked => _blocked;

    public long BytesSent => Volatile.Read(ref _sent);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ArrayPoolCircularBuffer? BeginWrite()
    {
        _gate.Enter();
        if (_closed || _shutdownWhenFlushed)
        {
            _gate.Exit();
            return null;
        }

        if (_filling.Capacity == 0)
        {
            _filling.TryReserve(_sizeHint);
        }

        _writeStart = _filling.WritePosition;
        return _filling;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EndWrite()
    {
        Volatile.Write(ref _written, _written + (_filling.WritePosition - _writeStart));
        _gate.Exit();
    }

    /// <summary>Appends bytes that stay where they are; false where there is no room, and then they stay the caller's. Between BeginWrite and EndWrite only.</summary>
    public bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        BorrowedSegments borrowed = _fillingBorrowed ??= new BorrowedSegments();
        if (borrowed.Bytes + _filling.Length + memory.Length > _filling.MaximumCapacity)
        {
            return false;
        }

        borrowed.Add(_filling.WritePosition, memory, release, state);

        // EndWrite counts from here on: bytes beside the ring then cost it nothing.
        _writeStart -= memory.Length;
        return true;
    }

    public void Flush()
    {
        lock (_gate)
        {
            if (_flushing || _closed)
            {
                return;
            }

            if (IsFillingEmpty)
            {
                ShutdownIfAsked();
                return;
            }

            _flushing = true;
            Swap();
        }

        Send();
    }

    /// <summary>Flushes when the present thread has offered all that was ready to read; what is long enough leaves at once.</summary>
    public void FlushSoon()
    {
        long pending = PendingBytes;
        if (pending >= FlushAtOnceBytes)
        {
            Flush();
        }
        else if (pending != 0 && Interlocked.Exchange(ref _queued, 1) == 0)
        {
            FlushQueue.Shared.Add(this);
        }
    }

    /// <summary>The turn of an output that waited in the <see cref="FlushQueue"/>.</summary>
    public void FlushQueued()
    {
        Interlocked.Exchange(ref _queued, 0);
        Flush();
    }

    /// <summary>Sends what was written, then ends this side of the stream. Later writes are refused.</summary>
    public void ShutdownWhenFlushed()
    {
        lock (_gate)
        {
            _shutdownWhenFlushed = true;
        }

        Flush();
    }

    public void NotifyWhenDrained(long pendingBytes)
    {
        // Interlocked: a full fence between publishing the mark and looking at the counters, so that a flusher sees the mark or we see its progress.
        Interlocked.Exchange(ref _notifyAt, pendingBytes);
        NotifyIfDrained();
    }

    /// <summary>Ends the send side for good; true where no flusher is at work, else the flusher reports the end.</summary>
    public bool Close()
    {
        lock (_gate)
        {
            _closed = true;
            _closeAsked = true;
            if (_flushing)
            {
                return false;
            }

            DisposeRings();
        }

        ReleaseBorrowed();
        return true;
    }

    void IThreadPoolWorkItem.Execute() => Send();

    private bool IsFillingEmpty => _filling.IsEmpty && (_fillingBorrowed is null || _fillingBorrowed.IsEmpty);

    private bool IsSendingEmpty => _sending.IsEmpty && (_sendingBorrowed is null || _sendingBorrowed.IsEmpty);

    private ReadOnlySpan<byte> NextSpan => _sendingBorrowed is null ? _sending.FirstReadableSpan : NextMemory.Span;

    private ReadOnlyMemory<byte> NextMemory => _sendingBorrowed is null
        ? _sending.FirstReadableMemory
        : _sendingBorrowed.Next(_sending.ReadPosition, _sending.FirstReadableMemory);

    private void Send()
    {
        int rounds = 0;
        do
        {
            while (!IsSendingEmpty)
            {
                int count = _socket.Send(NextSpan, SocketFlags.None, out SocketError error);
                if (error == SocketError.Success)
                {
                    Sent(count);
                }
                else if (error is SocketError.WouldBlock)
                {
                    if (SendPending())
                    {
                        return;
                    }
                }
                else if (error is not SocketError.Interrupted)
                {
                    Fail(error);
                    return;
                }
            }

            if (++rounds == RoundsPerTurn)
            {
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
                return;
            }
        }
        while (TakeMore());
    }

    // True while the operation is under way: its completion goes on from there.
    private bool SendPending()
    {
        _args ??= new SendArgs(this);
        ReadOnlyMemory<byte> memory = NextMemory;
        _args.SetBuffer(System.Runtime.InteropServices.MemoryMarshal.AsMemory(memory[..Math.Min(memory.Length, PendingChunk)]));
        _blocked = true;
        return _socket.SendAsync(_args) || !Completed();
    }

    // True where sending can go on on this thread.
    private bool Completed()
    {
        _blocked = false;
        if (_args!.SocketError != SocketError.Success)
        {
            Fail(_args.SocketError);
            return false;
        }

        int count = _args.BytesTransferred;
        if (_sendingBorrowed is not null)
        {
            // Not to be kept alive after its release.
            _args.SetBuffer(Memory<byte>.Empty);
        }

        Sent(count);
        return true;
    }

    private void Sent(int count)
    {
        if (_sendingBorrowed is not null && _sendingBorrowed.IsNext(_sending.ReadPosition))
        {
            SentBorrowed(_sendingBorrowed, count);
            return;
        }

        _sending.Consume(count);
        Interlocked.Add(ref _sent, count);
        NotifyIfDrained();
    }

    private void SentBorrowed(BorrowedSegments borrowed, int count)
    {
        bool ended = borrowed.Sent(count, out BorrowedSegments.Segment segment);
        Interlocked.Add(ref _sent, count);
        if (ended)
        {
            Release(segment);
        }

        NotifyIfDrained();
    }

    private void NotifyIfDrained()
    {
        long mark = Volatile.Read(ref _notifyAt);
        if (mark >= 0 && PendingBytes <= mark && Interlocked.CompareExchange(ref _notifyAt, -1, mark) == mark)
        {
            _connection.Protocol!.OnOutputDrained();
        }
    }

    private bool TakeMore()
    {
        bool quiescent = false;
        lock (_gate)
        {
            if (!IsFillingEmpty && !_closed)
            {
                Swap();
                return true;
            }

            _sending.TryReleaseWhenEmpty();
            _flushing = false;
            if (_closed)
            {
                DisposeRings();
                quiescent = true;
            }
            else
            {
                ShutdownIfAsked();
            }
        }

        if (quiescent)
        {
            ReleaseBorrowed();
            _connection.OutputQuiescent();
        }

        return false;
    }

    private void Swap()
    {
        (_filling, _sending) = (_sending, _filling);
        (_fillingBorrowed, _sendingBorrowed) = (_sendingBorrowed, _fillingBorrowed);

        // The next burst is likely as large as this one; the memory falls back by an eighth per burst when it is not.
        _sizeHint = Math.Max(Math.Max(_sending.Length, _sizeHint - (_sizeHint >> 3)), MinimumCapacity);
        _filling.TryReleaseWhenEmpty();
    }

    private void ShutdownIfAsked()
    {
        if (_shutdownWhenFlushed && !_shutdownDone)
        {
            _shutdownDone = true;
            try
            {
                _socket.Shutdown(SocketShutdown.Send);
            }
            catch (SocketException)
            {
                // The peer was faster; the reading side learns the same.
            }

            _connection.OutputShutDown();
        }
    }

    private void Fail(SocketError error)
    {
        // From here on no writer adds anything. The flusher stays one until all is given back: the connection ends after that.
        lock (_gate)
        {
            _closed = true;
        }

        ReleaseBorrowed();
        bool closed;
        lock (_gate)
        {
            _flushing = false;
            closed = _closeAsked;
            DisposeRings();
        }

        if (closed)
        {
            _connection.OutputQuiescent();
        }
        else
        {
            _connection.OutputFailed(error);
        }
    }

    // What will not be sent any more. Outside the lock, after the last write, by whoever ends the output.
    private void ReleaseBorrowed()
    {
        foreach (BorrowedSegments? borrowed in (ReadOnlySpan<BorrowedSegments?>)[_sendingBorrowed, _fillingBorrowed])
        {
            while (borrowed is not null && borrowed.TryDrop(out BorrowedSegments.Segment dropped))
            {
                Release(dropped);
            }
        }
    }

    private void Release(in BorrowedSegments.Segment segment)
    {
        try
        {
            segment.Release?.Invoke(segment.State);
        }
        catch (Exception e)
        {
            // It has been called; the bytes of others must not suffer.
            _connection.ReleaseFailed(e);
        }
    }

    private void DisposeRings()
    {
        _filling.Dispose();
        _sending.Dispose();
        Volatile.Write(ref _written, Volatile.Read(ref _sent));
        _args?.Dispose();
    }

    private sealed class SendArgs(SocketOutput output) : SocketAsyncEventArgs(true)
    {
        protected override void OnCompleted(SocketAsyncEventArgs e)
        {
            if (output.Completed())
            {
                output.Send();
            }
        }
    }
}
