using System.Net;
using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports;

/// <summary>A transport's attempt to connect to one address.</summary>
/// <param name="address">The address.</param>
/// <param name="settings">Settings of the connection.</param>
/// <param name="cancellationToken">Cancels the attempt.</param>
/// <exception cref="SocketException">The attempt failed.</exception>
internal delegate ValueTask<Connection> ConnectAttempt(EndPoint address, ConnectionSettings settings, CancellationToken cancellationToken);

/// <summary>
/// Connects over TCP. Host names are resolved at each call and their addresses tried in turn; the transport makes each attempt.
/// </summary>
internal sealed class TcpConnector(Endpoint endpoint, ConnectionSettings settings, ConnectAttempt connect) : ITransportConnector
{
    public async ValueTask<Connection> ConnectAsync(CancellationToken cancellationToken)
    {
        IPAddress[] addresses;
        try
        {
            addresses = IPAddress.TryParse(endpoint.Host, out IPAddress? address)
                ? [address]
                : await Dns.GetHostAddressesAsync(endpoint.Host, cancellationToken).ConfigureAwait(false);
        }
        catch (SocketException e)
        {
            throw new EndpointException(
                endpoint, $"Cannot resolve '{endpoint.Host}' of {endpoint}: {e.Message}. Check the name or use an address.", e);
        }

        SocketException? last = null;
        foreach (IPAddress candidate in addresses)
        {
            try
            {
                return await connect(new IPEndPoint(candidate, endpoint.Port), settings, cancellationToken).ConfigureAwait(false);
            }
            catch (SocketException e)
            {
                last = e;
            }
        }

        throw new EndpointException(
            endpoint,
            last?.SocketErrorCode == SocketError.ConnectionRefused
                ? $"Cannot connect to {endpoint}: nothing listens there. Is the server running?"
                : $"Cannot connect to {endpoint}: {last?.Message ?? "the name has no address"}.",
            last);
    }
}
