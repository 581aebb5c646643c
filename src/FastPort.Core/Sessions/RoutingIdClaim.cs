using System.Diagnostics.CodeAnalysis;

namespace FastPort.Sessions;

/// <summary>A session's claim to a routing id among several servers; see <see cref="IRoutingIdClaims"/>. Thread-safe.</summary>
[Experimental("FASTPORT001")]
public sealed class RoutingIdClaim
{
    internal RoutingIdClaim(Session session, string routingId, bool takesOver)
    {
        Session = session;
        RoutingId = routingId;
        TakesOver = takesOver;
    }

    /// <summary>The session that claims the id. It has the id only after its welcome.</summary>
    public Session Session { get; }

    /// <summary>The id; not empty.</summary>
    public string RoutingId { get; }

    /// <summary>Whether the session replaces another one that has the id.</summary>
    public bool TakesOver { get; }

    /// <summary>Whether the session has begun to close: its id is already free for others.</summary>
    public bool IsEnding => Session.Protocol.End.HasBegun;

    /// <summary>
    /// Ends the session as <see cref="CloseKind.TakenOver"/>: a session of another server has the id now. A session that is already closing
    /// keeps its own reason and still answers its requests in flight. Returns at once.
    /// </summary>
    /// <param name="reason">Sentence for the peer and the log.</param>
    public void Lose(string reason)
    {
        if (!IsEnding)
        {
            Session.Protocol.CloseWithGoodbye(new CloseReason(CloseKind.TakenOver, reason));
        }
    }
}
