using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Transports.Unix;

namespace FastPort.Transports;

/// <summary>A transport's attempt to connect to one address.</summary>
/// <param name="address">The address.</param>
/// <param name="settings">Settings of the connection.</param>
/// <param name="cancellationToken">Cancels the attempt.</param>
/// <exception cref="SocketException">The attempt failed.</exception>
internal delegate ValueTask<Connection> ConnectAttempt(EndPoint address, ConnectionSettings settings, CancellationToken cancellationToken);

/// <summary>
/// Connects over TCP or to a Unix socket; the transport makes each attempt. Host names are resolved at each call and their addresses tried
/// in turn.
/// </summary>
internal sealed class StreamConnector(Endpoint endpoint, ConnectionSettings settings, ConnectAttempt connect) : ITransportConnector
{
    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(1);
    private static readonly TimeSpan LongestPause = TimeSpan.FromMilliseconds(100);

    public async ValueTask<Connection> ConnectAsync(CancellationToken cancellationToken)
    {
        SocketException? last = null;
        foreach (EndPoint address in await AddressesAsync(cancellationToken).ConfigureAwait(false))
        {
            try
            {
                return await ConnectAsync(address, cancellationToken).ConfigureAwait(false);
            }
            catch (SocketException e)
            {
                last = e;
            }
        }

        throw new EndpointException(endpoint, $"Cannot connect to {endpoint}: {Describe(last)}", last);
    }

    private async ValueTask<Connection> ConnectAsync(EndPoint address, CancellationToken cancellationToken)
    {
        for (TimeSpan pause = FirstPause; ; pause = pause + pause < LongestPause ? pause + pause : LongestPause)
        {
            try
            {
                return await connect(address, settings, cancellationToken).ConfigureAwait(false);
            }
            catch (SocketException e) when (e.SocketErrorCode == SocketError.WouldBlock && address is UnixAddress)
            {
                // The listener's backlog is full. TCP retries by itself in that case, a Unix socket does not.
                await Task.Delay(pause, settings.Clock.Time, cancellationToken).ConfigureAwait(false);
            }
        }
    }

    private async ValueTask<EndPoint[]> AddressesAsync(CancellationToken cancellationToken)
    {
        if (endpoint.Scheme == "unix")
        {
            return [UnixAddress.For(endpoint, "connect to")];
        }

        if (IPAddress.TryParse(endpoint.Host, out IPAddress? address))
        {
            return [new IPEndPoint(address, endpoint.Port)];
        }

        try
        {
            IPAddress[] found = await Dns.GetHostAddressesAsync(endpoint.Host, cancellationToken).ConfigureAwait(false);
            return [.. found.Select(one => new IPEndPoint(one, endpoint.Port))];
        }
        catch (SocketException e)
        {
            throw new EndpointException(
                endpoint, $"Cannot resolve '{endpoint.Host}' of {endpoint}: {e.Message}. Check the name or use an address.", e);
        }
    }

    private string Describe(SocketException? error) => error?.SocketErrorCode switch
    {
        null => "the name has no address.",
        SocketError.ConnectionRefused => "nothing listens there. Is the server running?",
        SocketError.AddressNotAvailable when endpoint.Scheme == "unix" =>
            "there is no such file. Is the server running, and is this its path?",
        SocketError.AccessDenied when endpoint.Scheme == "unix" =>
            "permission denied. This program's user needs the right to write to the file (the server's UnixSocketPermissions).",
        _ when endpoint.Scheme == "unix" => $"{error!.Message} ({error.SocketErrorCode}).",
        _ => $"{error!.Message}.",
    };
}
