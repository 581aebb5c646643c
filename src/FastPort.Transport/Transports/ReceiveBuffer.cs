using System.Buffers;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>
/// A connection's receive ring, and how much a receive asks for: twice as much after one that filled its room, an eighth less after one
/// that did not. The loop's own but for <see cref="BytesReceived"/>.
/// </summary>
internal sealed class ReceiveBuffer(int maximumBytes, ArrayPool<byte> pool)
{
    public const int LeastRoom = 64 * 1024;
    public const int MostRoom = 512 * 1024;

    private const int MinimumCapacity = 1024;

    private int _room = LeastRoom;
    private long _received;

    public ArrayPoolCircularBuffer Ring { get; } = new(MinimumCapacity, maximumBytes, pool);

    /// <summary>Bytes received; thread-safe.</summary>
    public long BytesReceived => Volatile.Read(ref _received);

    /// <summary>Whether the ring may hold more than it does.</summary>
    public bool HasRoom => Ring.Length < Ring.MaximumCapacity;

    /// <summary>The memory for the next receive.</summary>
    /// <exception cref="RingCapacityExceededException">
    /// The protocol left as many bytes unread as the ring may hold, and needs more.
    /// </exception>
    public Span<byte> MakeRoom()
    {
        Ring.TryMakeRoom(Math.Min(_room, Ring.MaximumCapacity - Ring.Length));
        return Ring.GetWritableSpan(1);
    }

    /// <summary>Commits received bytes. True if they filled the room: there may be more.</summary>
    /// <param name="count">Bytes, 1 or more.</param>
    /// <param name="room">The room that the receive had.</param>
    public bool Received(int count, int room)
    {
        Ring.Advance(count);
        Volatile.Write(ref _received, _received + count);
        bool filled = count == room;
        _room = filled ? Math.Min(_room * 2, MostRoom) : Math.Max(LeastRoom, _room - (_room >> 3));
        return filled;
    }
}
