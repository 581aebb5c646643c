using System.Net.Sockets;
using System.Runtime.InteropServices;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>The send side of a socket connection.</summary>
internal sealed class SocketOutput : FlusherOutput, IThreadPoolWorkItem, IDisposable
{
    // A pending operation reports nothing until all its bytes are sent: with small pieces the write timeout sees progress.
    private const int PendingChunk = 64 * 1024;

    // From this size on the copy into the kernel costs more than the peer's wake-up, and bytes are best sent while still in the cache.
    private const int FlushAtOnceBytes = 32 * 1024;

    // A flusher that other threads keep feeding goes to the back of the pool's queue after this many rings.
    private const int RingsPerTurn = 16;

    private readonly Socket _socket;
    private readonly SocketConnection _connection;
    private SendArgs? _args;
    private int _queued;
    private volatile bool _blocked;

    public SocketOutput(Socket socket, SocketConnection connection, ConnectionSettings settings)
        : base(connection, settings)
    {
        _socket = socket;
        _connection = connection;
    }

    /// <summary>Whether a send operation waits for room in the socket's buffer.</summary>
    public bool IsBlocked => _blocked;

    private WireFormat? Wire => Sending!.IsUnframed ? null : _connection.Wire;

    private ReadOnlyMemory<byte> NextMemory => Wire?.Next(Sending!, Sending!.Bytes, PendingChunk) ?? Sending!.NextMemory;

    public override void Flush()
    {
        if (TryBecomeFlusher())
        {
            Send();
        }
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

    void IThreadPoolWorkItem.Execute() => Send();

    /// <summary>After the last flusher.</summary>
    public void Dispose() => _args?.Dispose();

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
            while (!IsClosed && !Sending!.IsEmpty)
            {
                CountSendCall();
                int count = _socket.Send(NextMemory.Span, SocketFlags.None, out SocketError error);
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
        ReadOnlyMemory<byte> memory = NextMemory;
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
            count = Wire?.Sent(count) ?? count;
            TakeSent(Sending!, count);
            _connection.SentSome();
        }
        else if (error != SocketError.Interrupted)
        {
            // First, so that a writer that waited for room finds the output closed.
            Close();
            _connection.OutputFailed(error);
        }
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
