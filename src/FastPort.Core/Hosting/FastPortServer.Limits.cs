using FastPort.Connections;
using FastPort.Sessions.Receiving;
using FastPort.Telemetry.Counters;

namespace FastPort.Hosting;

// What peers may take of the server before they have said Hello.
public sealed partial class FastPortServer
{
    private int _unidentified;

    /// <summary>Bytes that count for <see cref="ServerOptions.MaxBufferedMegabytes"/> now.</summary>
    internal long BufferedBytes => _connections.Memory.Used;

    internal TimeSpan ShutdownTimeout => _options.ShutdownTimeout;

    private bool IsHelloRequired => _components.Authenticator is not null || _options.RequireRoutingId;

    private int MaxUnidentified => _options.MaxUnidentifiedConnections ?? Math.Max(1, _options.MaxConnections / 4);

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

    // Also where the protocol was never opened: then nobody was identified.
    private void Leave(Connection? connection)
    {
        if (connection?.Protocol is not FrameProtocol { Session.IsIdentified: true })
        {
            Identified();
        }
    }
}
