using System.Globalization;
using System.Net;
using System.Text;
using FastPort.Transports;
using FastPort.Transports.Epoll.Native;

namespace FastPort.Core.Tests.Transports.Support;

/// <summary>
/// Connected sockets of this process, whoever holds them, found by their addresses; and the options that they have. Linux.
/// </summary>
internal static class OwnSockets
{
    /// <summary>Descriptors of the connected sockets at this local address: what a listener there has accepted.</summary>
    public static IReadOnlyList<int> AcceptedAt(EndPoint address) =>
        Find(descriptor => Same(NativeSocket.LocalAddress, descriptor, address) && HasPeer(descriptor, address));

    /// <summary>Descriptors of the sockets that are connected to this address.</summary>
    public static IReadOnlyList<int> ConnectedTo(EndPoint address) =>
        Find(descriptor => Same(NativeSocket.RemoteAddress, descriptor, address));

    public static unsafe string CongestionControlOf(int descriptor)
    {
        byte* name = stackalloc byte[16];
        int length = 16;
        return Libc.GetOption(descriptor, Libc.IpProtoTcp, CongestionControl.TcpCongestion, name, &length) == 0
            ? Encoding.ASCII.GetString(new ReadOnlySpan<byte>(name, length)).TrimEnd('\0')
            : throw new InvalidOperationException($"Descriptor {descriptor} does not tell its congestion control.");
    }

    public static unsafe int SendBufferOf(int descriptor)
    {
        int bytes = 0;
        int length = sizeof(int);
        return Libc.GetOption(descriptor, Libc.SolSocket, Libc.SoSendBuffer, &bytes, &length) == 0
            ? bytes
            : throw new InvalidOperationException($"Descriptor {descriptor} does not tell its send buffer.");
    }

    private static List<int> Find(Predicate<int> isWanted) =>
        [.. Directory.GetFiles("/proc/self/fd").Select(static path => int.Parse(Path.GetFileName(path), CultureInfo.InvariantCulture))
            .Where(d => isWanted(d))];

    private static bool HasPeer(int descriptor, EndPoint family) => NativeSocket.RemoteAddress(descriptor, family) is not null;

    private static bool Same(Func<int, EndPoint, EndPoint?> ask, int descriptor, EndPoint address)
    {
        try
        {
            return address.Equals(ask(descriptor, address));
        }
        catch (ArgumentException)
        {
            // Of another family.
            return false;
        }
    }
}
