namespace FastPort.Connections;

/// <summary>What the connection does after a protocol has handled the unread bytes.</summary>
public enum ReceiveOutcome
{
    /// <summary>The protocol has consumed what it could; the connection keeps reading.</summary>
    Continue,

    /// <summary>
    /// The connection stops reading (back-pressure) until <see cref="Connection.ResumeReading"/>; unread bytes stay in the ring. A protocol
    /// that calls <see cref="Connection.ResumeReading"/> before it returns this value yields: the loop calls it again after other
    /// connections have had their turn.
    /// </summary>
    Pause,
}

/// <summary>
/// A byte protocol on a <see cref="Connection"/>; FastPort's frames are one such protocol. One instance serves one connection. The
/// connection's loop makes all calls, one at a time, so state that only these calls use needs no lock. No call may block.
/// </summary>
public interface IConnectionProtocol
{
    /// <summary>
    /// The connection is open. Called once, before all other calls, on the loop, never on the thread that accepted or connected. The
    /// default does nothing.
    /// </summary>
    /// <param name="connection">The connection, valid until <see cref="OnClosed"/>.</param>
    void OnOpened(Connection connection)
    {
    }

    /// <summary>
    /// Bytes have arrived or reading was resumed. Consume every whole message from <paramref name="input"/> and leave the rest. Reserve
    /// room for a long message with <see cref="ArrayPoolCircularBuffer.TryReserve"/>; get a message in one piece with
    /// <see cref="ArrayPoolCircularBuffer.TryGetContiguous"/>. The loop flushes the written bytes once, after the call.
    /// </summary>
    /// <param name="input">All unread bytes. The connection owns the ring; do not keep a reference.</param>
    ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input);

    /// <summary>
    /// The peer has shut down its send side, and all bytes before were passed to <see cref="OnReceived"/>. The protocol closes the
    /// connection when it has answered.
    /// </summary>
    /// <param name="truncated">Whether bytes are left that are not a whole message.</param>
    void OnInputEnded(bool truncated);

    /// <summary>
    /// The bytes that wait to be sent have fallen to the mark of <see cref="Connection.NotifyWhenDrained"/>. The default does nothing.
    /// </summary>
    void OnOutputDrained()
    {
    }

    /// <summary>
    /// The peer has read none or too few of the pending bytes within the write timeout; the connection closes after this call. Bytes
    /// written here follow the pending bytes, and are sent if the peer reads those within the drain time. The default does nothing.
    /// </summary>
    /// <param name="reason">Why the connection closes.</param>
    void OnWriteTimeout(CloseReason reason)
    {
    }

    /// <summary>
    /// The coarse clock ticked: check deadlines here. Called at the first tick after the start, then at the returned time, and at the tick
    /// after every burst, flush and <see cref="Connection.RequestTick"/>. The default has no deadlines.
    /// </summary>
    /// <param name="nowMilliseconds">The clock's reading in milliseconds.</param>
    /// <returns>
    /// The reading, in milliseconds, of the next call, unless a burst, flush or request makes it earlier: the next deadline,
    /// <see cref="ConnectionClock.NextTick"/> or <see cref="ConnectionClock.Never"/>.
    /// </returns>
    long OnTick(long nowMilliseconds) => ConnectionClock.Never;

    /// <summary>
    /// The server is stopping: send a goodbye and finish work in progress here. The server aborts the connection when its stop timeout has
    /// passed.
    /// </summary>
    /// <param name="reason">Why the connection must end.</param>
    /// <returns>
    /// True if the protocol closes the connection itself, now or later. False, the default: the server closes the connection in order at
    /// once.
    /// </returns>
    bool OnStopping(CloseReason reason) => false;

    /// <summary>The connection has ended. Called exactly once, after all other calls. Nothing can be written any more.</summary>
    /// <param name="reason">Why.</param>
    void OnClosed(CloseReason reason);
}
