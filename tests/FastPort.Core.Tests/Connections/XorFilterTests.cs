using FastPort.Core.Tests.Support;
using FastPort.Transports.Sockets;
using Xunit;

namespace FastPort.Core.Tests.Connections;

/// <summary>A filter of bytes between the transport and the frame protocol, plugged in as a transport through public types alone.</summary>
public sealed class XorFilterTests
{
    private const byte Key = 0x5A;

    [Fact]
    public async Task Sessions_run_over_a_filter_that_changes_every_byte()
    {
        await using TestServer server = await TestServer.StartAsync(
            static h => h.MapQueued(0x1001, static c =>
            {
                c.Reply(c.Body.Span);
                return ValueTask.CompletedTask;
            }),
            components: static h => h.Transports.Add(Transport()));
        using RawPeer peer = await server.ConnectAsync();
        byte[] body = Wire.Bytes(200_000);

        await peer.SendAsync(
            Xor(Wire.HelloRequest(1, "masked")), Xor(Wire.Request(TestServer.Echo, 2, body)), Xor(Wire.Request(0x1001, 3, body)));

        byte[] welcome = Xor(await peer.ReadBytesAsync(4));
        await peer.ReadBytesAsync(BitConverter.ToInt32(welcome));
        Assert.Equal(Wire.Frame(TestServer.Echo, Wire.Reply, 2, body), Xor(await peer.ReadBytesAsync(body.Length + 12)));
        Assert.Equal(Wire.Frame(0x1001, Wire.Reply, 3, body), Xor(await peer.ReadBytesAsync(body.Length + 12)));
        Session session = server.Server.Routing.Find("masked")!;
        Assert.Equal(SendStatus.Queued, session.TrySend(0x1002, [1, 2, 3]));
        Assert.Equal(Wire.Post(0x1002, [1, 2, 3]), Xor(await peer.ReadBytesAsync(15)));
        var lent = new BorrowedBuffer(body.Length);
        Assert.Equal(SendStatus.Queued, session.TrySendBorrowed(0x1003, lent.Bytes, BorrowedBuffer.Release, lent));
        Assert.Equal(Wire.Post(0x1003, body), Xor(await peer.ReadBytesAsync(body.Length + 12)));
        Assert.Equal(1, lent.Releases);
    }

    [Fact]
    public async Task Errors_and_the_end_pass_through_the_filter()
    {
        await using TestServer server = await TestServer.StartAsync(components: static h => h.Transports.Add(Transport()));
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Xor(Wire.Frame(0x1000, 0x40, 1, [])));

        byte[] head = Xor(await peer.ReadBytesAsync(12));
        Assert.Equal((0x1000, 3), (BitConverter.ToUInt16(head, 4), head[6]));
        await peer.ReadBytesAsync(BitConverter.ToInt32(head) - 8);
        await peer.ExpectEndAsync();
        peer.Dispose();
        Assert.Equal(CloseKind.ProtocolError, (await server.CloseReasonAsync()).Kind);
        Assert.Equal(0, server.Server.ConnectionCount);
    }

    private static FilterTransport Transport() =>
        new(new SocketTransport(), static (connection, _) => new FilterConnection(connection, new ConstantKey(Key), new ConstantKey(Key)));

    private static byte[] Xor(byte[] bytes) => [.. bytes.Select(static b => (byte)(b ^ Key))];
}
