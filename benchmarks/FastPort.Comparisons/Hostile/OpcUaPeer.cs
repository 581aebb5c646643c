using System.Buffers.Binary;
using System.Net;

namespace FastPort.Comparisons.Hostile;

/// <summary>A secure channel without security, and a session on it, to an OPC UA server; as little as an attacker needs.</summary>
internal sealed class OpcUaPeer : IDisposable
{
    private const int HeaderBytes = 24;
    private const int ChunkBody = 60_000;
    private const int LargestAnswer = 1024 * 1024;

    // Sessions outlive their channels: longer ones would fill the server's number of sessions, and no bomb would go off any more.
    private const double SessionMilliseconds = 5000;

    // What precedes the fields of a response: its encoding, the time, the handle.
    private const int ResultAt = 4 + 8 + 4;

    // Behind the result: no diagnostics, no strings, no additional header.
    private const int FieldsAt = ResultAt + 4 + 1 + 4 + 3;

    private static readonly byte[] NoSession = [0, 0];

    private readonly HostilePeer _peer;
    private int _channel;
    private int _token;
    private int _sequence = 1;

    private OpcUaPeer(HostilePeer peer) => _peer = peer;

    /// <summary>What the requests of the session begin with.</summary>
    public byte[] Session { get; private set; } = NoSession;

    /// <summary>Opens a channel, and a session if one is wanted.</summary>
    /// <exception cref="IOException">The server refused.</exception>
    public static async Task<OpcUaPeer> OpenAsync(IPEndPoint server, IPAddress? source, bool withSession, CancellationToken ending)
    {
        var peer = new OpcUaPeer(await HostilePeer.ConnectAsync(server, source, ending));
        try
        {
            await peer.OpenChannelAsync(server, ending);
            if (withSession)
            {
                await peer.OpenSessionAsync(server, ending);
            }

            return peer;
        }
        catch
        {
            peer.Dispose();
            throw;
        }
    }

    /// <summary>Sends a request, in as many chunks as it takes.</summary>
    /// <param name="body">The body.</param>
    /// <param name="isWhole">Whether the last chunk is the last one.</param>
    /// <param name="ending">Gives up.</param>
    public async Task SendAsync(ReadOnlyMemory<byte> body, bool isWhole, CancellationToken ending)
    {
        int request = _sequence;
        do
        {
            ReadOnlyMemory<byte> part = body[..Math.Min(ChunkBody, body.Length)];
            body = body[part.Length..];
            byte[] chunk = new byte[HeaderBytes + part.Length];
            "MSG"u8.CopyTo(chunk);
            chunk[3] = body.IsEmpty && isWhole ? (byte)'F' : (byte)'C';
            BinaryPrimitives.WriteInt32LittleEndian(chunk.AsSpan(4), chunk.Length);
            BinaryPrimitives.WriteInt32LittleEndian(chunk.AsSpan(8), _channel);
            BinaryPrimitives.WriteInt32LittleEndian(chunk.AsSpan(12), _token);
            BinaryPrimitives.WriteInt32LittleEndian(chunk.AsSpan(16), ++_sequence);
            BinaryPrimitives.WriteInt32LittleEndian(chunk.AsSpan(20), request);
            part.CopyTo(chunk.AsMemory(HeaderBytes));
            await _peer.SendAsync(chunk, ending);
        }
        while (!body.IsEmpty);
    }

    /// <summary>The body of the next message; one of several chunks is cut.</summary>
    /// <exception cref="IOException">The server has ended the connection, or the message is an error.</exception>
    public async Task<byte[]> ReceiveAsync(CancellationToken ending)
    {
        byte[] message = await ReceiveMessageAsync(ending);
        return message[HeaderBytes..];
    }

    public Task DrainAsync(CancellationToken ending) => _peer.DrainAsync(ending);

    public void Dispose() => _peer.Dispose();

    private async Task OpenChannelAsync(IPEndPoint server, CancellationToken ending)
    {
        byte[] hello = new OpcUaBody().Number(0).Number(65_536).Number(65_536).Number(0).Number(0).Text($"opc.tcp://{server}").ToArray();
        await _peer.SendAsync(Message("HELF"u8, hello), ending);
        await ReceiveMessageAsync(ending);
        byte[] open = new OpcUaBody().Number(0).Text("http://opcfoundation.org/UA/SecurityPolicy#None").Null().Null()
            .Number(_sequence).Number(1)
            .Bytes(OpcUaBody.Request(446, NoSession).ToArray()).Number(0).Number(0).Number(1).Null().Number(3_600_000).ToArray();
        await _peer.SendAsync(Message("OPNF"u8, open), ending);
        byte[] answer = await ReceiveMessageAsync(ending);
        int policy = BinaryPrimitives.ReadInt32LittleEndian(answer.AsSpan(12));
        int fields = 16 + policy + 8 + 8 + FieldsAt + 4;
        _channel = BinaryPrimitives.ReadInt32LittleEndian(answer.AsSpan(fields));
        _token = BinaryPrimitives.ReadInt32LittleEndian(answer.AsSpan(fields + 4));
    }

    private async Task OpenSessionAsync(IPEndPoint server, CancellationToken ending)
    {
        byte[] create = OpcUaBody.Request(461, NoSession)
            .Text("urn:hostile").Null().Bytes(0).Number(1).Null().Null().Null()
            .Null().Text($"opc.tcp://{server}").Text("hostile").Null().Null().Double(SessionMilliseconds).Number(0).ToArray();
        await SendAsync(create, isWhole: true, ending);
        byte[] created = await ReceiveAsync(ending);
        RequireGood(created);
        int token = FieldsAt + NodeBytes(created, FieldsAt);
        Session = created[token..(token + NodeBytes(created, token))];
        byte[] anonymous = new OpcUaBody().Text("anonymous").ToArray();
        byte[] activate = OpcUaBody.Request(467, Session)
            .Null().Null().Null().Null()
            .Node(321).Bytes(1).Number(anonymous.Length).Bytes(anonymous)
            .Null().Null().ToArray();
        await SendAsync(activate, isWhole: true, ending);
        RequireGood(await ReceiveAsync(ending));
    }

    private static void RequireGood(byte[] response)
    {
        int result = BinaryPrimitives.ReadInt32LittleEndian(response.AsSpan(ResultAt));
        if (result != 0)
        {
            throw new IOException($"The server answered 0x{result:X8}.");
        }
    }

    // By its encoding: two bytes, a number of two or four, a text, a Guid, a byte string.
    private static int NodeBytes(byte[] bytes, int at) => (bytes[at] & 0x3F) switch
    {
        0 => 2,
        1 => 4,
        2 => 7,
        4 => 19,
        _ => 7 + Math.Max(0, BinaryPrimitives.ReadInt32LittleEndian(bytes.AsSpan(at + 3))),
    };

    private static byte[] Message(ReadOnlySpan<byte> type, byte[] body) =>
        [.. type, .. BitConverter.GetBytes(8 + body.Length), .. body];

    private async Task<byte[]> ReceiveMessageAsync(CancellationToken ending)
    {
        byte[] head = new byte[8];
        await _peer.ReadExactlyAsync(head, ending);
        int size = BinaryPrimitives.ReadInt32LittleEndian(head.AsSpan(4));
        if (size is < 8 or > LargestAnswer || head.AsSpan(0, 3).SequenceEqual("ERR"u8))
        {
            throw new IOException("The server answered with an error.");
        }

        byte[] message = new byte[size];
        head.CopyTo(message, 0);
        await _peer.ReadExactlyAsync(message.AsMemory(8), ending);
        return message.Length >= HeaderBytes || head[0] == (byte)'A' ? message : throw new IOException("The answer is too short.");
    }
}
