using FastPort.Framing;

namespace FastPort.Client.Load;

/// <summary>How much of a one-way load is on its way at once.</summary>
internal static class OneWayBounds
{
    // What a batch appends at once. With less the receiver is woken for less, and both sides spend their time waking up.
    private const int BatchBytes = 128 * 1024;

    private const int QueuedBytes = 64 * 1024 * 1024;
    private const int StreamedBytes = 16 * 1024 * 1024;
    private const int Least = 16 * 1024;

    /// <summary>Messages of this size that each connection sends with one flush, at least 1.</summary>
    public static int BatchMessages(int size, int connections) =>
        Math.Max(1, Math.Min(BatchBytes, QueueBytes(connections)) / (size + FrameHeader.Size));

    /// <summary>
    /// Bytes that may wait in each connection's send queue: no more than the kernel takes in a few calls, and bounded over all connections.
    /// </summary>
    public static int QueueBytes(int connections) => Math.Clamp(QueuedBytes / connections, Least, 256 * 1024);

    /// <summary>Messages that one Source request asks for, at least 1.</summary>
    /// <param name="size">Bytes of a message.</param>
    /// <param name="connections">Connections of the run.</param>
    /// <param name="inFlight">Requests in flight on each.</param>
    public static int StreamPiece(int size, int connections, int inFlight)
    {
        // What is in flight when the time is up has still to come, and lengthens the run; too little, and the server waits for requests.
        int perConnection = Math.Clamp(StreamedBytes / connections, Least, 2 * 1024 * 1024);
        return Math.Max(1, perConnection / (size + FrameHeader.Size) / inFlight);
    }
}
