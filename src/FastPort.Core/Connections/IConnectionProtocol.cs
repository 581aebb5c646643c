using FastPort.Buffers;

namespace FastPort.Connections;

/// <summary>What a protocol wants after it has looked at the unread bytes.</summary>
public enum ReceiveOutcome
{
    /// <summary>Everything that could be consumed was; read on.</summary>
    Continue,

    /// <summary>
    /// Stop reading (back-pressure) until <see cref="Connection.ResumeReading"/>; unread bytes stay where they are. A protocol that calls
    /// <see cref="Connection.ResumeReading"/> before it returns this yields: it is called again as soon as others have had their turn.
    /// </summary>
    Pause,
}

/// <summary>
/// A byte protocol plugged into a <see cref="Connection"/>: FastPort's frames are one, any other can be another. One instance serves one
/// connection. All calls come on the connection's loop, one at a time, so what only they use needs no lock. None of them may block.
/// </summary>
public interface IConnectionProtocol
{
    /// <summary>
    /// The connection is up; called once, before anything else. On the loop, never on the thread that accepted or connected.
    /// </summary>
    /// <param name="connection">The connection, valid until <see cref="OnClosed"/>.</param>
    void OnOpened(Connection connection);

    /// <summary>
    /// Bytes have arrived or reading was resumed. Consume every whole message from <paramref name="input"/> and leave the rest; reserve
    /// room for a long message with <see cref="ArrayPoolCircularBuffer.TryReserve"/>, and where a message is needed in one piece, get it
    /// with <see cref="ArrayPoolCircularBuffer.TryGetContiguous"/>. What is written meanwhile is flushed once, afterwards.
    /// </summary>
    /// <param name="input">All unread bytes. Owned by the connection; not to be kept.</param>
    ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input);

    /// <summary>
    /// The peer has ended its side and everything before was offered. The protocol closes the connection when it has answered.
    /// </summary>
    /// <param name="truncated">Whether bytes are left that make no whole message.</param>
    void OnInputEnded(bool truncated);

    /// <summary>The bytes waiting to be sent fell to what <see cref="Connection.NotifyWhenDrained"/> asked for.</summary>
    void OnOutputDrained();

    /// <summary>
    /// The peer has taken none of the waiting bytes for too long, and the connection is closed next. What is written here goes out behind
    /// those bytes, if the peer takes them within the drain time after all. Does nothing unless implemented.
    /// </summary>
    /// <param name="reason">Why the connection will end.</param>
    void OnWriteTimeout(CloseReason reason)
    {
    }

    /// <summary>
    /// The coarse clock ticked: the place for deadlines. After the start it comes at the first tick, then at the time that was returned,
    /// and at the tick after every burst, flush and <see cref="Connection.RequestTick"/>.
    /// </summary>
    /// <param name="nowMilliseconds">The clock's reading in milliseconds.</param>
    /// <returns>
    /// The reading, in milliseconds, from which on it has to come again unless something asks for it earlier: the next deadline,
    /// <see cref="ConnectionClock.NextTick"/> or <see cref="ConnectionClock.Never"/>.
    /// </returns>
    long OnTick(long nowMilliseconds);

    /// <summary>
    /// The server stops: the place to say goodbye and to finish what is under way. The connection is aborted when the server's time is
    /// over.
    /// </summary>
    /// <param name="reason">Why the connection shall end.</param>
    /// <returns>Whether the protocol closes the connection itself, now or later. With false, as unless implemented, the server closes it
    /// in order at once.</returns>
    bool OnStopping(CloseReason reason) => false;

    /// <summary>
    /// The connection is over; called exactly once, after the last of the other calls on the loop. Nothing can be written any more.
    /// </summary>
    /// <param name="reason">Why.</param>
    void OnClosed(CloseReason reason);
}
