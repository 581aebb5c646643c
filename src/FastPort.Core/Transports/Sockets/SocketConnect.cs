using System.Net;
using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>One attempt to connect with the runtime's sockets.</summary>
internal static class SocketConnect
{
    public static async ValueTask<Connection> RunAsync(EndPoint address, ConnectionSettings settings, CancellationToken cancellationToken)
    {
        Socket? socket = null;
        try
        {
            // Inside the try block: creating the socket fails if the process has no free descriptors.
            socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Unspecified);
            SocketTuning.Prepare(socket, address, settings);
            await socket.ConnectAsync(address, cancellationToken).ConfigureAwait(false);
            SocketTuning.Apply(socket, settings);
            return new SocketConnection(socket, settings);
        }
        catch
        {
            socket?.Dispose();
            throw;
        }
    }
}
