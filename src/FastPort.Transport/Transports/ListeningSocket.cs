using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Transports.Sockets;
using FastPort.Transports.Unix;

namespace FastPort.Transports;

/// <summary>
/// A socket that listens at an endpoint; its owner accepts. Ends by <see cref="Dispose"/>, which removes the file of a Unix socket first.
/// </summary>
internal sealed class ListeningSocket : IDisposable
{
    private const int Backlog = 4096;

    private readonly UnixSocketFile? _file;

    /// <exception cref="EndpointException">The endpoint cannot be listened at; the message says why.</exception>
    public ListeningSocket(Endpoint endpoint, ConnectionSettings settings)
    {
        _file = endpoint.Scheme == "unix" ? new UnixSocketFile(endpoint, settings) : null;
        Address = _file?.Address ?? (EndPoint)AddressOf(endpoint);
        Socket? socket = null;
        try
        {
            // Inside the try block: creating a socket fails if the process has no free descriptors.
            _file?.Prepare();

            // With TCP named, the runtime lets a port be bound again whose last connections are in TIME_WAIT.
            var ip = Address as IPEndPoint;
            socket = new Socket(Address.AddressFamily, SocketType.Stream, ip is null ? ProtocolType.Unspecified : ProtocolType.Tcp);
            if (ip is not null)
            {
                if (ip.Address.Equals(IPAddress.IPv6Any))
                {
                    socket.DualMode = true;
                }

                SocketTuning.Prepare(socket, ip, settings);
            }

            socket.Bind(Address);
            _file?.AfterBind();
            socket.Listen(Backlog);
            _file?.AfterListen();
        }
        catch (Exception e)
        {
            _file?.Remove();
            socket?.Dispose();
            if (e is SocketException refused)
            {
                throw new EndpointException(endpoint, Describe(endpoint, refused), e);
            }

            throw;
        }

        Socket = socket;
        Endpoint = socket.LocalEndPoint is IPEndPoint bound ? endpoint with { Port = bound.Port } : endpoint;
    }

    public Socket Socket { get; }

    /// <summary>What was bound; port 0 stays 0.</summary>
    public EndPoint Address { get; }

    /// <summary>The endpoint, with the port that the system has chosen.</summary>
    public Endpoint Endpoint { get; }

    public void Dispose()
    {
        _file?.Remove();
        Socket.Dispose();
    }

    /// <summary>The sentence for the user.</summary>
    public static string Describe(Endpoint endpoint, SocketException e) => e.SocketErrorCode switch
    {
        SocketError.AddressAlreadyInUse when endpoint.Scheme == "unix" =>
            $"Cannot listen on {endpoint}: it is in use. Stop the program that listens there, or choose another path or name.",
        SocketError.AccessDenied when endpoint.Scheme == "unix" =>
            $"Cannot listen on {endpoint}: permission denied. This program's user needs the right to create files in "
            + $"'{Path.GetDirectoryName(endpoint.Host)}'.",
        SocketError.AddressAlreadyInUse =>
            $"Cannot listen on {endpoint}: the port is in use. Stop the program that has it, or choose another port (0 lets the system "
            + $"choose).",
        SocketError.AccessDenied =>
            $"Cannot listen on {endpoint}: permission denied. Ports below 1024 need privileges; choose a higher one.",
        SocketError.AddressNotAvailable when endpoint.Scheme != "unix" =>
            $"Cannot listen on {endpoint}: this machine has no such address. Use one of its addresses, or * for all.",
        SocketError.TooManyOpenSockets => $"Cannot listen on {endpoint}: {Shortage.Descriptors}",
        _ => $"Cannot listen on {endpoint}: {e.Message} ({e.SocketErrorCode}).",
    };

    private static IPEndPoint AddressOf(Endpoint endpoint)
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
            $"Cannot listen on {endpoint}: '{endpoint.Host}' is not an address of this machine. Use an IP address, localhost, or *.");
    }
}
