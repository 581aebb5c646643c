namespace FastPort.Sessions;

/// <summary>What became of a send. Expected outcomes are values, not exceptions.</summary>
public enum SendStatus
{
    /// <summary>The message is in the send queue and will leave in order, unless the connection dies first.</summary>
    Queued,

    /// <summary>
    /// The send queue is full; nothing was taken. Wait with <see cref="Session.WhenWritableAsync"/> or use an awaiting send.
    /// </summary>
    Full,

    /// <summary>The send queue is full and the policy drops one-way messages; counted.</summary>
    Dropped,

    /// <summary>The session is closed or closing.</summary>
    Closed,

    /// <summary>The message exceeds the frame limit; nothing was taken.</summary>
    TooLarge,

    /// <summary>No session has the routing id that the message was sent to, or the one that has it is closing; nothing was taken.</summary>
    NotFound,

    /// <summary>
    /// The peer has not said Hello, and a server sends nothing unsolicited before; nothing was taken. Send again from
    /// <c>FastPortServer.SessionIdentified</c> on. What a request asked for may be sent before: through
    /// <c>RequestContext</c> or <c>InlineRequest</c>.
    /// </summary>
    NotReady,
}
