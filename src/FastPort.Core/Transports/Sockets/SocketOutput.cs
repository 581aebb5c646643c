using System.Net.Sockets;
using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>
/// The send side of a socket connection: two <see cref="SendRing"/>s, one being filled by writers, one being sent by whoever flushes.
/// <para>
/// The loop and other threads each write to a <see cref="WriteRing"/>, which joins <see cref="_filling"/> when the write ends. Other
/// threads take turns by <see cref="_writers"/>, taken before <see cref="_gate"/>, which guards <see cref="_filling"/>, the swap of the
/// rings and the flags. The ring being sent belongs to the one flusher (<see cref="_flushing"/>), so no lock is held during a system call
/// and writers never wait for the kernel. A ring whose bytes are all sent gives its array back at once: the next burst, of any connection,
/// gets the same warm array from the pool, and an idle connection holds none.
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
    private readonly Lock _writers = new();
    private readonly WriteRing _loopWrite;
    private readonly WriteRing _othersWrite;
    private SendRing _filling;
    private SendRing _sending;
    private SendArgs? _args;
    private long _written;
    private long _sent;
    private long _calls;
    private int _queued;
    private SizeEstimate _burst;
    private volatile bool _blocked;
    private bool _flushing;
    private int _writes;
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
        _loopWrite = new WriteRing(settings.MaxSendBytes, connection.SendPool);
        _othersWrite = new WriteRing(settings.MaxSendBytes, connection.SendPool);
        _filling = new SendRing(settings.MaxSendBytes, connection.SendPool);
        _sending = new SendRing(settings.MaxSendBytes, connection.SendPool);
    }

    public long PendingBytes => Volatile.Read(ref _written) - Volatile.Read(ref _sent);

    /// <summary>Whether an operation waits for the socket to take more.</summary>
    public bool IsBlocked => _blocked;

    public long BytesSent => Volatile.Read(ref _sent);

    public long SendCalls => Volatile.Read(ref _calls);

    public ArrayPoolCircularBuffer? BeginWrite()
    {
        bool onLoop = _connection.IsOnLoop;
        if (!onLoop)
        {
            _writers.Enter();
        }

        _gate.Enter();
        if (_closed || _shutdownWhenFlushed)
        {
            if (!onLoop)
            {
                _writers.Exit();
            }

            _gate.Exit();
            return null;
        }

        // What is copied behind others needs no room of its own for a whole burst.
        int waiting = _filling.Ring.Length;
        int expected = _filling.IsEmpty ? _burst.Expected : 0;
        _writes++;
        _gate.Exit();
        try
        {
            return (onLoop ? _loopWrite : _othersWrite).Begin(waiting, expected);
        }
        catch
        {
            // No memory: nothing was written, and nobody waits for it.
            EndWrite();
            throw;
        }
    }

    public void EndWrite() => EndWrite(unlessFinal: false, isFinal: false);

    /// <summary>As <see cref="EndWrite()"/>; false where a final write came first: then nothing was written, and nothing lent.</summary>
    public bool TryEndWrite() => EndWrite(unlessFinal: true, isFinal: false);

    /// <summary>Ends a write of the loop's, behind which <see cref="TryEndWrite"/> refuses.</summary>
    public void EndFinalWrite() => EndWrite(unlessFinal: false, isFinal: true);

    private bool EndWrite(bool unlessFinal, bool isFinal)
    {
        bool onLoop = _connection.IsOnLoop;
        WriteRing write = onLoop ? _loopWrite : _othersWrite;
        long bytes = write.Bytes;
        bool accepted = true;
        bool joined = true;
        bool ended;
        lock (_gate)
        {
            if (!write.IsEmpty)
            {
                accepted = !_closed && !(unlessFinal && _final);
                joined = accepted && write.TryJoin(ref _filling);
                Volatile.Write(ref _written, _written + (joined ? bytes : 0));
            }

            _final |= isFinal;
            ended = --_writes == 0 && _shutdownWhenFlushed;
        }

        if (!joined)
        {
            write.Drop(unlessFinal && !accepted ? null : _connection.Release);
        }

        if (!onLoop)
        {
            write.Rest();
            _writers.Exit();
        }

        if (ended)
        {
            // The stream's end has waited for this write.
            Flush();
        }

        if (accepted && !joined)
        {
            _connection.SendFault(new IOException($"There is no memory for {bytes} bytes to be sent."));
        }

        return accepted;
    }

    /// <summary>
    /// Appends bytes that stay where they are; false where there is no room, and then they stay the caller's. Within a write.
    /// </summary>
    public bool TryWriteBorrowed(ReadOnlyMemory<byte> memory, Action<object?>? release, object? state)
    {
        WriteRing write = _connection.IsOnLoop ? _loopWrite : _othersWrite;
        lock (_gate)
        {
            long waiting = _filling.Ring.Length + _filling.BorrowedBytes;
            return waiting + write.Bytes + memory.Length <= _settings.MaxSendBytes && write.TryBorrow(memory, release, state);
        }
    }

    /// <summary>Before the loop rests, and at its end: gives back what its writes keep.</summary>
    public void RestLoopWrite() => _loopWrite.Rest();

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
        // Writes that have begun are sent.
        if (_shutdownWhenFlushed && !_shutdownDone && _writes == 0)
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
