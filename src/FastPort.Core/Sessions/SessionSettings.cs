using FastPort.Connections;
using FastPort.Sessions.Receiving;
using FastPort.Telemetry;
using Microsoft.Extensions.Logging;

namespace FastPort.Sessions;

/// <summary>Who runs a session: server or client. Called from the session's loop unless said otherwise.</summary>
internal interface ISessionHost
{
    /// <summary>The session is open.</summary>
    void OnOpened(Session session);

    /// <summary>The session is over; called exactly once per <see cref="OnOpened"/>.</summary>
    void OnClosed(Session session, CloseReason reason);

    /// <summary>The peer said that it takes no new requests.</summary>
    void OnGoodbye(Session session, CloseReason reason);

    /// <summary>The peer's Hello was accepted and answered.</summary>
    void OnIdentified(Session session)
    {
    }

    /// <summary>The session can be reached under its routing id.</summary>
    void OnRoutingIdTaken(Session session)
    {
    }

    /// <summary>
    /// The session's routing id is its own no more; once per <see cref="OnRoutingIdTaken"/>, from its own loop or that of the session that
    /// took the id over. For one id the two calls take turns, one at a time.
    /// </summary>
    void OnRoutingIdLost(Session session, CloseReason reason)
    {
    }
}

/// <summary>What all sessions of one server or client share. Immutable.</summary>
internal sealed class SessionSettings
{
    public required SessionOptions Options { get; init; }

    /// <summary>Makes what a session's requests and one-way messages go to; called once for each session.</summary>
    public required Func<FrameProtocol, SessionDispatcher> CreateDispatcher { get; init; }

    public required ConnectionClock Clock { get; init; }

    public required ILogger Logger { get; init; }

    public required ISessionHost Host { get; init; }

    public required SessionTelemetry Telemetry { get; init; }

    /// <summary>What unfinished frames and queued requests of all sessions share. Defaults to one without a limit.</summary>
    public MemoryBudget Memory { get; init; } = new(long.MaxValue);

    /// <summary>The accepting side's part of Hello; null on the connecting side.</summary>
    public HandshakeSettings? Handshake { get; init; }

    /// <summary>Time in which a stopping server still takes requests that crossed its Goodbye.</summary>
    public TimeSpan ShutdownGrace { get; init; }

    /// <summary>Where each session's latencies are recorded; null for nowhere.</summary>
    public LatencyStats? SessionStats { get; init; }
}

/// <summary>How the accepting side answers Hello. Immutable.</summary>
internal sealed class HandshakeSettings
{
    public required string ServerName { get; init; }

    public required IRoutingIds RoutingIds { get; init; }

    public Authenticator? Authenticator { get; init; }

    /// <summary>Whether a session has to say Hello with a routing id before anything else.</summary>
    public bool RequireRoutingId { get; init; }

    public DuplicateIdentityPolicy Duplicates { get; init; }

    /// <summary>Whether anything before Hello is Unauthenticated.</summary>
    public bool IsRequired => Authenticator is not null || RequireRoutingId;
}
