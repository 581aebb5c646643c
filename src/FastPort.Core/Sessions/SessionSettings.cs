using FastPort.Connections;
using FastPort.Limits;
using FastPort.Sessions.Receiving;
using FastPort.Telemetry;
using Microsoft.Extensions.Logging;

namespace FastPort.Sessions;

/// <summary>The server or client that runs a session. Called on the session's loop, except where stated.</summary>
internal interface ISessionHost
{
    /// <summary>The session is open.</summary>
    void OnOpened(Session session);

    /// <summary>The session is over; called exactly once per <see cref="OnOpened"/>.</summary>
    void OnClosed(Session session, CloseReason reason);

    /// <summary>The peer said Goodbye: it accepts no new requests.</summary>
    void OnGoodbye(Session session, CloseReason reason);

    /// <summary>The peer's Hello was accepted and answered.</summary>
    void OnIdentified(Session session)
    {
    }

    /// <summary>A Hello was refused; the session may end now, or the peer may say another one.</summary>
    void OnHelloRefused(Session session, HelloRefusal refusal)
    {
    }

    /// <summary>The session can be reached under its routing id.</summary>
    void OnRoutingIdTaken(Session session)
    {
    }

    /// <summary>
    /// The session has lost its routing id. Called once per <see cref="OnRoutingIdTaken"/>, on its own loop or on that of the session that
    /// took over the id. For one id the calls of the two methods alternate and never overlap.
    /// </summary>
    void OnRoutingIdLost(Session session, CloseReason reason)
    {
    }
}

/// <summary>Settings shared by all sessions of one server or client. Immutable.</summary>
internal sealed class SessionSettings
{
    public required SessionOptions Options { get; init; }

    /// <summary>Creates the dispatcher of a session; called once for each session.</summary>
    public required Func<FrameProtocol, SessionDispatcher> CreateDispatcher { get; init; }

    public required ConnectionClock Clock { get; init; }

    public required ILogger Logger { get; init; }

    public required ISessionHost Host { get; init; }

    public required SessionTelemetry Telemetry { get; init; }

    /// <summary>The memory budget shared by the unfinished frames and queued requests of all sessions. Defaults to no limit.</summary>
    public MemoryBudget Memory { get; init; } = new(long.MaxValue);

    /// <summary>The accepting side's settings for Hello; null on the connecting side.</summary>
    public HandshakeSettings? Handshake { get; init; }

    /// <summary>Rates by address, identity and in total. Defaults to null: none.</summary>
    public RateLimiter? Rates { get; init; }

    /// <summary>Time in which a stopping server still accepts requests that crossed its Goodbye.</summary>
    public TimeSpan ShutdownGrace { get; init; }

    /// <summary>Whether code that awaits replies of <see cref="Session"/> continues on the session's loop; otherwise on the pool.</summary>
    public bool ContinuesOnLoop { get; init; }

    /// <summary>Records the latencies of each session; null if they are not recorded.</summary>
    public LatencyStats? SessionStats { get; init; }
}

/// <summary>How the accepting side answers Hello. Immutable.</summary>
internal sealed class HandshakeSettings
{
    public required string ServerName { get; init; }

    public required IRoutingIds RoutingIds { get; init; }

    public Authenticator? Authenticator { get; init; }

    /// <summary>Makes routing ids unique among several servers. Defaults to null: they are unique within this server only.</summary>
    public IRoutingIdClaims? Claims { get; init; }

    /// <summary>Banned identities. Defaults to null: none.</summary>
    public BanCheck? Bans { get; init; }

    /// <summary>Whether a session must say Hello with a routing id before any other message.</summary>
    public bool RequireRoutingId { get; init; }

    public DuplicateIdentityPolicy Duplicates { get; init; }

    /// <summary>Whether any message before Hello is refused with Unauthenticated.</summary>
    public bool IsRequired => Authenticator is not null || RequireRoutingId;
}
