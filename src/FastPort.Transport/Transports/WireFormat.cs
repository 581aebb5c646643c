using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>
/// The frames that carry the bytes of a connection on the wire, as those of a WebSocket do. The loop reads frames; the thread that sends
/// writes them (<see cref="SendQueue"/> says which thread that is).
/// <para>
/// The sender makes a frame of the bytes that wait when it sends. The frame is a copy of them, perhaps a shorter one; as its bytes are
/// sent, they leave the queue.
/// </para>
/// </summary>
/// <param name="connection">The connection.</param>
internal abstract class WireFormat(TransportConnection connection)
{
    /// <summary>The longest last frame, in bytes.</summary>
    public const int MaxEnd = 32;

    /// <summary>The longest header, in bytes.</summary>
    protected const int MaxHeader = 16;

    // Owned by the sender: the frame being sent, an array of the pool; its unsent part; and how many bytes of the ring are in that.
    private byte[]? _frame;
    private int _next;
    private int _end;
    private int _left;
    private bool _hasEnded;

    private long _unframedBytes;

    /// <summary>Bytes of payloads received.</summary>
    public abstract long BytesReceived { get; }

    /// <summary>
    /// Frames received that brought no bytes of a payload, and bytes received that no payload accounts for: the peer is charged for them.
    /// On the loop.
    /// </summary>
    public abstract (long Frames, long Bytes) WithoutData { get; }

    /// <summary>Bytes written without a frame around them: control frames and the handshake, which are not the protocol's.</summary>
    public long UnframedBytes => Volatile.Read(ref _unframedBytes);

    protected TransportConnection Connection => connection;

    /// <summary>Reads frames, and offers their payloads to the protocol. On the loop.</summary>
    /// <param name="input">The peer's bytes.</param>
    public abstract void OnReceived(ArrayPoolCircularBuffer input);

    /// <summary>The peer's stream has ended, after the bytes that were offered. On the loop.</summary>
    public abstract void OnInputEnded();

    /// <summary>Writes the last frame, which announces the end of the stream. Called by the sender, after the last byte.</summary>
    /// <param name="frame">Room for <see cref="MaxEnd"/> bytes.</param>
    /// <param name="length">Bytes of the frame.</param>
    /// <returns>False if it was written before.</returns>
    public bool TryEnd(Span<byte> frame, out int length)
    {
        length = _hasEnded ? 0 : WriteEnd(frame);
        return !_hasEnded && (_hasEnded = true);
    }

    /// <summary>Counts bytes written without a frame around them. Called under the gate of the send queue.</summary>
    public void CountUnframed(int bytes) => Volatile.Write(ref _unframedBytes, _unframedBytes + bytes);

    /// <summary>Returns rented arrays to their pool. Called once, when the connection ends.</summary>
    public virtual void Release() => ReturnFrame();

    /// <summary>The bytes to send next: the unsent part of the current frame, or a new frame of the ring's first bytes.</summary>
    /// <param name="ring">The ring, which is not empty.</param>
    /// <param name="most">Bytes of the ring that may be sent, 1 or more.</param>
    /// <param name="longest">Bytes that a frame may have.</param>
    public ReadOnlyMemory<byte> Next(SendRing ring, long most, int longest)
    {
        if (_frame is null)
        {
            ring.Next(out ReadOnlySpan<byte> first, out ReadOnlySpan<byte> second);
            int payload = (int)Math.Min(Math.Min(first.Length + second.Length, most), longest - MaxHeader);
            first = first[..Math.Min(first.Length, payload)];
            second = second[..(payload - first.Length)];
            _frame = Write(first, second, out _next, out _end);
            _left = payload;
        }

        return _frame.AsMemory(_next, _end - _next);
    }

    /// <summary>Counts bytes of <see cref="Next"/> as sent. By the sender.</summary>
    /// <returns>
    /// How many bytes of the ring they were. No more count as unsent than bytes of the frame are: so the header comes first, and the last
    /// byte of the ring leaves with the last one of the frame.
    /// </returns>
    public int Sent(int count)
    {
        _next += count;
        int left = Math.Min(_left, _end - _next);
        int sent = _left - left;
        _left = left;
        if (_next == _end)
        {
            ReturnFrame();
        }

        return sent;
    }

    /// <inheritdoc cref="TryEnd"/>
    /// <returns>Bytes of the frame.</returns>
    protected abstract int WriteEnd(Span<byte> frame);

    /// <summary>Writes a frame.</summary>
    /// <param name="first">The payload's beginning.</param>
    /// <param name="second">The rest of it.</param>
    /// <param name="start">Where the frame begins in the array.</param>
    /// <param name="end">Where it ends.</param>
    /// <returns>An array of <see cref="TransportConnection.SendPool"/>, which is returned to it when the frame is sent.</returns>
    protected abstract byte[] Write(ReadOnlySpan<byte> first, ReadOnlySpan<byte> second, out int start, out int end);

    private void ReturnFrame()
    {
        if (_frame is { } frame)
        {
            _frame = null;
            connection.SendPool.Return(frame);
        }
    }
}
