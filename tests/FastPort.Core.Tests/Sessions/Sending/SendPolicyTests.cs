using System.Globalization;
using System.Text.RegularExpressions;
using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Sending;

public sealed class SendPolicyTests
{
    private static readonly byte[] Piece = Wire.Bytes(32 * 1024);

    [Fact]
    public async Task Wait_holds_the_sender_back_and_loses_nothing()
    {
        await using TestServer server = await StartAsync(SendQueueFullPolicy.Wait);
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();

        (int queued, _) = await FillAsync(session, SendStatus.Full);
        Task<SendStatus> waiting = session.TrySendAsync(0x1002, new FastPort.Framing.SequenceBody(new(Piece)), Patience.Token).AsTask();
        Assert.False(waiting.IsCompleted);
        using var giveUp = new CancellationTokenSource();
        Task<SendStatus> givenUp = session.TrySendAsync(0x1003, new FastPort.Framing.SequenceBody(new(Piece)), giveUp.Token).AsTask();
        await giveUp.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => givenUp);

        for (int i = 0; i < queued; i++)
        {
            Assert.Equal((0x1001, Wire.OneWay), (await ReadAsync(peer)));
        }

        Assert.Equal(SendStatus.Queued, await waiting);
        Assert.Equal((0x1002, Wire.OneWay), (await ReadAsync(peer)));
        await peer.PingAsync();
    }

    [Fact]
    public async Task DropOneWay_drops_one_way_messages_alone_and_counts_them()
    {
        await using TestServer server = await StartAsync(SendQueueFullPolicy.DropOneWay);
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();

        (int queued, int dropped) = await FillAsync(session, SendStatus.Dropped);
        Assert.Equal(SendStatus.Dropped, session.TrySend(0x1001, Piece));
        await peer.SendAsync(Wire.PingRequest(4));
        for (int i = 0; i < queued; i++)
        {
            Assert.Equal((0x1001, Wire.OneWay), (await ReadAsync(peer)));
        }

        Assert.Equal((Wire.Ping, Wire.Reply), (await ReadAsync(peer)));
        Assert.Equal(dropped + 1, session.MessagesDropped);
        peer.Dispose();
        await server.CloseReasonAsync();
        Assert.Equal(dropped + 1, server.Counts.FramesDroppedFor(FrameDrop.SendQueueFull));
        int[] named = [.. server.Log.WithId(2014).Select(static line => int.Parse(
            Regex.Match(line.Text, @"^session \d+ \(127\.0\.0\.1:\d+\): (\d+) messages were dropped").Groups[1].Value,
            CultureInfo.InvariantCulture))];
        Assert.Equal(dropped + 1, named.Sum());
    }

    [Fact]
    public async Task Disconnect_ends_the_slow_consumer_alone()
    {
        await using TestServer server = await StartAsync(SendQueueFullPolicy.Disconnect);
        using RawPeer other = await server.ConnectKnownAsync();
        await other.PingAsync();
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync(1);

        await FillAsync(session, SendStatus.Closed);

        Assert.Equal(CloseKind.SlowConsumer, (await server.CloseReasonAsync()).Kind);
        await other.PingAsync();
        Assert.Equal(SendStatus.Closed, session.TrySend(0x1001, Piece));
    }

    [Theory]
    [InlineData(SendQueueFullPolicy.Wait)]
    [InlineData(SendQueueFullPolicy.DropOneWay)]
    [InlineData(SendQueueFullPolicy.Disconnect)]
    public async Task Nobody_is_to_blame_for_what_a_burst_has_not_flushed_yet(SendQueueFullPolicy policy)
    {
        List<SendStatus> results = [];
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapInline(0x1001, (ref InlineRequest r) =>
            {
                for (int i = 0; i < 20; i++)
                {
                    results.Add(r.Session.TrySend(0x1002, new byte[1000]));
                }
            }),
            o => (o.Session.SendQueueFull, o.Session.SendQueueBytes) = (policy, 4096));
        using RawPeer peer = await server.ConnectKnownAsync();

        await peer.SendAsync(
            Wire.Request(0x1001, 1), [.. Enumerable.Range(0, 20).SelectMany(static i => Wire.Request(TestServer.Echo, 2, new byte[1000]))]);

        for (int i = 0; i < 20; i++)
        {
            Assert.Equal((0x1002, Wire.OneWay), (await ReadAsync(peer)));
        }

        for (int i = 0; i < 21; i++)
        {
            Assert.Equal(Wire.Reply, (await ReadAsync(peer)).Flags);
        }

        Assert.All(results, static status => Assert.Equal(SendStatus.Queued, status));
        await peer.PingAsync();
    }

    [Theory]
    [InlineData(SendQueueFullPolicy.Wait, SendStatus.Full)]
    [InlineData(SendQueueFullPolicy.DropOneWay, SendStatus.Dropped)]
    public async Task A_full_queue_of_a_connection_that_closes_never_gets_room(SendQueueFullPolicy policy, SendStatus full)
    {
        await using TestServer server = await StartAsync(policy);
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();
        await FillAsync(session, full);

        session.Connection.Close(CloseReason.LocalClosed);

        Assert.Equal(SendStatus.Closed, session.TrySend(0x1001, Piece));
    }

    [Fact]
    public async Task A_broadcast_does_not_wait_for_the_slowest()
    {
        var group = new SessionGroup();
        await using TestServer server = await StartAsync(SendQueueFullPolicy.DropOneWay);
        server.Server.SessionOpened += group.Add;
        using RawPeer slow = await server.ConnectKnownAsync(receiveBuffer: 4096);
        Session slowSession = await server.SessionAsync();
        using RawPeer quick = await server.ConnectKnownAsync();
        await quick.PingAsync();

        for (int i = 0; slowSession.MessagesDropped < 10; i++)
        {
            Assert.InRange(group.Broadcast(0x1001, new FastPort.Framing.SequenceBody(new(Piece))), 1, 2);
            Assert.Equal(Piece, (await quick.ReadFrameAsync()).Body);
            Assert.InRange(i, 0, 10_000);
        }
    }

    [Fact]
    public async Task Close_answers_what_is_in_flight_after_its_Goodbye()
    {
        var release = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(h => h.MapQueued(0x1001, async _ => await release.Task));
        using RawPeer peer = await server.ConnectKnownAsync();
        await peer.SendAsync(Wire.Request(0x1001, 1), Wire.PingRequest(2));
        Assert.Equal(2u, (await peer.ReadFrameAsync()).Correlation);

        _ = (await server.SessionAsync()).CloseAsync(FastPort.ErrorCode.Overloaded, "Enough.");

        WireFrame goodbye = await peer.ReadFrameAsync();
        Assert.Equal((Wire.Goodbye, 8u, "Enough."), (goodbye.Type, goodbye.ErrorCode, goodbye.TextAt(2)));
        Assert.Equal(10u, (await peer.CallAsync(Wire.Request(TestServer.Echo, 3))).ErrorCode);
        release.SetResult();
        Assert.Equal(1u, (await peer.ReadFrameAsync()).Correlation);
        await peer.ExpectEndAsync();
        Assert.Equal(CloseKind.LocalClosed, (await server.CloseReasonAsync()).Kind);
    }

    private static async Task<(ushort Type, byte Flags)> ReadAsync(RawPeer peer)
    {
        WireFrame frame = await peer.ReadFrameAsync();
        return (frame.Type, frame.Flags);
    }

    // Until the queue is full and the system takes no more: a queue may be full before the loop has sent.
    private static async Task<(int Queued, int Refused)> FillAsync(Session session, SendStatus until)
    {
        int queued = 0;
        int refused = 0;
        bool blocked = false;
        while (true)
        {
            SendStatus status = session.TrySend(0x1001, Piece);
            if (status == SendStatus.Queued)
            {
                queued++;
                blocked = false;
                Assert.InRange(queued, 0, 10_000);
                continue;
            }

            Assert.Equal(until, status);
            refused++;
            if (until == SendStatus.Closed || blocked)
            {
                return (queued, refused);
            }

            await Patience.UntilAsync(
                () => session.Connection.IsSendBlocked || session.Connection.PendingBytes == 0, "the system took what it takes");
            blocked = session.Connection.IsSendBlocked;
        }
    }

    private static Task<TestServer> StartAsync(SendQueueFullPolicy policy) =>
        TestServer.StartAsync(options: o => (o.Session.SendQueueFull, o.Session.SendQueueBytes) = (policy, 256 * 1024));
}
