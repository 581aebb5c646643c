using System.Buffers;
using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>A connection of a <see cref="ScriptedServer"/>: one channel without security.</summary>
internal sealed class ScriptedConnection(TcpClient client, ConcurrentDictionary<uint, Func<ScriptedCall, Task>> handlers) : IDisposable
{
    private const uint ChannelId = 1;

    /// <summary>Is told the URL of the Hello. Defaults to nothing.</summary>
    public Action<string?> OnHello { get; init; } = static _ => { };

    private readonly SemaphoreSlim _writing = new(1);
    private uint _sequence;
    private uint _lastToken;

    public async Task RunAsync()
    {
        try
        {
            while (await ReadChunkAsync() is { } chunk)
            {
                await HandleAsync(chunk);
            }
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException or InvalidOperationException)
        {
            // Cut.
        }

        client.Dispose();
    }

    /// <summary>Sends a response; nothing if the connection has ended.</summary>
    public async Task SendAsync<T>(uint type, uint requestId, ResponseHeader header, T? body, uint tokenId = 1)
        where T : struct, IServiceMessage
    {
        byte[] message =
        [
            .. UInt32s(1u | ((body is null ? ServiceFault.EncodingIdNumber : (uint)T.EncodingId) << 16)),
            .. Encode<ResponseHeader>(header),
            .. Encode(body),
        ];
        await WriteAsync(type, type == MessageType.Open ? OpenHeader() : UInt32s(ChannelId, tokenId), requestId, message);
    }

    /// <summary>Gives up a response on the way.</summary>
    public Task AbortAsync(uint requestId, ErrorMessage why) => WriteAsync(
        MessageType.MessageAbort, UInt32s(ChannelId, 1), requestId, Encode<ErrorMessage>(why));

    /// <summary>Ends the channel with an Error message.</summary>
    public async Task EndAsync(ErrorMessage why)
    {
        byte[] body = Encode<ErrorMessage>(why);
        await client.GetStream().WriteAsync((byte[])[.. UInt32s(MessageType.Error, (uint)body.Length + 8), .. body]);
    }

    public void Dispose() => client.Dispose();

    private static byte[] OpenHeader()
    {
        using var buffer = new MessageBuffer(ArrayPool<byte>.Shared);
        new AsymmetricHeader(ChannelId, SecurityPolicy.None.Uri, default, default).Write(buffer);
        return buffer.Written[8..].ToArray();
    }

    private static byte[] UInt32s(params ReadOnlySpan<uint> numbers) => MemoryMarshal.AsBytes(numbers).ToArray();

    private static byte[] Encode<T>(T? value)
        where T : struct, IStructure
    {
        if (value is not { } structure)
        {
            return [];
        }

        using var buffer = new MessageBuffer(ArrayPool<byte>.Shared);
        var encoder = new BinaryEncoder(buffer);
        encoder.WriteStructure(structure);
        encoder.Complete();
        return buffer.Written.ToArray();
    }

    private async Task WriteAsync(uint type, byte[] clear, uint requestId, byte[] message)
    {
        await _writing.WaitAsync();
        try
        {
            byte[] rest = [.. clear, .. UInt32s(++_sequence, requestId), .. message];
            await client.GetStream().WriteAsync((byte[])[.. UInt32s(type, (uint)rest.Length + 8), .. rest]);
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException or InvalidOperationException)
        {
            // Cut.
        }
        finally
        {
            _writing.Release();
        }
    }

    private async Task HandleAsync(byte[] chunk)
    {
        switch (BinaryPrimitives.ReadUInt32LittleEndian(chunk))
        {
            case MessageType.Hello:
                OnHello(new BinaryDecoder(chunk.AsSpan(8), EncodingLimits.Default).ReadStructure<HelloMessage>().EndpointUrl);
                byte[] acknowledge = Encode<AcknowledgeMessage>(
                    new AcknowledgeMessage { ReceiveBufferSize = 65_535, SendBufferSize = 65_535 });
                await client.GetStream().WriteAsync(
                    (byte[])[.. UInt32s(MessageType.Acknowledge, (uint)acknowledge.Length + 8), .. acknowledge]);
                break;
            case MessageType.Open:
                AsymmetricHeader.TryRead(chunk, out _, out int clear);
                await SendAsync<OpenSecureChannelResponse>(
                    MessageType.Open,
                    BinaryPrimitives.ReadUInt32LittleEndian(chunk.AsSpan(clear + 4)),
                    default,
                    new OpenSecureChannelResponse
                    {
                        SecurityToken =
                            new ChannelSecurityToken { ChannelId = ChannelId, TokenId = ++_lastToken, RevisedLifetime = 86_400_000 },
                    });
                break;
            case MessageType.Message:
                var call = new ScriptedCall(this, chunk);
                await (handlers.TryGetValue(call.Type, out Func<ScriptedCall, Task>? handle)
                    ? handle(call)
                    : call.FaultAsync(StatusCodes.BadServiceUnsupported));
                break;
            default:
                break;
        }
    }

    private async Task<byte[]?> ReadChunkAsync()
    {
        byte[] header = new byte[8];
        if (await client.GetStream().ReadAtLeastAsync(header, 8, throwOnEndOfStream: false) < 8)
        {
            return null;
        }

        byte[] chunk = new byte[BinaryPrimitives.ReadInt32LittleEndian(header.AsSpan(4))];
        header.CopyTo(chunk, 0);
        await client.GetStream().ReadExactlyAsync(chunk.AsMemory(8));
        return chunk;
    }
}

/// <summary>A request that the test answers, at any time, or does not.</summary>
internal sealed class ScriptedCall
{
    private readonly ScriptedConnection _connection;
    private readonly byte[] _body;
    private readonly uint _requestId;

    public ScriptedCall(ScriptedConnection connection, byte[] chunk)
    {
        _connection = connection;
        _requestId = BinaryPrimitives.ReadUInt32LittleEndian(chunk.AsSpan(20));
        var decoder = new BinaryDecoder(chunk.AsSpan(24), EncodingLimits.Default);
        Type = decoder.ReadNodeId().Number;
        Header = decoder.ReadStructure<RequestHeader>();
        _body = decoder.Rest.ToArray();
    }

    public uint Type { get; }

    public RequestHeader Header { get; }

    public T Request<T>()
        where T : struct, IServiceMessage => new BinaryDecoder(_body.AsSpan(), EncodingLimits.Default).ReadStructure<T>();

    public Task ReplyAsync<T>(T response, ResponseHeader header = default)
        where T : struct, IServiceMessage => _connection.SendAsync<T>(MessageType.Message, _requestId, header, response);

    public Task AbortAsync(ErrorMessage why) => _connection.AbortAsync(_requestId, why);

    public Task EndAsync(ErrorMessage why) => _connection.EndAsync(why);

    public Task FaultAsync(StatusCode status) => _connection.SendAsync<ServiceFault>(
        MessageType.Message, _requestId, new ResponseHeader { ServiceResult = status }, null);
}
