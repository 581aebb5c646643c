using FastPort.Connections;
using FastPort.Routing;
using FastPort.Sessions;

namespace FastPort.Hosting;

// Who the sessions are, and the ways to them by routing id and topic.
public sealed partial class FastPortServer
{
    /// <summary>
    /// A session's Hello was accepted and answered: who it is is known, and it may be sent to unasked. Raised once per session that comes
    /// so far, after <see cref="SessionOpened"/>.
    /// </summary>
    public event Action<Session>? SessionIdentified;

    /// <summary>
    /// A session can be reached under its <see cref="Session.RoutingId"/>. Raised once per session that has one, after
    /// <see cref="SessionIdentified"/>. For one id this and <see cref="RoutingIdLost"/> take turns, one at a time: each waits for the
    /// subscribers of the one before.
    /// </summary>
    public event Action<Session>? RoutingIdTaken;

    /// <summary>
    /// A session cannot be reached under its <see cref="Session.RoutingId"/> any more, because it has ended or another one has taken the id
    /// over (<see cref="CloseKind.TakenOver"/>). Raised exactly once per <see cref="RoutingIdTaken"/>, before <see cref="SessionClosed"/>.
    /// </summary>
    public event Action<Session, CloseReason>? RoutingIdLost;

    /// <summary>Sends to sessions by routing id and topic, lists and kicks them.</summary>
    public ServerRouting Routing { get; }

    void ISessionHost.OnIdentified(Session session)
    {
        Identified();
        Raise(session, nameof(SessionIdentified), static (server, s, _) => server.SessionIdentified?.Invoke(s), null);
    }

    void ISessionHost.OnRoutingIdTaken(Session session) =>
        Raise(session, nameof(RoutingIdTaken), static (server, s, _) => server.RoutingIdTaken?.Invoke(s), null);

    void ISessionHost.OnRoutingIdLost(Session session, CloseReason reason) =>
        Raise(session, nameof(RoutingIdLost), static (server, s, r) => server.RoutingIdLost?.Invoke(s, r!), reason);
}
