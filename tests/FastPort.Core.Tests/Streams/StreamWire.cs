using Xunit;

namespace FastPort.Core.Tests.Streams;

/// <summary>The stream extension byte by byte, from the protocol page.</summary>
internal static class StreamWire
{
    public const byte More = 32;
    public const ushort Credit = 10;
    public const uint OfReplies = 0, OfRequests = 1, Opening = 2;
    public const uint Window = 256, WindowBytes = 128 * 1024;
    public const uint MalformedFrame = 1, UnknownType = 3, MalformedBody = 4, Overloaded = 8, Internal = 9, ShuttingDown = 10;

    public static byte[] CreditPost(uint correlation, uint messages, uint bytes, uint of) => Wire.Post(
        Credit, [.. Wire.Number(1, correlation), .. Wire.Number(2, messages), .. Wire.Number(3, bytes), .. Wire.Number(4, of)]);

    public static byte[] Announce(uint correlation, uint messages = Window, uint bytes = WindowBytes) =>
        CreditPost(correlation, messages, bytes, Opening);

    /// <summary>Opens a call with one request.</summary>
    public static byte[] Open(
        ushort type, uint correlation, byte[]? body = null, uint messages = Window, uint bytes = WindowBytes) =>
        [.. Announce(correlation, messages, bytes), .. Wire.Request(type, correlation, body)];

    /// <summary>Opens a call with a stream of requests.</summary>
    public static byte[] OpenRequests(ushort type, uint correlation, uint messages = Window, uint bytes = WindowBytes) =>
        [.. Announce(correlation, messages, bytes), .. Item(type, correlation)];

    public static byte[] Item(ushort type, uint correlation, params byte[] body) => Wire.Frame(type, More, correlation, body);

    public static byte[] End(ushort type, uint correlation) => Wire.Request(type, correlation);

    public static async Task<RawPeer> ConnectStreamingAsync(this Support.TestServer server, int receiveBuffer = 0)
    {
        RawPeer peer = await server.ConnectAsync(receiveBuffer);
        await peer.AgreeAsync();
        return peer;
    }

    /// <summary>Says Hello with these bits; returns those of the Welcome.</summary>
    public static async Task<ulong> AgreeAsync(this RawPeer peer, uint extensions = 2) =>
        (await peer.CallAsync(Wire.Request(Wire.Hello, 0x7000_0000, Wire.Number(4, extensions)))).NumberAt(5);

    /// <summary>The next frame, as flags, correlation and body.</summary>
    public static async Task<(byte Flags, uint Correlation, byte[] Body)> NextAsync(this RawPeer peer, ushort type)
    {
        WireFrame frame = await peer.ReadFrameAsync();
        Assert.Equal(type, frame.Type);
        return (frame.Flags, frame.Correlation, frame.Body);
    }

    public static async Task ExpectItemAsync(this RawPeer peer, ushort type, uint correlation, params byte[] body) =>
        Assert.Equivalent(((byte)(Wire.Reply | More), correlation, body), await peer.NextAsync(type));

    public static async Task ExpectEndAsync(this RawPeer peer, ushort type, uint correlation, params byte[] body) =>
        Assert.Equivalent((Wire.Reply, correlation, body), await peer.NextAsync(type));

    public static async Task<string> ExpectErrorAsync(this RawPeer peer, ushort type, uint correlation, uint code)
    {
        WireFrame frame = await peer.ReadFrameAsync();
        Assert.Equal(
            (type, (byte)(Wire.Reply | Wire.Error), correlation, code), (frame.Type, frame.Flags, frame.Correlation, frame.ErrorCode));
        return frame.TextAt(2);
    }

    /// <summary>The next frame is a grant for requests.</summary>
    public static async Task<(uint Messages, uint Bytes)> ExpectGrantAsync(this RawPeer peer, uint correlation)
    {
        WireFrame frame = await peer.ReadFrameAsync();
        Assert.Equal(
            (Credit, Wire.OneWay, (ulong)correlation, (ulong)OfRequests),
            (frame.Type, frame.Flags, frame.NumberAt(1), frame.NumberAt(4)));
        return ((uint)frame.NumberAt(2), (uint)frame.NumberAt(3));
    }
}
