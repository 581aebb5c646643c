using System.Net;
using System.Net.Sockets;

namespace FastPort.Core.Tests.Transports.Support;

/// <summary>A listening socket whose backlog is full and that accepts nothing.</summary>
internal sealed class BusyListener : IDisposable
{
    private readonly Socket _listener;
    private readonly Socket _waiting;

    private BusyListener(EndPoint address)
    {
        _listener = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Unspecified);
        _listener.Bind(address);
        _listener.Listen(0);
        EndPoint bound = _listener.LocalEndPoint!;
        _waiting = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Unspecified);
        _waiting.Connect(bound);
        Endpoint = bound is IPEndPoint ip ? new Endpoint("tcp", "127.0.0.1", ip.Port) : new Endpoint("unix", bound.ToString()!, 0);
    }

    public Endpoint Endpoint { get; }

    public static BusyListener Tcp() => new(new IPEndPoint(IPAddress.Loopback, 0));

    public static BusyListener Unix(string path) => new(new UnixDomainSocketEndPoint(path));

    public void Dispose()
    {
        _waiting.Dispose();
        _listener.Dispose();
    }
}
