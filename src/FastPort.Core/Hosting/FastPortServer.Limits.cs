using FastPort.Connections;
using FastPort.Sessions.Receiving;
using FastPort.Telemetry;

namespace FastPort;

// Limits for peers that have not said Hello.
public sealed partial class FastPortServer
{
    private int _unidentified;

    /// <summary>Bytes that currently count against <see cref="ServerOptions.MaxBufferedMegabytes"/>.</summary>
    internal long BufferedBytes => _connections.Memory.Used;

    /// <inheritdoc cref="ConnectionServer.ConnectionsInStages"/>
    internal int ConnectionsInStages => _connections.ConnectionsInStages;

    internal TimeSpan ShutdownTimeout => _options.ShutdownTimeout;

    private bool IsHelloRequired => _components.Authenticator is not null || _options.RequireRoutingId;

    // Twice the limit of one address, so that one address cannot use all of them.
    private int MaxUnidentified => _options.MaxUnidentifiedConnections ?? Math.Max(1, _connections.MaxConnections / 2);

    private void CloseBanned(Connection connection, Ban ban)
    {
        var protocol = connection.Protocol as FrameProtocol;
        if (!_connections.BanCheck.Hits(ban, connection.RemoteEndPoint, protocol?.Session.User?.Identity?.Name))
        {
            return;
        }

        var reason = new CloseReason(CloseKind.LocalClosed, ban.Notice, (uint)ErrorCode.Forbidden);
        if (protocol is not null)
        {
            protocol.CloseWithGoodbye(reason);
        }
        else
        {
            // Its start is in progress: the peer has not said Hello, and gets no Goodbye.
            connection.Close(reason);
        }
    }

    private (ConnectionRejection, string)? TryEnter()
    {
        if (IsHelloRequired && Interlocked.Increment(ref _unidentified) > MaxUnidentified && MaxUnidentified != 0)
        {
            Interlocked.Decrement(ref _unidentified);
            return (ConnectionRejection.UnidentifiedLimit, $"{_options.Section}:MaxUnidentifiedConnections is {MaxUnidentified}");
        }

        return null;
    }

    private void Identified()
    {
        if (IsHelloRequired)
        {
            Interlocked.Decrement(ref _unidentified);
        }
    }

    // Also if the protocol was never opened: the session was then not identified.
    private void Leave(Connection? connection)
    {
        if (connection?.Protocol is not FrameProtocol { Session.IsIdentified: true })
        {
            Identified();
        }
    }
}
