using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Tests.Support;

/// <summary>A client that sends what it likes, chunk by chunk.</summary>
internal sealed class RawChannel : IDisposable
{
    private readonly TcpClient _client;
    private uint _sequence;

    private RawChannel(TcpClient client) => _client = client;

    public uint ChannelId { get; set; }

    public uint TokenId { get; set; }

    /// <summary>The session that a test has opened.</summary>
    public NodeId Token { get; set; }

    public static async Task<RawChannel> ConnectAsync(TestServer server)
    {
        Endpoint endpoint = server.Server.Endpoints[0];
        var channel = new RawChannel(new TcpClient());
        await channel._client.ConnectAsync(endpoint.Host, endpoint.Port);
        return channel;
    }

    /// <summary>The server's end, played by the test.</summary>
    public static async Task<RawChannel> AcceptAsync(TcpListener listener) => new(await listener.AcceptTcpClientAsync(Patience.Token));

    /// <summary>Connects, says Hello and opens a channel without security.</summary>
    public static async Task<RawChannel> OpenAsync(TestServer server, uint maxMessageBytes = 0)
    {
        RawChannel channel = await ConnectAsync(server);
        await channel.SendHelloAsync(maxMessageBytes: maxMessageBytes);
        await channel.ReceiveAsync();
        await channel.SendOpenAsync();
        (channel.ChannelId, channel.TokenId) = await channel.ReceiveTokenAsync();
        return channel;
    }

    /// <summary>Receives the response to <see cref="SendOpenAsync"/>.</summary>
    public async Task<(uint ChannelId, uint TokenId)> ReceiveTokenAsync()
    {
        (uint type, byte[] chunk) = await ReceiveAsync();
        Xunit.Assert.Equal(MessageType.Open, type);
        AsymmetricHeader.TryRead(chunk, out _, out int clear);
        var decoder = new BinaryDecoder(chunk.AsSpan(clear + 8), EncodingLimits.Default);
        decoder.ReadNodeId();
        decoder.ReadStructure<ResponseHeader>();
        ChannelSecurityToken token = decoder.ReadStructure<OpenSecureChannelResponse>().SecurityToken;
        return (token.ChannelId, token.TokenId);
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

    /// <summary>As a server: receives an OpenSecureChannel request, and answers with the channel's id and a token.</summary>
    public async Task AnswerOpenAsync(uint lifetime)
    {
        (uint type, byte[] chunk) = await ReceiveAsync();
        Xunit.Assert.Equal(MessageType.Open, type);
        AsymmetricHeader.TryRead(chunk, out _, out int clear);
        uint requestId = BinaryPrimitives.ReadUInt32LittleEndian(chunk.AsSpan(clear + 4));
        using var buffer = new MessageBuffer(System.Buffers.ArrayPool<byte>.Shared);
        new AsymmetricHeader(ChannelId, SecurityPolicy.None.Uri, default, default).Write(buffer);
        byte[] response = Response(new OpenSecureChannelResponse
        {
            SecurityToken = new ChannelSecurityToken { ChannelId = ChannelId, TokenId = TokenId, RevisedLifetime = lifetime },
        });
        await SendAsync(MessageType.Open, [.. buffer.Written[8..], .. UInt32s(++_sequence, requestId), .. response]);
    }

    /// <summary>A response with its type and header.</summary>
    public static byte[] Response<T>(T body)
        where T : struct, IServiceMessage =>
        [.. UInt32s(1u | ((uint)T.EncodingId << 16)), .. Encode(default(ResponseHeader)), .. Encode(body)];

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

    /// <summary>The server's end of it.</summary>
    public Connection ServedBy(TestServer server)
    {
        int port = ((IPEndPoint)_client.Client.LocalEndPoint!).Port;
        return server.Server.Connections.Single(one => ((IPEndPoint)one.RemoteEndPoint!).Port == port);
    }

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

    /// <summary>Ends the connection with a reset.</summary>
    public void Reset()
    {
        _client.LingerState = new LingerOption(enable: true, seconds: 0);
        _client.Dispose();
    }

    public void Dispose() => _client.Dispose();

    private static byte[] UInt32s(params ReadOnlySpan<uint> numbers) =>
        System.Runtime.InteropServices.MemoryMarshal.AsBytes(numbers).ToArray();

    public static byte[] Encode<T>(T value)
        where T : struct, IStructure
    {
        using var buffer = new MessageBuffer(System.Buffers.ArrayPool<byte>.Shared);
        var encoder = new BinaryEncoder(buffer);
        encoder.WriteStructure(value);
        encoder.Complete();
        return buffer.Written.ToArray();
    }
}
