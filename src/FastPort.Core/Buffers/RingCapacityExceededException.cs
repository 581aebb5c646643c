namespace FastPort.Buffers;

/// <summary>
/// A write asked an <see cref="ArrayPoolCircularBuffer"/> for more than its cap leaves. The ring is unchanged; an encoder that has already
/// committed a part of its message drops that with <see cref="ArrayPoolCircularBuffer.RewindTo"/>.
/// </summary>
public sealed class RingCapacityExceededException : InvalidOperationException
{
    internal RingCapacityExceededException(int requestedBytes, int unreadBytes, int maximumCapacity)
        : base($"{requestedBytes} bytes do not fit: the ring holds {unreadBytes} unread bytes and its cap is {maximumCapacity}. " +
            "Consume unread bytes first, or give the ring a higher maximum capacity.")
    {
        RequestedBytes = requestedBytes;
        UnreadBytes = unreadBytes;
        MaximumCapacity = maximumCapacity;
    }

    /// <summary>Bytes the write asked for.</summary>
    public int RequestedBytes { get; }

    /// <summary>Unread bytes the ring held.</summary>
    public int UnreadBytes { get; }

    /// <summary>The ring's cap in bytes.</summary>
    public int MaximumCapacity { get; }
}
