using System.Net;
using System.Net.Sockets;

namespace FastPort.Tests.Support;

/// <summary>
/// A TCP port of 127.0.0.1 for a server that is stopped and started again. While none listens there, the system gives the port to nobody
/// else: neither to a server that may have any port, nor to a connection.
/// </summary>
internal sealed class HeldPort : IDisposable
{
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);

    public HeldPort()
    {
        // Servers set this option, too. As this socket never listens, one server at a time can bind to its port and listen there.
        _socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.ReuseAddress, true);
        _socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        Number = ((IPEndPoint)_socket.LocalEndPoint!).Port;
    }

    public int Number { get; }

    public void Dispose() => _socket.Dispose();
}
