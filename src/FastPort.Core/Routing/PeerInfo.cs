namespace FastPort;

/// <summary>A session with a routing id and its traffic, as of one moment. Immutable.</summary>
/// <param name="SessionId">The session's number in its server's process.</param>
/// <param name="RoutingId">The session's routing id.</param>
/// <param name="ClientName">The peer's name for itself.</param>
/// <param name="ConnectedAt">When the session was opened, to the millisecond.</param>
/// <param name="MessagesIn">Messages the server has received from the session.</param>
/// <param name="MessagesOut">Messages the server has queued for the session.</param>
/// <param name="BytesIn">Bytes the server has received from the session, headers included.</param>
/// <param name="BytesOut">Bytes the server has sent to the session, headers included.</param>
public sealed record PeerInfo(
    long SessionId,
    string RoutingId,
    string ClientName,
    DateTimeOffset ConnectedAt,
    long MessagesIn,
    long MessagesOut,
    long BytesIn,
    long BytesOut)
{
    /// <summary>The name of the session's server among several; empty if it is the only one.</summary>
    public string Node { get; init; } = string.Empty;

    internal static PeerInfo Of(Session session) => new(
        session.Id,
        session.RoutingId,
        session.ClientName,
        DateTimeOffset.FromUnixTimeMilliseconds(session.OpenedAt.ToUnixTimeMilliseconds()),
        session.MessagesReceived,
        session.MessagesSent,
        session.Connection.BytesReceived,
        session.Connection.BytesSent);
}
