using System.Buffers.Binary;
using System.Text;
using FastPort.Core.Tests.Support;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Core.Tests.WebSockets;

/// <summary>A WebSocket endpoint with an honest client whose requests are checked from the first to the end of the attack.</summary>
internal sealed class AttackedServer : IAsyncDisposable
{
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
    public async Task<RawPeer> UpgradeAsync()
    {
        RawPeer peer = await Server.ConnectAsync();
        await peer.SendAsync(Encoding.ASCII.GetBytes($"{Request}\r\n"));
        Assert.StartsWith("HTTP/1.1 101 ", await ReadHeadAsync(peer), StringComparison.Ordinal);
        return peer;
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
    public static async Task<byte[]> ReadFrameAsync(RawPeer peer, int opcode)
    {
        while (true)
        {
            byte[] header = await peer.ReadBytesAsync(2);
            int length = header[1] == 126 ? BinaryPrimitives.ReadUInt16BigEndian(await peer.ReadBytesAsync(2)) : header[1];
            byte[] payload = await peer.ReadBytesAsync(length);
            if ((header[0] & 0x0F) == opcode)
            {
                return payload;
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
