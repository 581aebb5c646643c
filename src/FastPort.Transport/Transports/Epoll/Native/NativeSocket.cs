using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Transports.Sockets;

namespace FastPort.Transports.Epoll.Native;

/// <summary>
/// Operations on a stream socket's descriptor. The owner of the descriptor closes it once and does not use it afterwards: the kernel reuses
/// numbers at once.
/// </summary>
internal static unsafe class NativeSocket
{
    // sizeof(struct sockaddr_storage)
    private const int AddressCapacity = 128;

    /// <summary>A new stream socket to connect to this address, non-blocking and not inherited by child processes.</summary>
    /// <exception cref="SocketException">The system has no descriptor or does not know the family.</exception>
    /// <exception cref="EndpointException">The system refuses the congestion control of the settings.</exception>
    public static int Create(EndPoint address, ConnectionSettings settings)
    {
        int family = BitConverter.ToUInt16(address.Serialize().Buffer.Span);
        int descriptor = Libc.Socket(family, Libc.SockStream | Libc.NonBlocking | Libc.CloseOnExec, 0);
        if (descriptor < 0)
        {
            throw Errno.ToException(Errno.Last);
        }

        ReadOnlySpan<byte> congestionControl = CongestionControl.For(address, settings);
        fixed (byte* name = congestionControl)
        {
            if (!congestionControl.IsEmpty
                && Libc.SetOption(descriptor, Libc.IpProtoTcp, CongestionControl.TcpCongestion, name, congestionControl.Length) != 0
                && CongestionControl.Refused(address, settings) is { } refused)
            {
                _ = Libc.Close(descriptor);
                throw refused;
            }
        }

        return descriptor;
    }

    /// <summary>Begins to connect. Returns 0 when connected, <see cref="Errno.InProgress"/> while under way, else the error.</summary>
    public static int Connect(int descriptor, EndPoint address)
    {
        SocketAddress native = address.Serialize();
        fixed (byte* bytes = native.Buffer.Span)
        {
            return Libc.Connect(descriptor, bytes, native.Size) == 0 ? 0 : Errno.Last;
        }
    }

    /// <summary>Accepts the next waiting connection; -1 when there is none or on an error.</summary>
    public static int Accept(int listener, EndPoint family, out EndPoint? remote)
    {
        byte* address = stackalloc byte[AddressCapacity];
        int length = AddressCapacity;
        int descriptor = Libc.Accept(listener, address, &length, Libc.NonBlocking | Libc.CloseOnExec);
        remote = descriptor < 0 ? null : Read(address, length, family);
        return descriptor;
    }

    public static EndPoint? LocalAddress(int descriptor, EndPoint family)
    {
        byte* address = stackalloc byte[AddressCapacity];
        int length = AddressCapacity;
        return Libc.GetSocketName(descriptor, address, &length) == 0 ? Read(address, length, family) : null;
    }

    /// <summary>The peer's address; null if the socket has no peer.</summary>
    public static EndPoint? RemoteAddress(int descriptor, EndPoint family)
    {
        byte* address = stackalloc byte[AddressCapacity];
        int length = AddressCapacity;
        return Libc.GetPeerName(descriptor, address, &length) == 0 ? Read(address, length, family) : null;
    }

    /// <summary>The peer of a Unix socket; null if the kernel does not report it.</summary>
    public static UnixPeer? ReadPeer(int descriptor)
    {
        UnixPeer peer;
        int length = sizeof(UnixPeer);
        return Libc.GetOption(descriptor, Libc.SolSocket, Libc.SoPeerCredentials, &peer, &length) == 0 && length == sizeof(UnixPeer)
            ? peer
            : null;
    }

    /// <summary>Reads and clears the socket's pending error.</summary>
    public static int TakeError(int descriptor)
    {
        int error = 0;
        int length = sizeof(int);
        return Libc.GetOption(descriptor, Libc.SolSocket, Libc.SoError, &error, &length) == 0 ? error : Errno.Last;
    }

    /// <summary>TCP: no delay of small sends, and probes of silent peers. Unix sockets: a larger send buffer.</summary>
    public static void Tune(int descriptor, EndPoint family, ConnectionSettings settings)
    {
        if (family is not IPEndPoint)
        {
            if (GetOption(descriptor, Libc.SolSocket, Libc.SoSendBuffer) < SocketTuning.UnixSendBuffer)
            {
                SetOption(descriptor, Libc.SolSocket, Libc.SoSendBuffer, SocketTuning.UnixSendBuffer);
            }

            return;
        }

        SetOption(descriptor, Libc.IpProtoTcp, Libc.TcpNoDelay, 1);
        if (settings.KeepAlive > TimeSpan.Zero)
        {
            SetOption(descriptor, Libc.SolSocket, Libc.SoKeepAlive, 1);
            SetOption(descriptor, Libc.IpProtoTcp, Libc.TcpKeepIdle, settings.KeepAliveSeconds);
            SetOption(descriptor, Libc.IpProtoTcp, Libc.TcpKeepInterval, Math.Max(1, settings.KeepAliveSeconds / 6));
            SetOption(descriptor, Libc.IpProtoTcp, Libc.TcpKeepCount, 3);
        }

        if (settings.UserTimeout > TimeSpan.Zero)
        {
            SetOption(descriptor, Libc.IpProtoTcp, Libc.TcpUserTimeout, settings.UserTimeoutMilliseconds);
        }
    }

    /// <summary>Makes the close discard unsent bytes and reset the connection.</summary>
    public static void ResetOnClose(int descriptor)
    {
        // struct linger { int l_onoff; int l_linger; }
        long onWithZero = 1;
        Libc.SetOption(descriptor, Libc.SolSocket, Libc.SoLinger, &onWithZero, sizeof(long));
    }

    private static void SetOption(int descriptor, int level, int name, int value) =>
        Libc.SetOption(descriptor, level, name, &value, sizeof(int));

    // 0 when the system refuses.
    private static int GetOption(int descriptor, int level, int name)
    {
        int value = 0;
        int length = sizeof(int);
        _ = Libc.GetOption(descriptor, level, name, &value, &length);
        return value;
    }

    private static EndPoint? Read(byte* address, int length, EndPoint family)
    {
        if (length < sizeof(ushort))
        {
            return null;
        }

        length = Math.Min(length, AddressCapacity);
        var native = new SocketAddress(family.AddressFamily, Math.Max(length, family.Serialize().Size));
        new ReadOnlySpan<byte>(address, length).CopyTo(native.Buffer.Span);
        native.Size = length;
        return family.Create(native);
    }
}
