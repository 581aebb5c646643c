using System.Net;
using System.Net.Sockets;
using FastPort.Configuration;
using FastPort.Telemetry;

namespace FastPort.Protocol;

/// <summary>The live figures of a server as a message, for <c>top</c> of the load client and for other programs that watch it.</summary>
public static class ServerStatusHandler
{
    /// <summary>
    /// Answers <see cref="DiagnosticType.Status"/> with a <see cref="ServerStatus"/>. Each answer costs the server about as much as a
    /// report of the latencies by message type, which this call switches on. Not registered by default.
    /// </summary>
    /// <param name="builder">The server.</param>
    /// <param name="allow">
    /// Whether a session may have the figures; others are answered Forbidden. Called on the pool; must not block. Defaults to
    /// <see cref="IsLocal"/>.
    /// </param>
    public static FastPortBuilder MapStatus(this FastPortBuilder builder, Func<Session, bool>? allow = null)
    {
        ArgumentNullException.ThrowIfNull(builder);
        string name = builder.Name;
        return builder.MeasureLatencies().Map((provider, handlers) =>
        {
            LatencyStats stats = NamedServices.Get<LatencyStats>(provider, name);
            long started = stats.Time.GetTimestamp();
            string serverName = NamedServices.Options<FastPortServerOptions>(provider, name).ServerName;

            // The server is being created: it is there when the first request comes.
            handlers.MapQueued(
                DiagnosticType.Status,
                context => AnswerAsync(
                    context,
                    allow ?? IsLocal,
                    () => Read(serverName, NamedServices.Get<FastPortServer>(provider, name), stats, started)),
                "Status");
        });
    }

    /// <summary>
    /// Whether the peer is on this machine: a loopback address, a Unix socket, or a link within the process. Behind a trusted proxy, the
    /// client's address counts; a client whose address the proxy does not report is not on this machine.
    /// </summary>
    /// <param name="session">The session.</param>
    public static bool IsLocal(Session session)
    {
        ArgumentNullException.ThrowIfNull(session);
        return session.RemoteEndPoint switch
        {
            UnixDomainSocketEndPoint => true,
            IPEndPoint { Address: var address } => IPAddress.IsLoopback(address),
            var peer => peer?.ToString()?.StartsWith("inproc://", StringComparison.Ordinal) == true,
        };
    }

    private static ValueTask AnswerAsync(RequestContext context, Func<Session, bool> allow, Func<ServerStatus> read)
    {
        if (allow(context.Session))
        {
            context.Reply(new ProtobufBody(read()));
        }
        else
        {
            context.Fail(
                ErrorCode.Forbidden,
                "This server does not show its figures to this client. Connect from the server's machine, or let the server allow it.");
        }

        return ValueTask.CompletedTask;
    }

    private static ServerStatus Read(string name, FastPortServer server, LatencyStats stats, long started)
    {
        SessionCountersSnapshot now = server.Counters.Snapshot();
        ServerLoad load = server.ReadLoad();
        LatencyReport latencies = stats.ReadTotals();
        return new ServerStatus
        {
            ServerName = name,

            // Readers divide by its growth: not of the wall clock, which may be adjusted.
            UptimeMs = (ulong)stats.Time.GetElapsedTime(started).TotalMilliseconds,
            ConnectionsOpen = (ulong)now.ConnectionsOpen,
            SessionsOpen = (ulong)now.SessionsOpen,
            ConnectionsAccepted = (ulong)now.ConnectionsAccepted,
            ConnectionsRejected = (ulong)now.ConnectionsRejected,
            AcceptErrors = (ulong)now.AcceptErrors,
            MessagesIn = (ulong)now.MessagesIn,
            MessagesOut = (ulong)now.MessagesOut,
            BytesIn = (ulong)now.BytesIn,
            BytesOut = (ulong)now.BytesOut,
            ErrorsSent = (ulong)now.ErrorsSent,
            FramesDropped = (ulong)now.FramesDropped,
            ConnectionsTimedOut = (ulong)now.TimeoutsClosed,
            TopicSubscriptions = (ulong)now.SubscriptionsOpen,
            LoopIdleUs = { load.LoopIdleTimes.Select(static idle => (ulong)idle.TotalMicroseconds) },
            SlowConsumers = (ulong)load.SendBlockedConnections,
            Latencies = { latencies.Types.Select(Latency) },
        };
    }

    private static MessageLatency Latency(LatencyScopeReport type)
    {
        var latency = new MessageLatency { Name = type.Name, Errors = (ulong)type.LifetimeErrors };
        foreach ((_, long highest, long count) in type.Metrics[0].Lifetime.Buckets)
        {
            latency.Nanoseconds.Add((ulong)highest);
            latency.Counts.Add((ulong)count);
        }

        return latency;
    }
}
