using System.Net;
using System.Net.Sockets;
using FastPort.Transports.Unix;

namespace FastPort.Transports;

/// <summary>Converts endpoints to socket addresses, and socket errors to sentences.</summary>
internal static class SocketAddresses
{
    public static IPEndPoint ForListening(Endpoint endpoint)
    {
        if (endpoint.Host is "*" or "+")
        {
            return new IPEndPoint(Socket.OSSupportsIPv6 ? IPAddress.IPv6Any : IPAddress.Any, endpoint.Port);
        }

        if (IPAddress.TryParse(endpoint.Host, out IPAddress? address))
        {
            return new IPEndPoint(address, endpoint.Port);
        }

        if (string.Equals(endpoint.Host, "localhost", StringComparison.OrdinalIgnoreCase))
        {
            return new IPEndPoint(IPAddress.Loopback, endpoint.Port);
        }

        throw new EndpointException(
            endpoint,
            $"Cannot listen on {endpoint}: '{endpoint.Host}' is no address of this machine. Use an IP address, localhost, or * for all.");
    }

    public static string DescribeBindError(Endpoint endpoint, SocketException e) => e.SocketErrorCode switch
    {
        _ when endpoint.Scheme == "unix" => UnixSocketFile.DescribeBindError(endpoint, e.SocketErrorCode, e.Message),
        SocketError.AddressAlreadyInUse =>
            $"Cannot listen on {endpoint}: the port is in use. Stop the program that has it, or choose another port (0 lets the system "
            + $"choose).",
        SocketError.AccessDenied =>
            $"Cannot listen on {endpoint}: permission denied. Ports below 1024 need privileges; choose a higher one.",
        SocketError.AddressNotAvailable =>
            $"Cannot listen on {endpoint}: this machine has no such address. Use one of its own, or * for all.",
        _ => $"Cannot listen on {endpoint}: {e.Message} ({e.SocketErrorCode}).",
    };
}
