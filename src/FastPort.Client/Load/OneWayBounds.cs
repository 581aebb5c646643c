using FastPort.Framing;

namespace FastPort.Client.Load;

/// <summary>Bounds of the bytes of a one-way load that are in flight.</summary>
internal static class OneWayBounds
{
    // Bytes per batch. Smaller batches wake the receiver for fewer bytes, and both sides spend more of their time on wake-ups.
    private const int BatchBytes = 128 * 1024;

    private const int QueuedBytes = 64 * 1024 * 1024;
    private const int StreamedBytes = 16 * 1024 * 1024;
    private const int Least = 16 * 1024;

    /// <summary>Messages of this size per flush of a connection, at least 1.</summary>
    public static int BatchMessages(int size, int connections) =>
        Math.Max(1, Math.Min(BatchBytes, QueueBytes(connections)) / (size + FrameHeader.Size));

    /// <summary>
    /// Bytes that may wait in each connection's send queue: few enough for the kernel to take in a few calls, and bounded over all
    /// connections.
    /// </summary>
    public static int QueueBytes(int connections) => Math.Clamp(QueuedBytes / connections, Least, 256 * 1024);

    /// <summary>Messages per Source request, at least 1.</summary>
    /// <param name="size">Bytes of a message.</param>
    /// <param name="connections">Connections of the run.</param>
    /// <param name="inFlight">Requests in flight per connection.</param>
    public static int StreamPiece(int size, int connections, int inFlight)
    {
        // The messages in flight at the end of the measured time lengthen the run; with too few in flight the server waits for requests.
        int perConnection = Math.Clamp(StreamedBytes / connections, Least, 2 * 1024 * 1024);
        return Math.Max(1, perConnection / (size + FrameHeader.Size) / inFlight);
    }
}
