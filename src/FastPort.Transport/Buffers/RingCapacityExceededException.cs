namespace FastPort.Connections;

/// <summary>
/// A write requested more bytes than the maximum capacity of an <see cref="ArrayPoolCircularBuffer"/> leaves. The ring is unchanged; an
/// encoder that has already committed a part of its message drops that part with <see cref="ArrayPoolCircularBuffer.RewindTo"/>.
/// </summary>
public sealed class RingCapacityExceededException : InvalidOperationException
{
    internal RingCapacityExceededException(int requestedBytes, int unreadBytes, int maximumCapacity)
        : base($"{requestedBytes} bytes do not fit: the ring holds {unreadBytes} unread bytes and its maximum capacity is "
            + $"{maximumCapacity}. Consume unread bytes first, or give the ring a higher maximum capacity.")
    {
        RequestedBytes = requestedBytes;
        UnreadBytes = unreadBytes;
        MaximumCapacity = maximumCapacity;
    }

    /// <summary>Bytes that the write requested.</summary>
    public int RequestedBytes { get; }

    /// <summary>Unread bytes the ring held.</summary>
    public int UnreadBytes { get; }

    /// <summary>The ring's maximum capacity in bytes.</summary>
    public int MaximumCapacity { get; }
}
