using System.Buffers.Binary;
using System.Text;
using FastPort.Core.Tests.Support;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Core.Tests.WebSockets;

/// <summary>A WebSocket endpoint with an honest client whose requests are checked from the first to the end of the attack.</summary>
internal sealed class AttackedServer : IAsyncDisposable
{
    private const int Close = 8;

    private readonly FastPortClient _honest;
    private readonly CancellationTokenSource _enough = new();
    private readonly Task _echoing;
    private long _echoes;

    private AttackedServer(TestServer server, FastPortClient honest)
    {
        Server = server;
        _honest = honest;
        _echoing = Task.Run(EchoAsync);
    }

    public TestServer Server { get; }

    /// <summary>How many requests of the honest client were answered so far.</summary>
    public long Echoes => Interlocked.Read(ref _echoes);

    public static async Task<AttackedServer> StartAsync(
        Action<FastPortServerOptions>? options = null, Action<FastPortServerComponents>? components = null)
    {
        TestServer server = await TestServer.StartAsync(
            options: chosen =>
            {
                chosen.Endpoints[0] = "ws://127.0.0.1:0/game";
                options?.Invoke(chosen);
            },
            components: components);
        var honest = new FastPortClient(new FastPortClientOptions { Endpoint = $"{server.Endpoint}", Reconnect = false });
        await honest.ConnectAsync(Patience.Token);
        return new AttackedServer(server, honest);
    }

    /// <summary>A connection after its handshake, whose frames are the caller's.</summary>
    public async Task<RawPeer> UpgradeAsync(bool offersCompression = false)
    {
        RawPeer peer = await Server.ConnectAsync();
        string answer = await UpgradeAsync(peer, offersCompression ? "permessage-deflate" : null);
        Assert.Equal(offersCompression, answer.Contains("permessage-deflate", StringComparison.Ordinal));
        return peer;
    }

    /// <summary>Makes a connection a WebSocket.</summary>
    /// <param name="peer">The connection.</param>
    /// <param name="offers">The value of Sec-WebSocket-Extensions; null for no field.</param>
    /// <returns>The head of the answer.</returns>
    public static async Task<string> UpgradeAsync(RawPeer peer, string? offers = null)
    {
        string extensions = offers is null ? string.Empty : $"Sec-WebSocket-Extensions: {offers}\r\n";
        await peer.SendAsync(Encoding.ASCII.GetBytes($"{Request}{extensions}\r\n"));
        string answer = await ReadHeadAsync(peer);
        Assert.StartsWith("HTTP/1.1 101 ", answer, StringComparison.Ordinal);
        return answer;
    }

    /// <summary>A frame of a client, masked with zeros.</summary>
    public static byte[] Frame(int opcode, int flags, byte[] payload)
    {
        byte[] length = payload.Length switch
        {
            <= 125 => [(byte)(0x80 | payload.Length)],
            <= ushort.MaxValue => [0xFE, (byte)(payload.Length >> 8), (byte)payload.Length],
            _ => [0xFF, 0, 0, 0, 0, .. BitConverter.GetBytes(BinaryPrimitives.ReverseEndianness(payload.Length))],
        };
        return [(byte)(flags | opcode), .. length, 0, 0, 0, 0, .. payload];
    }

    /// <summary>The peer gets the close code, the violation is counted, its session holds no memory, and others are served.</summary>
    public async Task ExpectViolationAsync(RawPeer peer, Session session, int code, string sentence)
    {
        Assert.Equal(code, BinaryPrimitives.ReadUInt16BigEndian(await ReadFrameAsync(peer, Close)));
        peer.ShutdownSend();
        await peer.ExpectGoneAsync();
        CloseReason reason = await Server.CloseReasonAsync();
        Assert.Equal(CloseKind.ProtocolError, reason.Kind);
        Assert.Contains(sentence, reason.Message, StringComparison.Ordinal);
        Assert.Equal(1, Server.Counts.ErrorsSentWith((uint)ErrorCode.MalformedFrame));
        Assert.Equal((0, 0), (session.Connection.ReceiveMemory, session.Connection.SendMemory));
        await ServeHonestAsync();
    }

    /// <summary>A request for a WebSocket, without the empty line at its end.</summary>
    public static string Request =>
        "GET /game HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: fastport.v1\r\n";

    /// <summary>The head of the server's answer.</summary>
    public static async Task<string> ReadHeadAsync(RawPeer peer)
    {
        string head = string.Empty;
        while (!head.EndsWith("\r\n\r\n", StringComparison.Ordinal))
        {
            head += (char)(await peer.ReadBytesAsync(1))[0];
        }

        return head;
    }

    /// <summary>Reads the server's frames up to one of a kind.</summary>
    /// <returns>Its payload.</returns>
    public static async Task<byte[]> ReadFrameAsync(RawPeer peer, int opcode) => (await ReadFrameAsync(peer, opcode, mask: 0x0F)).Payload;

    /// <summary>Reads the server's frames up to one whose first byte is another one under a mask.</summary>
    public static async Task<(byte First, byte[] Payload)> ReadFrameAsync(RawPeer peer, int first, int mask)
    {
        while (true)
        {
            byte[] header = await peer.ReadBytesAsync(2);
            int length = header[1] == 126 ? BinaryPrimitives.ReadUInt16BigEndian(await peer.ReadBytesAsync(2)) : header[1];
            byte[] payload = await peer.ReadBytesAsync(length);
            if ((header[0] & mask) == first)
            {
                return (header[0], payload);
            }
        }
    }

    /// <summary>Waits for more requests of the honest client, which all have to be answered.</summary>
    public async Task ServeHonestAsync(int requests = 20)
    {
        long enough = Echoes + requests;
        await Patience.UntilAsync(
            () => _echoing.IsCompleted || Echoes >= enough, $"the honest client had {requests} more replies");
        await (_echoing.IsCompleted ? _echoing : Task.CompletedTask);
    }

    public async ValueTask DisposeAsync()
    {
        await _enough.CancelAsync();
        await _echoing.InTimeAsync();
        await _honest.DisposeAsync();
        Assert.DoesNotContain(Server.Log.Lines, static line => line.Level >= LogLevel.Error);
        await Server.DisposeAsync();
        _enough.Dispose();
    }

    private async Task EchoAsync()
    {
        for (int i = 0; !_enough.IsCancellationRequested; i++)
        {
            byte[] body = Wire.Bytes(i % 3000, i);
            Assert.Equal(body, await _honest.RequestAsync(TestServer.Echo, body));
            Interlocked.Increment(ref _echoes);
        }
    }
}
