using System.Collections.Concurrent;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Sessions;

public sealed class SessionEventTests
{
    [Fact]
    public async Task Every_session_is_opened_and_closed_once_with_the_reason_however_it_ends()
    {
        await using TestServer server = await TestServer.StartAsync();
        for (int i = 0; i < 300; i++)
        {
            using RawPeer peer = await server.ConnectAsync();
            Session session = await server.SessionAsync(i);
            CloseKind expected;
            switch (i % 6)
            {
                case 0:
                    expected = CloseKind.PeerClosed;
                    peer.ShutdownSend();
                    break;
                case 1:
                    expected = CloseKind.PeerTruncated;
                    await peer.SendAsync([20, 0]);
                    peer.ShutdownSend();
                    break;
                case 2:
                    expected = CloseKind.ConnectionLost;
                    await peer.PingAsync();
                    peer.Reset();
                    break;
                case 3:
                    expected = CloseKind.ProtocolError;
                    await peer.SendAsync(Wire.Frame(1, 0xFF, 1, []));
                    Assert.True((await peer.ReadFrameAsync()).IsError);
                    break;
                case 4:
                    expected = CloseKind.LocalClosed;
                    session.Abort();
                    session.Abort();
                    _ = session.CloseAsync();
                    break;
                default:
                    expected = CloseKind.PeerClosed;
                    await peer.SayHelloAsync($"id {i}");
                    await peer.SendAsync(Wire.GoodbyePost(0, "enough"));
                    break;
            }

            if (i % 6 != 2)
            {
                await peer.ExpectGoneAsync();
                peer.Dispose();
            }

            CloseReason reason = await session.Closed.InTimeAsync();
            Assert.True(expected == reason.Kind, $"Case {i % 6}: {reason}");
        }

        await Patience.UntilAsync(() => server.Closed.Count >= 300, "every end was told");
        Assert.Equal(300, server.Opened.Distinct().Count());
        Assert.Equal(server.Opened.OrderBy(static s => s.Id), server.Closed.Select(static c => c.Session).OrderBy(static s => s.Id));
        Assert.Equal((300, 300, 0), (server.Counts.SessionsOpened, server.Counts.SessionsClosed, server.Server.ConnectionCount));
        Assert.Empty(server.Server.Sessions);
    }

    [Fact]
    public async Task A_subscriber_or_a_pending_reply_that_throws_keeps_nobody_from_the_end()
    {
        await using TestServer server = await TestServer.StartAsync();
        server.Server.SessionClosed += static (_, _) => throw new InvalidOperationException("A defect in a subscriber.");
        RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        Assert.Equal(
            SendStatus.Queued, session.TryRequest(
                0x1001, default(FastPort.Framing.EmptyBody), new DefectivePending(), timing: false, TimeSpan.Zero, out uint correlation));
        Assert.Equal(correlation, (await peer.ReadFrameAsync()).Correlation);

        peer.Reset();

        Assert.Equal(CloseKind.ConnectionLost, (await session.Closed.InTimeAsync()).Kind);
        Assert.Equal(0, server.Server.ConnectionCount);
        Assert.Single(server.Closed);
        Assert.Single(server.Log.WithId(2007));
        Assert.Single(server.Log.WithId(3006));
    }

    [Fact]
    public async Task A_subscriber_that_throws_keeps_no_later_one_from_any_event()
    {
        await using TestServer server = await TestServer.StartAsync();
        var told = new ConcurrentQueue<string>();
        server.Server.SessionOpened += static _ => throw Defect();
        server.Server.SessionOpened += _ => told.Enqueue("opened");
        server.Server.HelloRefused += static (_, _) => throw Defect();
        server.Server.HelloRefused += (_, _) => told.Enqueue("refused");
        server.Server.SessionIdentified += static _ => throw Defect();
        server.Server.SessionIdentified += _ => told.Enqueue("identified");
        server.Server.RoutingIdTaken += static _ => throw Defect();
        server.Server.RoutingIdTaken += _ => told.Enqueue("taken");
        server.Server.RoutingIdLost += static (_, _) => throw Defect();
        server.Server.RoutingIdLost += (_, _) => told.Enqueue("lost");
        server.Server.SessionClosed += static (_, _) => throw Defect();
        server.Server.SessionClosed += (_, _) => told.Enqueue("closed");
        using RawPeer peer = await server.ConnectAsync();
        await peer.SayHelloAsync("a");
        using RawPeer other = await server.ConnectAsync();
        Assert.Equal(11u, (await other.CallAsync(Wire.HelloRequest(1, "a"))).ErrorCode);

        peer.ShutdownSend();
        await peer.ExpectEndAsync();
        peer.Dispose();

        await Patience.UntilAsync(() => server.Log.WithId(3006).Count == 7, "all were logged");
        Assert.Equal(["opened", "identified", "taken", "opened", "refused", "lost", "closed"], told);

        static InvalidOperationException Defect() => new("A defect in a subscriber.");
    }

    [Fact]
    public async Task A_request_of_the_server_times_out_without_an_answer_and_the_late_one_is_a_reply_to_nothing()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(components: h => h.Time = time);
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        var pending = new RecordingPending();
        session.TryRequest(
            0x1001, default(FastPort.Framing.EmptyBody), pending, timing: false, TimeSpan.FromSeconds(2), out uint correlation);
        await peer.ReadFrameAsync();

        time.Advance(TimeSpan.FromSeconds(1.9));
        Assert.Null(pending.Failure);
        time.Advance(TimeSpan.FromSeconds(0.3));

        Assert.Equal(RequestFailure.TimedOut, pending.Failure);
        WireFrame cancel = await peer.ReadFrameAsync();
        Assert.Equal((Wire.Cancel, Wire.OneWay, (ulong)correlation), (cancel.Type, cancel.Flags, cancel.NumberAt(1)));
        await peer.SendAsync(Wire.Frame(0x1001, Wire.Reply, correlation, []));
        await peer.PingAsync();
        Assert.Equal(1, server.Counts.RepliesToNothing);
        Assert.Equal(0, session.OutstandingRequests);
    }

    private sealed class DefectivePending : PendingReply
    {
        protected internal override void OnReply(scoped in InboundReply reply)
        {
        }

        protected internal override void OnFailed(RequestFailure failure, string message) =>
            throw new InvalidOperationException("A defect in a caller.");
    }

    private sealed class RecordingPending : PendingReply
    {
        public RequestFailure? Failure { get; private set; }

        protected internal override void OnReply(scoped in InboundReply reply)
        {
        }

        protected internal override void OnFailed(RequestFailure failure, string message) => Failure = failure;
    }
}
