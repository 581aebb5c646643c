using System.Net;
using System.Net.Sockets;
using FastPort.Connections;

namespace FastPort.Transports.Sockets;

/// <summary>Options of sockets. TCP's buffer sizes are left to the kernel, which grows them as needed.</summary>
internal static class SocketTuning
{
    /// <summary>
    /// The send buffer of a Unix socket in bytes. TCP's buffers grow as needed; those of Unix sockets stay at the system's default of 208
    /// KiB, the kernel's overhead included, so that a sender of 64 KiB at a time blocks after every other send. Linux doubles the 416 KiB
    /// for its overhead, within net.core.wmem_max. Measured: with less the sender blocks more often, with more the bytes leave the cache
    /// before the peer reads them.
    /// </summary>
    public const int UnixSendBuffer = 416 * 1024;

    // linux/tcp.h
    private const int IpProtoTcp = 6;
    private const int TcpUserTimeout = 18;

    /// <summary>Sets the options that must be set before a socket is bound or connected.</summary>
    /// <exception cref="EndpointException">The system refuses the congestion control of the settings.</exception>
    public static void Prepare(Socket socket, EndPoint address, ConnectionSettings settings)
    {
        ReadOnlySpan<byte> congestionControl = CongestionControl.For(address, settings);
        if (congestionControl.IsEmpty)
        {
            return;
        }

        try
        {
            socket.SetRawSocketOption(IpProtoTcp, CongestionControl.TcpCongestion, congestionControl);
        }
        catch (SocketException)
        {
            if (CongestionControl.Refused(address, settings) is { } refused)
            {
                throw refused;
            }
        }
    }

    /// <summary>Sets the options of a connected socket.</summary>
    public static void Apply(Socket socket, ConnectionSettings settings)
    {
        // Sends and receives that would block return an error code instead; waiting is done with SocketAsyncEventArgs.
        socket.Blocking = false;
        if (socket.AddressFamily == AddressFamily.Unix)
        {
            if (socket.SendBufferSize < UnixSendBuffer)
            {
                socket.SendBufferSize = UnixSendBuffer;
            }

            // The options below are for TCP and for vanished peers. A peer on the same machine cannot vanish without a reset.
            return;
        }

        socket.NoDelay = true;
        if (settings.KeepAlive > TimeSpan.Zero)
        {
            socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, optionValue: true);
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveTime, settings.KeepAliveSeconds);
            socket.SetSocketOption(
                SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveInterval, Math.Max(1, settings.KeepAliveSeconds / 6));
            socket.SetSocketOption(SocketOptionLevel.Tcp, SocketOptionName.TcpKeepAliveRetryCount, 3);
        }

        if (OperatingSystem.IsLinux() && settings.UserTimeout > TimeSpan.Zero)
        {
            Span<byte> milliseconds = stackalloc byte[sizeof(int)];
            BitConverter.TryWriteBytes(milliseconds, settings.UserTimeoutMilliseconds);
            socket.SetRawSocketOption(IpProtoTcp, TcpUserTimeout, milliseconds);
        }
    }
}
