namespace FastPort;

/// <summary>The result of a send. Expected outcomes are values, not exceptions.</summary>
public enum SendStatus
{
    /// <summary>The message is in the send queue and is sent in order, unless the connection is lost first.</summary>
    Queued,

    /// <summary>
    /// The send queue is full; the message was not queued. Wait with <see cref="Session.WhenWritableAsync"/> or use an awaiting send.
    /// </summary>
    Full,

    /// <summary>The send queue is full and the policy drops one-way messages; the message was dropped and counted.</summary>
    Dropped,

    /// <summary>The session is closed or closing.</summary>
    Closed,

    /// <summary>The message exceeds the frame limit, or the limit of what a router forwards to other servers; it was not queued.</summary>
    TooLarge,

    /// <summary>
    /// No session has the routing id that the message was sent to, or that session is closing; the message was not queued.
    /// </summary>
    NotFound,

    /// <summary>
    /// The peer has not said Hello, and until then a server sends no unsolicited messages; the message was not queued. Send from
    /// <c>FastPortServer.SessionIdentified</c> on. Messages that a request asked for can be sent earlier, through <c>RequestContext</c> or
    /// <c>InlineRequest</c>.
    /// </summary>
    NotReady,

    /// <summary>
    /// The servers behind this one cannot be reached; the message was not sent, and sending it again later is safe. Only for messages to a
    /// routing id, through a router that forwards them.
    /// </summary>
    Unavailable,

    /// <summary>
    /// The message was forwarded to another server, which has not confirmed it in time: whether its target has received it is unknown.
    /// </summary>
    Unconfirmed,
}
