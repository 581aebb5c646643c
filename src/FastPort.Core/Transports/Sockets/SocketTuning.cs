using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>Options set on every connected socket. Buffer sizes are left to the kernel, which grows them as needed.</summary>
internal static class SocketTuning
{
    // linux/tcp.h
    private const int IpProtoTcp = 6;
    private const int TcpUserTimeout = 18;

    public static void Apply(Socket socket, ConnectionSettings settings)
    {
        // Sends and receives that would block return an error code instead; waiting is done with SocketAsyncEventArgs.
        socket.Blocking = false;
        if (socket.AddressFamily == AddressFamily.Unix)
        {
            // What follows is TCP's: a peer on the same machine cannot vanish in silence.
            return;
        }

        socket.NoDelay = true;
        if (settings.KeepAlive > TimeSpan.Zero)
        {
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, optionValue: true);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, Math.Max(1, (int)settings.KeepAlive.TotalSeconds));
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, Math.Max(1, (int)settings.KeepAlive.TotalSeconds / 6));
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, 3);
        }

        if (OperatingSystem.IsLinux() && settings.UserTimeout > TimeSpan.Zero)
        {
            Span<byte> milliseconds = stackalloc byte[sizeof(int)];
            BitConverter.TryWriteBytes(milliseconds, (int)Math.Min(settings.UserTimeout.TotalMilliseconds, int.MaxValue));
            socket.SetRawSocketOption(IpProtoTcp, TcpUserTimeout, milliseconds);
        }
    }
}
