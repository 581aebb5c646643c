using FastPort.Core.Tests.Support;

namespace FastPort.Core.Tests.Routing;

/// <summary>Bodies of the routing types, byte by byte from the protocol page, and servers and peers that use them.</summary>
internal static class RoutingWire
{
    public const ushort Relay = 4;
    public const ushort Subscribe = 5;
    public const ushort Unsubscribe = 6;
    public const ushort Publish = 7;
    public const ushort Peers = 8;

    public static byte[] Envelope(string address, uint type, byte[] body, string from = "") =>
        [.. Wire.Text(1, address), .. Wire.Number(2, type), .. Bytes(3, body), .. Wire.Text(4, from)];

    public static byte[] Bytes(int field, byte[] value) =>
        value.Length == 0 ? [] : [(byte)((field << 3) | 2), .. Wire.Varint((ulong)value.Length), .. value];

    public static byte[] RelayRequest(uint correlation, string to, byte[] body, uint type = 0x1000, string from = "") =>
        Wire.Request(Relay, correlation, Envelope(to, type, body, from));

    public static byte[] RelayPost(string to, byte[] body, uint type = 0x1000) => Wire.Post(Relay, Envelope(to, type, body));

    public static byte[] PublishRequest(uint correlation, string topic, byte[] body, uint type = 0x1000, string from = "") =>
        Wire.Request(Publish, correlation, Envelope(topic, type, body, from));

    public static byte[] TopicRequest(ushort type, uint correlation, string prefix) =>
        Wire.Request(type, correlation, Wire.Text(1, prefix));

    public static Task<TestServer> StartAsync(
        Action<FastPortServerOptions>? options = null, Action<FastPortServerComponents>? components = null) =>
        TestServer.StartAsync(
        options: o =>
        {
            o.Routing.Relay = o.Routing.Topics = o.Routing.Peers = true;
            options?.Invoke(o);
        },
        components: components);

    /// <summary>A peer that was welcomed, and so can be reached.</summary>
    public static async Task<RawPeer> ConnectAsync(this TestServer server, string routingId, int receiveBuffer = 0)
    {
        RawPeer peer = await server.ConnectAsync(receiveBuffer);
        await peer.SayHelloAsync(routingId);
        return peer;
    }

    /// <summary>The next frame is an empty reply to a request of this type.</summary>
    public static async Task ExpectEmptyReplyAsync(this RawPeer peer, ushort type, uint correlation)
    {
        WireFrame reply = await peer.ReadFrameAsync();
        Xunit.Assert.Equal((type, Wire.Reply, correlation, 0), (reply.Type, reply.Flags, reply.Correlation, reply.Body.Length));
    }

    public static async Task SubscribeAsync(this RawPeer peer, string prefix, uint correlation = 0x5000_0000)
    {
        await peer.SendAsync(TopicRequest(Subscribe, correlation, prefix));
        await peer.ExpectEmptyReplyAsync(Subscribe, correlation);
    }

    /// <summary>Publishes and returns the number of sessions that took it.</summary>
    public static async Task<ulong> PublishAsync(
        this RawPeer peer, string topic, byte[] body, uint correlation = 0x5000_0001, uint type = 0x1000)
    {
        WireFrame reply = await peer.CallAsync(PublishRequest(correlation, topic, body, type));
        Xunit.Assert.Equal((Publish, Wire.Reply, correlation), (reply.Type, reply.Flags, reply.Correlation));
        return reply.NumberAt(1);
    }

    /// <summary>A relayed or published message as its receiver sees it.</summary>
    public static (ushort Type, byte Flags, uint Correlation, string Address, ulong InnerType, byte[] Body, string From) Decode(
        WireFrame frame) =>
        (frame.Type, frame.Flags, frame.Correlation, frame.TextAt(1), frame.NumberAt(2), frame.BytesAt(3), frame.TextAt(4));
}
