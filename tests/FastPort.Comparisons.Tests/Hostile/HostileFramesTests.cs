using System.Buffers.Binary;
using System.Net;
using System.Text;
using FastPort.Comparisons.Hostile;
using Xunit;

namespace FastPort.Comparisons.Tests.Hostile;

/// <summary>The examples of docs/protocol.md: an attacker whose frames are wrong by mistake would attack nothing.</summary>
public sealed class HostileFramesTests
{
    [Fact]
    public void A_frame_is_as_the_protocol_has_it()
    {
        byte[] echo = HostileFrames.Frame(HostileFrames.Echo, 7, HostileFrames.Field(1, "hello"));

        Assert.Equal("0f000000" + "0001" + "00" + "01" + "07000000" + "0a0568656c6c6f", Convert.ToHexStringLower(echo));
        Assert.Equal("0800000009000401" + "00000000", Convert.ToHexStringLower(HostileFrames.Frame(HostileFrames.Cancel, 0)));
        Assert.Equal("0800000002000101" + "05000000", Convert.ToHexStringLower(HostileFrames.Pong(5)));
    }

    [Fact]
    public void WebSocket_frames_are_as_the_standard_has_them()
    {
        Assert.Equal("828100000000" + "07", Hex(WebSocketFrames.Frame(WebSocketFrames.Binary, WebSocketFrames.Final, [7])));
        Assert.Equal(
            "89fe007e00000000", Hex(WebSocketFrames.Frame(WebSocketFrames.Ping, WebSocketFrames.Final, new byte[126]))[..16]);
        Assert.Equal("888400000000" + "03e8c080", Hex(WebSocketFrames.CloseWith(1000, 0xC0, 0x80)));
        Assert.Equal("028000000000" + "008100000000" + "05" + "808000000000", Hex(WebSocketFrames.Fragments([5])));
        Assert.StartsWith("c2fe", Hex(WebSocketFrames.Bomb(1_000_000)), StringComparison.Ordinal);

        static string Hex(byte[] bytes) => Convert.ToHexStringLower(bytes);
    }

    [Fact]
    public void Fields_are_read_back()
    {
        byte[] body =
        [
            .. HostileFrames.Field(1, "topic"), .. HostileFrames.Field(2, 300UL), .. HostileFrames.Field(3, new byte[200]),
            0x80, 0x01, 5, // field 16, whose tag takes two bytes
        ];

        Assert.Equal("topic", Encoding.UTF8.GetString(HostileFrames.BytesOf(body, 1)));
        Assert.Equal(200, HostileFrames.BytesOf(body, 3).Length);
        Assert.Equal([], HostileFrames.BytesOf(body, 4));
        Assert.Equal(new Dictionary<int, ulong> { [2] = 300, [16] = 5 }, HostileFrames.Numbers(body));
    }

    [Fact]
    public void A_forged_packet_has_the_checksum_that_the_kernel_checks()
    {
        byte[] packet = SynFlood.Packet([10, 99, 0, 101], new IPEndPoint(IPAddress.Parse("10.99.0.1"), 6628), 0x02);

        // Addresses, protocol, length and segment add up to ones alone where the checksum is right.
        uint sum = 6 + 20;
        for (int i = 12; i < packet.Length; i += 2)
        {
            sum += BinaryPrimitives.ReadUInt16BigEndian(packet.AsSpan(i));
        }

        Assert.Equal(0xFFFFu, (sum & 0xFFFF) + (sum >> 16));
        Assert.Equal(6628, BinaryPrimitives.ReadUInt16BigEndian(packet.AsSpan(22)));
    }
}
