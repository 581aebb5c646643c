using System.Net.Sockets;
using FastPort.Buffers;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>
/// The receive side of a socket connection: from the kernel straight into the ring. The pump's own, except <see cref="Received"/>.
/// </summary>
internal sealed class SocketInput(Socket socket, ConnectionSettings settings)
{
    private const int MinimumCapacity = 1024;
    private const int ReceiveSize = 64 * 1024;
    private const int MaxReceiveSize = 512 * 1024;

    private int _receiveSize = ReceiveSize;
    private long _received;

    public ArrayPoolCircularBuffer Ring { get; } = new(MinimumCapacity, settings.MaxReceiveBytes, settings.ReceivePool);

    /// <summary>Bytes received; any thread.</summary>
    public long Received => Volatile.Read(ref _received);

    /// <summary>Whether the peer has ended its side.</summary>
    public bool Ended { get; private set; }

    /// <summary>Receives once. Success is also the end of the stream.</summary>
    /// <param name="drained">Whether the kernel had less than there was room for.</param>
    public SocketError Receive(out bool drained)
    {
        drained = false;
        int room = Math.Min(_receiveSize, Math.Max(Ring.MaximumCapacity - Ring.Length, 1));
        if (Ring.Capacity - Ring.Length < room && !Ring.TryMakeRoom(room))
        {
            Ring.TryMakeRoom(1);
        }

        Span<byte> span = Ring.GetWritableSpan(1);
        int count;
        SocketError error;
        do
        {
            count = socket.Receive(span, SocketFlags.None, out error);
        }
        while (error == SocketError.Interrupted);
        if (error != SocketError.Success)
        {
            return error;
        }

        if (count == 0)
        {
            Ended = true;
            return SocketError.Success;
        }

        Ring.Advance(count);
        Volatile.Write(ref _received, _received + count);
        drained = count < span.Length;
        _receiveSize = drained ? Math.Max(ReceiveSize, _receiveSize - (_receiveSize >> 3)) : Math.Min(_receiveSize * 2, MaxReceiveSize);
        return SocketError.Success;
    }

    /// <summary>Before waiting for data: an idle connection holds no buffer.</summary>
    public void ReleaseWhenIdle() => Ring.ReleaseWhenIdle();
}
