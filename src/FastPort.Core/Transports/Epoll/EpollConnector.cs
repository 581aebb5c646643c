using System.Net;
using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports.Epoll;

/// <summary>Connects over TCP; host names are resolved at each call and their addresses tried in turn.</summary>
internal sealed class EpollConnector(Endpoint endpoint, ConnectionSettings settings, EpollLoopGroup group) : ITransportConnector
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
            throw new EndpointException(endpoint, $"Cannot resolve '{endpoint.Host}' of {endpoint}: {e.Message}. Check the name or use an address.", e);
        }

        SocketException? last = null;
        foreach (IPAddress candidate in addresses)
        {
            try
            {
                return await EpollConnect.RunAsync(new IPEndPoint(candidate, endpoint.Port), group, settings, cancellationToken).ConfigureAwait(false);
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
