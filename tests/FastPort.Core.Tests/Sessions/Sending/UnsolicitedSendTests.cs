using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Sending;

/// <summary>A server sends nothing unsolicited to a peer that has not said Hello.</summary>
public sealed class UnsolicitedSendTests
{
    private const ushort Type = 0x1001;
    private const ushort Asking = 0x1002;

    [Fact]
    public async Task Nothing_is_taken_before_Hello_and_everything_after_it()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await peer.PingAsync();
        Session session = await server.SessionAsync();
        var lent = new BorrowedBuffer(100_000);
        var group = new SessionGroup();
        group.Add(session);

        Assert.Equal(Enumerable.Repeat(SendStatus.NotReady, 6), await SendAllAsync(session, lent));
        Assert.Equal(0, group.Broadcast(Type, new RawBody([7])));
        Assert.Equal((0, 0L, 0), (lent.Releases, session.MessagesDropped, session.OutstandingRequests));
        await peer.SayHelloAsync();

        Assert.Equal(Enumerable.Repeat(SendStatus.Queued, 6), await SendAllAsync(session, lent));
        Assert.Equal(1, group.Broadcast(Type, new RawBody([7])));
        List<byte[]> bodies = [];
        for (int i = 0; i < 7; i++)
        {
            bodies.Add((await peer.ReadFrameAsync()).Body);
        }

        Assert.Equal([1, 1, 1, 100_000, 1, 0, 1], bodies.Select(static b => b.Length));
        await peer.PingAsync();
    }

    [Fact]
    public async Task What_a_request_asked_for_is_sent_without_a_Hello()
    {
        SendStatus unasked = SendStatus.Queued;
        await using TestServer server = await TestServer.StartAsync(h => h
            .MapInline(Type, (ref InlineRequest r) =>
            {
                unasked = r.Session.TrySend(Type, [9]);
                Assert.Equal(SendStatus.Queued, r.TrySend(Type, new RawBody([1])));
                using SendBatch batch = r.BeginBatch();
                Assert.Equal(SendStatus.Queued, batch.TrySend(Type, [2]));
            })
            .MapQueued(Asking, static async c =>
            {
                Assert.Equal(SendStatus.NotReady, await c.Session.TrySendAsync(Type, new byte[] { 9 }));
                SendFailedException failed = await Assert.ThrowsAsync<SendFailedException>(
                    () => c.Session.SendAsync(Type, new byte[] { 9 }).AsTask());
                Assert.Equal(SendStatus.NotReady, failed.Status);
                Assert.Contains("has not said Hello", failed.Message, StringComparison.Ordinal);
                Assert.Equal(SendStatus.Queued, c.TrySend(Type, new RawBody([3])));
                Assert.Equal(SendStatus.Queued, await c.TrySendAsync(Type, new SequenceBody(new(new byte[] { 4 }))));
                using SendBatch batch = c.BeginBatch();
                Assert.Equal(SendStatus.Queued, batch.TrySend(Type, [5]));
            }));
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Request(Type, 1));
        byte[][] inline = [(await peer.ReadFrameAsync()).Body, (await peer.ReadFrameAsync()).Body, (await peer.ReadFrameAsync()).Body];
        await peer.SendAsync(Wire.Request(Asking, 2));
        byte[][] queued = [
            (await peer.ReadFrameAsync()).Body, (await peer.ReadFrameAsync()).Body, (await peer.ReadFrameAsync()).Body,
            (await peer.ReadFrameAsync()).Body];

        Assert.Equal([[1], [2], []], inline);
        Assert.Equal([[3], [4], [5], []], queued);
        Assert.Equal(SendStatus.NotReady, unasked);
        Assert.Empty(server.Log.WithId(2003));
    }

    [Fact]
    public async Task The_server_tells_when_a_session_may_be_sent_to()
    {
        List<SendStatus> greetings = [];
        await using TestServer server = await TestServer.StartAsync();
        server.Server.SessionIdentified += session => greetings.Add(session.TrySend(Type, [1]));
        using RawPeer peer = await server.ConnectAsync();
        await peer.PingAsync();
        Assert.Empty(greetings);

        await peer.SayHelloAsync("me");

        Assert.Equal([1], (await peer.ReadFrameAsync()).Body);
        Assert.True((await peer.CallAsync(Wire.HelloRequest(2, "me"))).IsError);
        Assert.Equal([SendStatus.Queued], greetings);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(100_000)]
    public async Task Publications_pass_over_sessions_that_the_program_has_subscribed_too_early(int size)
    {
        await using TestServer server = await TestServer.StartAsync(
            components: static c => c.Authenticator = static (_, _) => ValueTask.FromResult(AuthenticationResult.Accept()));
        server.Server.SessionOpened += session =>
        {
            // Two prefixes of one topic: it comes once.
            Assert.True(server.Server.Routing.Subscribe(session, "a"));
            Assert.True(server.Server.Routing.Subscribe(session, "a/b"));
        };
        using RawPeer peer = await server.ConnectAsync();
        await server.SessionAsync();

        Assert.Equal(0, server.Server.Routing.Publish("a/b", Type, new byte[size]));
        await peer.SayHelloAsync();

        Assert.Equal(1, server.Server.Routing.Publish("a/b", Type, new byte[size]));
        Assert.InRange((await peer.ReadFrameAsync()).Body.Length, size, size + 100);
        await peer.PingAsync();
    }

    [Fact]
    public async Task What_another_thread_sends_as_soon_as_it_may_comes_behind_the_Welcome()
    {
        var status = SendStatus.NotReady;
        await using TestServer server = await TestServer.StartAsync();
        server.Server.SessionIdentified += session =>
        {
            // So much that a thread sends it by itself, while the Welcome waits for the loop.
            var sender = new Thread(() => status = session.TrySend(Type, new byte[100_000]));
            sender.Start();
            sender.Join();
        };

        using RawPeer peer = await server.ConnectKnownAsync();

        Assert.Equal(100_000, (await peer.ReadFrameAsync()).Body.Length);
        Assert.Equal(SendStatus.Queued, status);
    }

    [Fact]
    public async Task A_closed_session_says_so_also_where_its_peer_never_said_Hello()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();

        session.Abort();

        Assert.Equal(SendStatus.Closed, session.TrySend(Type, [1]));
    }

    private static async Task<List<SendStatus>> SendAllAsync(Session session, BorrowedBuffer lent)
    {
        List<SendStatus> statuses =
        [
            session.TrySend(Type, [1]),
            await session.TrySendAsync(Type, new byte[] { 2 }),
            await session.TrySendAsync(Type, new SequenceBody(new(new byte[] { 3 }))),
            session.TrySendBorrowed(Type, lent.Bytes, BorrowedBuffer.Release, lent),
        ];
        using (SendBatch batch = session.BeginBatch())
        {
            statuses.Add(batch.TrySend(Type, [5]));
        }

        statuses.Add(session.TryRequest(Type, default(EmptyBody), new Ignored(), timing: false, TimeSpan.Zero, out _));
        return statuses;
    }

    private sealed class Ignored : PendingReply
    {
        protected internal override void OnReply(scoped in InboundReply reply)
        {
        }

        protected internal override void OnFailed(RequestFailure failure, string message)
        {
        }
    }
}
