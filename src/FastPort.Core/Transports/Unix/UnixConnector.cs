using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports.Unix;

/// <summary>Connects to a Unix socket; how one attempt is made is the transport's.</summary>
internal sealed class UnixConnector(Endpoint endpoint, ConnectionSettings settings, ConnectAttempt connect) : ITransportConnector
{
    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMilliseconds(100);

    public async ValueTask<Connection> ConnectAsync(CancellationToken cancellationToken)
    {
        var address = UnixAddress.For(endpoint, "connect to");
        for (TimeSpan pause = FirstPause; ; pause = pause + pause < LongestPause ? pause + pause : LongestPause)
        {
            try
            {
                return await connect(address, settings, cancellationToken).ConfigureAwait(false);
            }
            catch (SocketException e) when (e.SocketErrorCode != SocketError.WouldBlock)
            {
                throw new EndpointException(endpoint, Describe(e), e);
            }
            catch (SocketException)
            {
                // Below.
            }

            // The listener's backlog is full. TCP retries by itself in that case, a Unix socket does not.
            await Task.Delay(pause, settings.Clock.Time, cancellationToken).ConfigureAwait(false);
        }
    }

    private string Describe(SocketException e) => e.SocketErrorCode switch
    {
        SocketError.ConnectionRefused => $"Cannot connect to {endpoint}: nothing listens there. Is the server running?",
        SocketError.AddressNotAvailable =>
            $"Cannot connect to {endpoint}: there is no such file. Is the server running, and is this its path?",
        SocketError.AccessDenied =>
            $"Cannot connect to {endpoint}: permission denied. This program's user needs the right to write to the file (the server's "
            + $"UnixSocketPermissions).",
        _ => $"Cannot connect to {endpoint}: {e.Message} ({e.SocketErrorCode}).",
    };
}
