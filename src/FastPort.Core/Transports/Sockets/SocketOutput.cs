using System.Net.Sockets;
using System.Runtime.InteropServices;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>
/// The send side of a socket connection. One flusher at a time (<see cref="_flushing"/>) takes ring after ring from the queue and sends it
/// under no lock, so writers never wait for the kernel. The ring being sent belongs to the flusher; the thread that closes the output drops
/// it.
/// </summary>
internal sealed class SocketOutput : SendQueue, IThreadPoolWorkItem
{
    // A pending operation reports nothing until all its bytes are sent: with small pieces the write timeout sees progress.
    private const int PendingChunk = 64 * 1024;

    // From this size on the copy into the kernel costs more than the peer's wake-up, and bytes are best sent while still in the cache.
    private const int FlushAtOnceBytes = 32 * 1024;

    // A flusher that other threads keep feeding goes to the back of the pool's queue after this many rings.
    private const int RingsPerTurn = 16;

    private readonly Socket _socket;
    private readonly SocketConnection _connection;
    private SendRing? _sending;
    private SendArgs? _args;
    private int _queued;
    private volatile bool _blocked;

    // Guarded by the gate: whether a flusher is active, and whether the pump has ended, in which case the last flusher releases everything.
    private bool _flushing;
    private bool _ended;

    public SocketOutput(Socket socket, SocketConnection connection, ConnectionSettings settings)
        : base(connection, settings)
    {
        _socket = socket;
        _connection = connection;
    }

    /// <summary>Whether a send operation waits for room in the socket's buffer.</summary>
    public bool IsBlocked => _blocked;

    public void Flush()
    {
        lock (Gate)
        {
            if (_flushing || IsClosed)
            {
                return;
            }

            _sending = Take();
            if (_sending is null)
            {
                ShutDownWhenEnding();
                return;
            }

            _flushing = true;
        }

        Send();
    }

    /// <summary>Flushes once the current thread has offered all ready input; a long enough output is flushed at once.</summary>
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

    /// <summary>Flushes an output that was queued in the <see cref="FlushQueue"/>.</summary>
    public void FlushQueued()
    {
        Interlocked.Exchange(ref _queued, 0);
        Flush();
    }

    /// <summary>Closes the send side. True if no flusher is active; otherwise the flusher reports the end.</summary>
    public bool TryClose()
    {
        lock (Gate)
        {
            Close();
            _ended = true;
            if (_flushing)
            {
                return false;
            }
        }

        Drop();
        return true;
    }

    void IThreadPoolWorkItem.Execute() => Send();

    protected override void Ending() => Flush();

    // Under the gate, by the thread that finds nothing to send.
    private void ShutDownWhenEnding()
    {
        if (IsEnding && !HasWriter && !_connection.IsOutputDown)
        {
            _connection.ShutDownOutput();
        }
    }

    private void Send()
    {
        int rings = 0;
        while (TrySendRing() && TryTakeNext())
        {
            if (++rings == RingsPerTurn)
            {
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
                return;
            }
        }
    }

    // False while an operation is pending: its completion continues the work.
    private bool TrySendRing()
    {
        try
        {
            while (!IsClosed && !_sending!.IsEmpty)
            {
                CountSendCall();
                int count = _socket.Send(_sending.NextMemory.Span, SocketFlags.None, out SocketError error);
                if (error == SocketError.WouldBlock)
                {
                    if (SendPending())
                    {
                        return false;
                    }
                }
                else
                {
                    Sent(count, error);
                }
            }
        }
        catch (Exception e)
        {
            _blocked = false;
            Close();
            _connection.SendFault(e);
        }

        return true;
    }

    // True while the operation is pending.
    private bool SendPending()
    {
        _args ??= new SendArgs(this);
        ReadOnlyMemory<byte> memory = _sending!.NextMemory;
        _args.SetBuffer(MemoryMarshal.AsMemory(memory[..Math.Min(memory.Length, PendingChunk)]));
        _blocked = true;
        CountSendCall();
        if (_socket.SendAsync(_args))
        {
            return true;
        }

        Completed();
        return false;
    }

    private void Completed()
    {
        _blocked = false;
        int count = _args!.BytesTransferred;

        // Borrowed memory must not be kept alive after its release.
        _args.SetBuffer(Memory<byte>.Empty);
        Sent(count, _args.SocketError);
    }

    private void Sent(int count, SocketError error)
    {
        if (error == SocketError.Success)
        {
            _sending!.TakeSent(count, _connection);
            CountSent(count);
            _connection.SentSome();
        }
        else if (error != SocketError.Interrupted)
        {
            // First, so that a writer that waited for room finds the output closed.
            Close();
            _connection.OutputFailed(error);
        }
    }

    // False if there is nothing more to send: the flusher stops.
    private bool TryTakeNext()
    {
        bool isOver;
        lock (Gate)
        {
            if (!IsClosed)
            {
                Return(_sending!);
                _sending = Take();
                if (_sending is not null)
                {
                    return true;
                }
            }

            _flushing = false;
            isOver = _ended;
            if (!IsClosed)
            {
                ShutDownWhenEnding();
            }
        }

        if (isOver)
        {
            Drop();
            _connection.OutputQuiescent();
        }

        return false;
    }

    private void Drop()
    {
        DropWaiting(_sending);
        _args?.Dispose();
    }

    private sealed class SendArgs(SocketOutput output) : SocketAsyncEventArgs(true)
    {
        protected override void OnCompleted(SocketAsyncEventArgs e)
        {
            output.Completed();
            output.Send();
        }
    }
}
