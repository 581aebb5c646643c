using FastPort.Sessions;

namespace FastPort;

// Events of sessions and their routing ids, and the access to routing.
public sealed partial class FastPortServer
{
    /// <summary>
    /// A session's Hello was accepted and answered. From now on its identity is known, and unsolicited messages can be sent to it. Raised
    /// once per session, after <see cref="SessionOpened"/>.
    /// </summary>
    public event Action<Session>? SessionIdentified;

    /// <summary>
    /// A well-formed Hello was refused: by the authenticator or because it did not answer, by a ban, a rate, or the routing id. The session
    /// ends, or its peer sends another Hello. Raised before <see cref="SessionIdentified"/> and <see cref="SessionClosed"/>.
    /// </summary>
    public event Action<Session, HelloRefusal>? HelloRefused;

    /// <summary>
    /// A session has become reachable by its <see cref="Session.RoutingId"/>. Raised once per session that has one, after
    /// <see cref="SessionIdentified"/>. For one id, this event and <see cref="RoutingIdLost"/> alternate and never overlap: each waits for
    /// the subscribers of the previous one.
    /// </summary>
    public event Action<Session>? RoutingIdTaken;

    /// <summary>
    /// A session is no longer reachable by its <see cref="Session.RoutingId"/>, because it has ended or another session has taken over the
    /// id (<see cref="CloseKind.TakenOver"/>). Raised exactly once per <see cref="RoutingIdTaken"/>, before <see cref="SessionClosed"/>.
    /// </summary>
    public event Action<Session, CloseReason>? RoutingIdLost;

    /// <summary>Sends to sessions by routing id and topic, lists sessions and disconnects them.</summary>
    public ServerRouting Routing { get; }

    void ISessionHost.OnIdentified(Session session)
    {
        Identified();
        Raise(SessionIdentified, session, nameof(SessionIdentified));
    }

    void ISessionHost.OnHelloRefused(Session session, HelloRefusal refusal) =>
        Raise(HelloRefused, session, refusal, nameof(HelloRefused));

    void ISessionHost.OnRoutingIdTaken(Session session) => Raise(RoutingIdTaken, session, nameof(RoutingIdTaken));

    void ISessionHost.OnRoutingIdLost(Session session, CloseReason reason) =>
        Raise(RoutingIdLost, session, reason, nameof(RoutingIdLost));
}
