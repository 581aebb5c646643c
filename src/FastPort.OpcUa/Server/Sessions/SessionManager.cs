using System.Collections.Concurrent;

namespace FastPort.OpcUa.Server;

/// <summary>The sessions of a server by their tokens. Thread-safe.</summary>
internal sealed class SessionManager(OpcUaServerOptions options, TimeProvider time)
{
    private static readonly TimeSpan ShortestTimeout = TimeSpan.FromSeconds(1);

    private readonly ConcurrentDictionary<NodeId, ServerSession> _sessions = new();
    private uint _lastId;
    private int _count;

    public int Count => Volatile.Read(ref _count);

    /// <summary>Creates a session; null if there are too many.</summary>
    public ServerSession? TryCreate(ServerChannel channel, double requestedTimeout)
    {
        RemoveExpired();
        if (Interlocked.Increment(ref _count) > options.MaxSessions && !TryRemoveUnused())
        {
            Interlocked.Decrement(ref _count);
            return null;
        }

        // A NaN or a negative wish gets the longest time.
        double longest = options.MaxSessionTimeout.TotalMilliseconds;
        double milliseconds = requestedTimeout > 0 ? Math.Clamp(requestedTimeout, ShortestTimeout.TotalMilliseconds, longest) : longest;
        Span<byte> secret = stackalloc byte[16];
        System.Security.Cryptography.RandomNumberGenerator.Fill(secret);
        var session = new ServerSession(
            new NodeId(1, Interlocked.Increment(ref _lastId)), new NodeId(0, new Guid(secret)), TimeSpan.FromMilliseconds(milliseconds),
            options.MaxBrowseContinuationPoints)
        {
            Channel = channel,
            LastRequest = time.GetTimestamp(),
        };
        _sessions[session.Token] = session;
        return session;
    }

    public ServerSession? Find(NodeId token) => _sessions.GetValueOrDefault(token);

    public void Remove(ServerSession session)
    {
        if (_sessions.TryRemove(session.Token, out _))
        {
            Interlocked.Decrement(ref _count);
        }
    }

    /// <summary>Removes sessions whose clients have sent nothing for longer than was agreed on.</summary>
    public void RemoveExpired()
    {
        foreach (ServerSession session in _sessions.Values)
        {
            if (time.GetElapsedTime(session.LastRequest) > session.Timeout)
            {
                Remove(session);
                End(session);
            }
        }
    }

    // Sessions that nobody has activated must not keep others out: the oldest goes.
    private bool TryRemoveUnused()
    {
        ServerSession? unused = _sessions.Values.Where(static one => !one.IsActivated).MinBy(static one => one.LastRequest);
        if (unused is null)
        {
            return false;
        }

        Remove(unused);
        End(unused);
        return true;
    }

    // The subscriptions belong to the loop of the session's channel.
    private static void End(ServerSession session) => session.Channel?.Loop.Post(
        static state =>
        {
            var session = (ServerSession)state!;
            session.Channel?.Detach(session);
        },
        session);
}
