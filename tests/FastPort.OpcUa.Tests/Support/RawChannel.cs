using System.Buffers.Binary;
using System.Net.Sockets;
using FastPort.Core.Tests.Support;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.Transports;

namespace FastPort.OpcUa.Tests.Support;

/// <summary>A client that sends what it likes, chunk by chunk.</summary>
internal sealed class RawChannel : IDisposable
{
    private readonly TcpClient _client = new();
    private uint _sequence;

    public uint ChannelId { get; set; }

    public uint TokenId { get; set; }

    /// <summary>The session that a test has opened.</summary>
    public NodeId Token { get; set; }

    public static async Task<RawChannel> ConnectAsync(TestServer server)
    {
        Endpoint endpoint = server.Server.Endpoints[0];
        var channel = new RawChannel();
        await channel._client.ConnectAsync(endpoint.Host, endpoint.Port);
        return channel;
    }

    /// <summary>Connects, says Hello and opens a channel without security.</summary>
    public static async Task<RawChannel> OpenAsync(TestServer server, uint maxMessageBytes = 0)
    {
        RawChannel channel = await ConnectAsync(server);
        await channel.SendHelloAsync(maxMessageBytes: maxMessageBytes);
        await channel.ReceiveAsync();
        await channel.SendOpenAsync();
        (_, byte[] chunk) = await channel.ReceiveAsync();
        AsymmetricHeader.TryRead(chunk, out _, out int clear);
        var decoder = new BinaryDecoder(chunk.AsSpan(clear + 8), EncodingLimits.Default);
        decoder.ReadNodeId();
        decoder.ReadStructure<ResponseHeader>();
        ChannelSecurityToken token = decoder.ReadStructure<OpenSecureChannelResponse>().SecurityToken;
        (channel.ChannelId, channel.TokenId) = (token.ChannelId, token.TokenId);
        return channel;
    }

    public Task SendHelloAsync(uint bufferSize = 65_535, string? url = "opc.tcp://127.0.0.1/test", uint maxMessageBytes = 0)
    {
        var hello = new HelloMessage
        {
            ReceiveBufferSize = bufferSize,
            SendBufferSize = bufferSize,
            MaxMessageSize = maxMessageBytes,
            EndpointUrl = url,
        };
        return SendAsync(MessageType.Hello, Encode(hello));
    }

    public async Task SendOpenAsync(
        SecurityTokenRequestType type = SecurityTokenRequestType.Issue,
        MessageSecurityMode mode = MessageSecurityMode.None,
        string? policy = null)
    {
        using var buffer = new MessageBuffer(System.Buffers.ArrayPool<byte>.Shared);
        new AsymmetricHeader(ChannelId, policy ?? SecurityPolicy.None.Uri, default, default).Write(buffer);
        byte[] request = Request(new OpenSecureChannelRequest { RequestType = type, SecurityMode = mode, RequestedLifetime = 60_000 });
        await SendAsync(MessageType.Open, [.. buffer.Written[8..], .. UInt32s(++_sequence, 1), .. request]);
    }

    /// <summary>A request with its type and header.</summary>
    public static byte[] Request<T>(T body, NodeId token = default, uint timeoutHint = 0)
        where T : struct, IServiceMessage
    {
        byte[] header = Encode(new RequestHeader { AuthenticationToken = token, RequestHandle = 5, TimeoutHint = timeoutHint });
        return [.. UInt32s(1u | ((uint)T.EncodingId << 16)), .. header, .. Encode(body)];
    }

    public Task SendMessageAsync(byte[] message, uint type = MessageType.Message, uint requestId = 2, int skipNumbers = 0)
    {
        _sequence += (uint)(1 + skipNumbers);
        return SendAsync(type, [.. UInt32s(ChannelId, TokenId, _sequence, requestId), .. message]);
    }

    public async Task SendAsync(uint type, byte[] rest)
    {
        await _client.GetStream().WriteAsync((byte[])[.. UInt32s(type, (uint)rest.Length + 8), .. rest]);
    }

    public async Task SendBytesAsync(byte[] bytes) => await _client.GetStream().WriteAsync(bytes);

    /// <summary>The next chunk; its type is 0 at the end of the stream.</summary>
    public async Task<(uint Type, byte[] Chunk)> ReceiveAsync()
    {
        byte[] header = new byte[8];
        try
        {
            if (await _client.GetStream().ReadAtLeastAsync(header, 8, throwOnEndOfStream: false, Patience.Token) < 8)
            {
                return (0, []);
            }
        }
        catch (IOException)
        {
            return (0, []);
        }

        byte[] chunk = new byte[BinaryPrimitives.ReadInt32LittleEndian(header.AsSpan(4))];
        header.CopyTo(chunk, 0);
        await _client.GetStream().ReadExactlyAsync(chunk.AsMemory(8), Patience.Token);
        return (BinaryPrimitives.ReadUInt32LittleEndian(header), chunk);
    }

    /// <summary>The status of an Error message, which the end of the connection follows.</summary>
    public async Task<StatusCode> ReceiveErrorAsync()
    {
        (uint type, byte[] chunk) = await ReceiveAsync();
        Xunit.Assert.Equal(MessageType.Error, type);
        Xunit.Assert.Equal(0u, (await ReceiveAsync()).Type);
        return new BinaryDecoder(chunk.AsSpan(8), EncodingLimits.Default).ReadStatusCode();
    }

    /// <summary>The type and the status of a response.</summary>
    public async Task<(uint Type, StatusCode Status)> ReceiveResponseAsync()
    {
        (_, byte[] chunk) = await ReceiveAsync();
        var decoder = new BinaryDecoder(chunk.AsSpan(24), EncodingLimits.Default);
        uint type = decoder.ReadNodeId().Number;
        return (type, decoder.ReadStructure<ResponseHeader>().ServiceResult);
    }

    public void Dispose() => _client.Dispose();

    private static byte[] UInt32s(params ReadOnlySpan<uint> numbers) =>
        System.Runtime.InteropServices.MemoryMarshal.AsBytes(numbers).ToArray();

    private static byte[] Encode<T>(T value)
        where T : struct, IStructure
    {
        using var buffer = new MessageBuffer(System.Buffers.ArrayPool<byte>.Shared);
        var encoder = new BinaryEncoder(buffer);
        encoder.WriteStructure(value);
        encoder.Complete();
        return buffer.Written.ToArray();
    }
}
