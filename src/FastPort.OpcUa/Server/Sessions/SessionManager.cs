using System.Collections.Concurrent;
using FastPort.Connections;

namespace FastPort.OpcUa.Server;

/// <summary>
/// The sessions of a server by their tokens, and all their subscriptions. Thread-safe. A timer ends sessions whose clients are silent.
/// </summary>
internal sealed class SessionManager(OpcUaServer server) : IDisposable
{
    private static readonly TimeSpan ShortestTimeout = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan CheckInterval = TimeSpan.FromSeconds(1);

    // Includes ended sessions whose subscriptions still live: they count, so that a client cannot accumulate them.
    private readonly ConcurrentDictionary<NodeId, ServerSession> _sessions = new();
    private ITimer? _timer;
    private ConnectionClock? _clock;
    private uint _lastNumber;
    private int _count;

    /// <summary>Number of sessions that have not ended.</summary>
    public int Count => _sessions.Count(static session => !session.Value.IsEnded);

    /// <summary>
    /// Measures the silence of clients, and the lifetimes of tokens: time in which the server did not run does not count. From the start
    /// on.
    /// </summary>
    public ConnectionClock Clock => _clock!;

    /// <summary>The subscriptions of all sessions by their ids.</summary>
    public ConcurrentDictionary<uint, Subscription> Subscriptions { get; } = new();

    /// <summary>Begins to check for sessions whose clients are silent.</summary>
    public void Start()
    {
        _clock ??= new ConnectionClock(server.Time);
        _timer ??= NoContext.CreateTimer(
            server.Time, static manager => ((SessionManager)manager!).EndExpired(), this, CheckInterval, CheckInterval);
    }

    /// <summary>Creates a session; null if there are too many.</summary>
    public ServerSession? TryCreate(ServerChannel channel, double requestedTimeout)
    {
        EndExpired();
        if (Interlocked.Increment(ref _count) > server.Options.MaxSessions && !TryEndUnused())
        {
            Interlocked.Decrement(ref _count);
            return null;
        }

        // NaN or a negative request gets the longest time.
        double longest = server.Options.MaxSessionTimeout.TotalMilliseconds;
        double milliseconds = requestedTimeout > 0 ? Math.Clamp(requestedTimeout, ShortestTimeout.TotalMilliseconds, longest) : longest;
        Span<byte> secret = stackalloc byte[16];
        System.Security.Cryptography.RandomNumberGenerator.Fill(secret);
        var session = new ServerSession(
            server, this, Interlocked.Increment(ref _lastNumber), new NodeId(0, new Guid(secret)), TimeSpan.FromMilliseconds(milliseconds),
            channel)
        {
            ClientCertificate = channel.Credentials?.PeerCertificate.ToArray(),
            ClientUri = channel.Credentials?.PeerApplicationUri,
        };
        _sessions[session.Token] = session;
        return session;
    }

    public ServerSession? Find(NodeId token) => _sessions.GetValueOrDefault(token) is { IsEnded: false } session ? session : null;

    /// <summary>Forgets a session that has ended and has no more subscriptions. False if it was already forgotten.</summary>
    public bool Remove(ServerSession session)
    {
        if (!_sessions.TryRemove(session.Token, out _))
        {
            return false;
        }

        Interlocked.Decrement(ref _count);
        return true;
    }

    /// <summary>
    /// Ends sessions whose clients have been silent for longer than the session timeout. Their subscriptions have separate lifetimes.
    /// </summary>
    public void EndExpired()
    {
        long now = Clock.PreciseMilliseconds;
        foreach ((_, ServerSession session) in _sessions)
        {
            if (!session.IsEnded && session.IsSilent(now))
            {
                session.End(deletesSubscriptions: false);
            }
        }
    }

    /// <summary>Ends the sessions of a user that is banned from now on.</summary>
    public void EndBanned(Ban ban)
    {
        foreach ((_, ServerSession session) in _sessions)
        {
            if (session.Identity?.Identity?.Name is { } name && ban.Subject == Ban.UserPrefix + name)
            {
                session.End(deletesSubscriptions: true);
            }
        }
    }

    /// <summary>The server has stopped: ends all sessions and subscriptions.</summary>
    public void Dispose()
    {
        _timer?.Dispose();
        _clock?.Dispose();
        foreach ((_, ServerSession session) in _sessions)
        {
            session.End(deletesSubscriptions: true);
        }
    }

    // Sessions that have ended, were never activated, or have lost their channels must not keep others out: of the first of these kinds
    // that exists, the session with the oldest request is removed. Otherwise strangers that open sessions and leave would fill the server
    // for the lifetime of these sessions.
    private bool TryEndUnused()
    {
        while (_sessions.Values.Where(static one => !one.IsUsed)
            .MinBy(static one => (!one.IsEnded, one.IsActivated, one.LastRequest)) is { } unused)
        {
            // Unless it has just been activated, or another loop has found it too: two new sessions need two places. A session that has
            // ended in the meantime has also made room; the new session is already counted.
            if (unused.TryEndUnused() || Volatile.Read(ref _count) <= server.Options.MaxSessions)
            {
                return true;
            }
        }

        return false;
    }
}
