using System.Net;
using FastPort.Hosting;
using FastPort.Limits;
using FastPort.Telemetry;

namespace FastPort.Connections;

/// <content>Refusing connections, with a reason, and logging that at most once a second.</content>
public sealed partial class ConnectionServer
{
    private long _rejected;
    private long _rejectLogged = long.MinValue;

    private void Reject(AcceptedConnection accepted, ConnectionRejection rejection, string? why = null)
    {
        CloseReason closed = Rejected(rejection, out string reason, why);
        LogRejected(accepted.Source, reason);
        if (rejection is ConnectionRejection.TlsFailed or ConnectionRejection.WebSocketRefused)
        {
            // In order: the alert or answer with the reason for the peer is still to be sent.
            accepted.Connection.Close(closed);
        }
        else
        {
            accepted.Connection.Abort(closed);
        }
    }

    /// <summary>
    /// Closes a connection that has its protocol if a new ban applies to its peer, for the server built on this one. Null: closed by its
    /// address, without a message of the protocol.
    /// </summary>
    internal Action<Connection, Ban>? CloseServed { get; init; }

    private void CloseBanned(Ban ban)
    {
        // The ban was listed before this barrier, and a connection is served before it looks for its ban: at least one sees the other.
        Interlocked.MemoryBarrier();
        foreach (AcceptedConnection accepted in _accepted.Values)
        {
            CloseBanned(accepted, ban);
        }
    }

    private void CloseBanned(AcceptedConnection accepted, Ban ban)
    {
        if (CloseServed is not null && accepted.Served is { } served)
        {
            CloseServed(served, ban);
        }
        else if (BanCheck.Hits(ban, accepted.Address, user: null))
        {
            accepted.Top.Close(new CloseReason(CloseKind.LocalClosed, ban.ToString()));
        }
    }

    private CloseReason Rejected(ConnectionRejection rejection, out string reason, string? why = null)
    {
        Counters.Rejected(rejection);
        Interlocked.Increment(ref _rejected);
        string section = _options.Section;
        reason = why ?? rejection switch
        {
            ConnectionRejection.ConnectionLimit => $"{section}:MaxConnections is {_admission.MaxConnections}",
            ConnectionRejection.AddressLimit => $"{section}:MaxConnectionsPerAddress is {_admission.MaxPerAddress}",
            ConnectionRejection.StageLimit => $"{section}:MaxConnectionsInStages is {_options.MaxConnectionsInStages}",
            ConnectionRejection.StageTimeout => $"its stages did not end within {section}:StageTimeout, {_options.StageTimeout:c}",
            ConnectionRejection.StageFailed => "a stage failed, see event 3008",
            ConnectionRejection.TlsFailed => "its TLS handshake failed",
            ConnectionRejection.Refused => "a stage refused it",
            _ => "the server is stopping",
        };
        return new CloseReason(rejection == ConnectionRejection.ShuttingDown ? CloseKind.Stopping : CloseKind.LocalClosed, reason);
    }

    // A flood of connections must not become a flood of log lines: one per second, with the count. A logger may block, which loops and
    // accepting threads must not.
    private void LogRejected(EndPoint? source, string reason)
    {
        long now = _clock!.PreciseMilliseconds;
        long last = Volatile.Read(ref _rejectLogged);
        if ((last == long.MinValue || now - last >= 1000) && Interlocked.CompareExchange(ref _rejectLogged, now, last) == last)
        {
            long rejected = Volatile.Read(ref _rejected);
            ThreadPool.UnsafeQueueUserWorkItem(_ => ServerLog.Rejected(_logger, source, reason, rejected), null);
        }
    }
}
