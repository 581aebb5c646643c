using System.Net.Sockets;
using System.Runtime.CompilerServices;
using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>
/// The send side of a socket connection: two <see cref="SendRing"/>s, one being filled by writers, one being sent by whoever flushes.
/// <para>
/// The loop writes to <see cref="_filling"/> under <see cref="_gate"/>, which also guards the swap of the rings and the flags. Another thread writes to a ring of its own,
/// which joins the filling one when the write ends (<see cref="OthersWrite"/>). The ring being sent belongs to the one flusher
/// (<see cref="_flushing"/>), so no lock is held during a system call and writers never wait for the kernel. A ring whose bytes are all
/// sent gives its array back at once: the next burst, of any connection, gets the same warm array from the pool, and an idle connection holds none.
/// </para>
/// <para>
/// The segments borrowed from writers belong to whoever owns the ring they lie beside. Their release is called by the flusher or by whoever
/// ends the output, never under the lock.
/// </para>
/// </summary>
internal sealed partial class SocketOutput : IThreadPoolWorkItem
{
    // A pending operation reports nothing until all its bytes are taken: small pieces let the write timeout see progress.
    private const int PendingChunk = 64 * 1024;

    // From here on the copy into the kernel costs more than the peer's wake-up, and the bytes are better sent while they are in the cache.
    private const int FlushAtOnceBytes = 32 * 1024;

    // A flusher that other threads keep feeding goes to the back of the pool's queue after this many rounds.
    private const int RoundsPerTurn = 16;

    private readonly Lock _gate = new();
    private readonly Socket _socket;
    private readonly SocketConnection _connection;
    private readonly ConnectionSettings _settings;
    private readonly OthersWrite _others;
    private SendRing _filling;
    private SendRing _sending;
    private SendArgs? _args;
    private long _writeStart;
    private long _written;
    private long _sent;
    private long _calls;
    private int _queued;
    private BurstSize _burst;
    private volatile bool _blocked;
    private bool _flushing;
    private bool _final;
    private bool _closed;
    private bool _closeAsked;
    private bool _shutdownWhenFlushed;
    private bool _shutdownDone;

    public SocketOutput(Socket socket, SocketConnection connection, ConnectionSettings settings)
    {
        _socket = socket;
        _connection = connection;
        _settings = settings;
        _others = new OthersWrite(settings.MaxSendBytes, settings.Pool);
        _filling = new SendRing(settings.MaxSendBytes, settings.Pool);
        _sending = new SendRing(settings.MaxSendBytes, settings.Pool);
    }

    public long PendingBytes => Volatile.Read(ref _written) - Volatile.Read(ref _sent);

    /// <summary>Whether an operation waits for the socket to take more.</summary>
    public bool IsBlocked => _blocked;

    public long BytesSent => Volatile.Read(ref _sent);

    public long SendCalls => Volatile.Read(ref _calls);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ArrayPoolCircularBuffer? BeginWrite()
    {
        if (!_connection.IsOnLoop)
        {
            return BeginOthersWrite();
        }

        _gate.Enter();
        if (_closed || _shutdownWhenFlushed)
        {
            _gate.Exit();
            return null;
        }

        ArrayPoolCircularBuffer ring = _filling.Ring;
        if (ring.Capacity == 0)
        {
            _filling.MakeRoom(_burst, _gate);
        }

        _writeStart = ring.WritePosition;
        return ring;
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void EndWrite()
    {
        if (_connection.IsOnLoop)
        {
            EndLoopWrite();
        }
        else
        {
            EndOthersWrite(unlessFinal: false);
        }
    }

    /// <summary>As <see cref="EndWrite"/>; false where a final write came first: then nothing was written, and nothing lent.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public bool TryEndWrite()
    {
        if (_connection.IsOnLoop)
        {
            EndLoopWrite();
            return true;
        }

        return EndOthersWrite(unlessFinal: true);
    }

    /// <summary>Ends a write of the loop's, behind which <see cref="TryEndWrite"/> of other threads refuses.</summary>
    public void EndFinalWrite()
    {
        _final = true;
        EndLoopWrite();
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void EndLoopWrite()
    {
        Volatile.Write(ref _written, _written + (_filling.Ring.WritePosition - _writeStart));
        _gate.Exit();
    }

    private ArrayPoolCircularBuffer? BeginOthersWrite()
    {
        _others.Enter();
        _gate.Enter();
        if (_closed || _shutdownWhenFlushed)
        {
            _gate.Exit();
            _others.Leave();
            return null;
        }

        // What is copied behind others needs no room of its own for a whole burst.
        int waiting = _filling.Ring.Length;
        int expected = _filling.IsEmpty ? _burst.Expected : 0;
        _gate.Exit();
        return _others.Begin(waiting, expected);
    }

    private bool EndOthersWrite(bool unlessFinal)
    {
        long bytes = _others.Bytes;
        bool accepted = true;
        bool joined = true;
        if (bytes != 0 || _others.Ring.BorrowedCount != 0)
        {
            lock (_gate)
            {
                accepted = !(_closed || _shutdownWhenFlushed) && !(unlessFinal && _final);
                joined = accepted && _others.TryJoin(ref _filling);
                Volatile.Write(ref _written, _written + (joined ? bytes : 0));
            }
        }

        if (!joined)
        {
            _others.Drop(unlessFinal && !accepted ? null : _connection.Release);
        }

        _others.Leave();
        if (accepted && !joined)
        {
            _connection.SendFault(new OutOfMemoryException($"There is no memory for {bytes} bytes to be sent."));
        }

        return accepted;
    }

    /// <summary>Appends bytes that stay where they are; false where there is no room, and then they stay the caller's. Between BeginWrite and EndWrite only.</summary>
    public bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        if (!_connection.IsOnLoop)
        {
            return TryBorrowForOthers(memory, release, state);
        }

        if (!_filling.TryBorrow(memory, release, state))
        {
            return false;
        }

        // EndWrite counts from here on: bytes beside the ring then cost it nothing.
        _writeStart -= memory.Length;
        return true;
    }

    private bool TryBorrowForOthers(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        lock (_gate)
        {
            long waiting = _filling.Ring.Length + _filling.BorrowedBytes;
            return waiting + _others.Bytes + memory.Length <= _settings.MaxSendBytes && _others.Ring.TryBorrow(memory, release, state);
        }
    }

    public void Flush()
    {
        lock (_gate)
        {
            if (_flushing || _closed)
            {
                return;
            }

            if (_filling.IsEmpty)
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

    private void ShutdownIfAsked()
    {
        if (_shutdownWhenFlushed && !_shutdownDone)
        {
            _shutdownDone = true;
            _connection.ShutDownOutput();
        }
    }

    private void Fail(SocketError error)
    {
        // From here on no writer adds anything. The flusher stays one until all is given back: the connection ends after that.
        lock (_gate)
        {
            _closed = true;
        }

        _blocked = false;
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
        BorrowedSegments.Segment dropped;
        while (_sending.TryDrop(out dropped) || _filling.TryDrop(out dropped))
        {
            _connection.Release(dropped);
        }
    }

    private void DisposeRings()
    {
        _filling.Ring.Dispose();
        _sending.Ring.Dispose();
        Volatile.Write(ref _written, Volatile.Read(ref _sent));
        _args?.Dispose();
    }
}
