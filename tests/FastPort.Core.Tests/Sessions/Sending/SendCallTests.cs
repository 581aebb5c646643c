using FastPort.Core.Tests.Support;
using FastPort.Framing;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Sending;

/// <summary>
/// How many system calls small one-way messages take that are sent together. The budget, one for twenty messages, leaves room for a kernel
/// that takes little at a time.
/// </summary>
public sealed class SendCallTests
{
    private const int Messages = 5_000;
    private const int Budget = Messages / 20;
    private const int Size = 64;

    [Theory]
    [InlineData(TransportKind.Auto)]
    [InlineData(TransportKind.Sockets)]
    public Task Those_of_a_batch_take_few(TransportKind transport) => CountAsync(transport, static session =>
    {
        using SendBatch batch = session.BeginBatch();
        for (int i = 0; i < Messages; i++)
        {
            Assert.Equal(SendStatus.Queued, batch.TrySend(0x1001, new byte[Size]));
        }
    });

    [Theory]
    [InlineData(TransportKind.Auto)]
    [InlineData(TransportKind.Sockets)]
    public Task Those_of_a_burst_take_few(TransportKind transport) => CountAsync(transport, static session =>
    {
        using FlushDeferral deferral = session.DeferFlush();
        Send(session);
    });

    [Theory]
    [InlineData(TransportKind.Auto)]
    [InlineData(TransportKind.Sockets)]
    public async Task Those_of_an_inline_handler_take_few(TransportKind transport)
    {
        await using TestServer server = await StartAsync(transport);
        using RawPeer peer = await server.ConnectKnownAsync();
        var connection = (TransportConnection)(await server.SessionAsync()).Connection;
        long before = connection.SendCalls;

        await peer.SendAsync(Wire.Post(0x1002));

        await ReadAsync(peer, connection);
        Assert.InRange(connection.SendCalls - before, 1, Budget);
    }

    [Theory]
    [InlineData(TransportKind.Auto)]
    [InlineData(TransportKind.Sockets)]
    public async Task Each_that_is_waited_for_takes_one(TransportKind transport)
    {
        await using TestServer server = await StartAsync(transport);
        using RawPeer peer = await server.ConnectKnownAsync();
        var connection = (TransportConnection)(await server.SessionAsync()).Connection;
        long before = connection.SendCalls;

        for (uint i = 1; i <= 20; i++)
        {
            await peer.CallAsync(Wire.Request(TestServer.Echo, i));
        }

        // The counter counts: see above.
        Assert.Equal(20, connection.SendCalls - before);
    }

    private static async Task CountAsync(TransportKind transport, Action<Session> send)
    {
        await using TestServer server = await StartAsync(transport);
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        var connection = (TransportConnection)session.Connection;
        long before = connection.SendCalls;

        var sending = Task.Run(() => send(session));

        await ReadAsync(peer, connection);
        await sending.InTimeAsync();
        Assert.InRange(connection.SendCalls - before, 1, Budget);
    }

    private static Task<TestServer> StartAsync(TransportKind transport) => TestServer.StartAsync(
        static h => h.MapInline(0x1002, static (ref InlineRequest r) => Send(r.Session), "Sender"),
        o =>
        {
            // Nothing is flushed because the queue is full.
            o.Session.SendQueueBytes = 16 * 1024 * 1024;
            o.Transport = transport;
        });

    private static void Send(Session session)
    {
        for (int i = 0; i < Messages; i++)
        {
            Assert.Equal(SendStatus.Queued, session.TrySend(0x1001, new byte[Size]));
        }
    }

    private static async Task ReadAsync(RawPeer peer, TransportConnection connection)
    {
        await peer.ReadBytesAsync(Messages * (FrameHeader.Size + Size));
        await Patience.UntilAsync(() => connection.PendingBytes == 0, "everything was booked as sent");
    }
}
