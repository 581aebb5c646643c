using System.Net;
using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>Connects over TCP; host names are resolved at each call and their addresses tried in turn.</summary>
internal sealed class SocketConnector(Endpoint endpoint, ConnectionSettings settings) : ITransportConnector
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
            Socket? socket = null;
            try
            {
                // Inside: a process without free descriptors fails here.
                socket = new Socket(candidate.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
                await socket.ConnectAsync(new IPEndPoint(candidate, endpoint.Port), cancellationToken).ConfigureAwait(false);
                SocketTuning.Apply(socket, settings);
                return new SocketConnection(socket, settings);
            }
            catch (SocketException e)
            {
                last = e;
                socket?.Dispose();
            }
            catch
            {
                socket?.Dispose();
                throw;
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
