using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle;

/// <summary>Deadlines about what a peer sends.</summary>
public sealed class DeadlineTests
{
    private readonly FakeTimeProvider _time = new();

    [Fact]
    public async Task A_peer_that_sends_one_byte_per_second_meets_the_frame_deadline()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        await peer.SayHelloAsync();
        await SentAsync(session);
        byte[] frame = Wire.Request(TestServer.Echo, 1, new byte[100]);

        // The Ping's reply shows that the byte behind it was noticed.
        await peer.SendAsync(Wire.PingRequest(5), frame[..1]);
        Assert.Equal(5u, (await peer.ReadFrameAsync()).Correlation);
        for (int second = 1; second < 30; second++)
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            Assert.False(session.IsClosed, $"Closed after {second} s.");
            long before = session.Connection.BytesReceived;
            await peer.SendAsync([frame[second]]);
            await Patience.UntilAsync(() => session.Connection.BytesReceived > before, "the byte was received");
        }

        _time.Advance(TimeSpan.FromSeconds(1.1));

        await ExpectGoodbyeAsync(peer, server, CloseKind.MessageTimeout, ConnectionTimeout.FrameProgress);
    }

    [Fact]
    public async Task Each_frame_has_its_own_deadline()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        byte[] frame = Wire.PingRequest(7);

        await peer.SendAsync(Wire.PingRequest(6), frame[..5]);
        await peer.ReadFrameAsync();
        for (int i = 0; i < 10; i++)
        {
            _time.Advance(TimeSpan.FromSeconds(20));
            Assert.False(session.IsClosed);
            await peer.SendAsync(frame[5..], frame[..5]);
            Assert.Equal(7u, (await peer.ReadFrameAsync()).Correlation);
        }
    }

    [Fact]
    public async Task An_idle_peer_is_closed_although_the_server_goes_on_sending()
    {
        await using TestServer server = await StartAsync(o => o.HeartbeatInterval = TimeSpan.Zero);
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        await peer.SayHelloAsync();
        await SentAsync(session);
        _time.Advance(TimeSpan.FromMilliseconds(100));

        for (int second = 1; second < 300; second++)
        {
            Assert.Equal(SendStatus.Queued, session.TrySend(0x1000, [1]));
            await SentAsync(session);
            _time.Advance(TimeSpan.FromSeconds(1));
            Assert.False(session.IsClosed, $"Closed after {second} s.");
        }

        _time.Advance(TimeSpan.FromSeconds(1.2));

        for (int i = 1; i < 300; i++)
        {
            Assert.Equal(0x1000, (await peer.ReadFrameAsync()).Type);
        }

        await ExpectGoodbyeAsync(peer, server, CloseKind.IdleTimeout, ConnectionTimeout.Idle);
    }

    [Fact]
    public async Task A_peer_that_answers_heartbeats_lives_and_one_that_does_not_is_closed()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        await peer.SayHelloAsync();
        await SentAsync(session);
        _time.Advance(TimeSpan.FromMilliseconds(100));
        for (int i = 0; i < 5; i++)
        {
            _time.Advance(TimeSpan.FromSeconds(15.1));
            WireFrame ping = await peer.ReadFrameAsync();
            Assert.Equal((Wire.Ping, 0), (ping.Type, ping.Flags));
            Assert.NotEqual(0u, ping.Correlation);
            long before = session.Connection.BytesReceived;
            await peer.SendAsync(Wire.Frame(Wire.Ping, Wire.Reply, ping.Correlation, []));
            await Patience.UntilAsync(
                () => session.Connection.BytesReceived > before && session.OutstandingRequests == 0, "the answer was received");
            _time.Advance(TimeSpan.FromMilliseconds(100));
        }

        _time.Advance(TimeSpan.FromSeconds(15.1));
        Assert.Equal(Wire.Ping, (await peer.ReadFrameAsync()).Type);
        _time.Advance(TimeSpan.FromSeconds(14.7));
        Assert.False(session.IsClosed);
        _time.Advance(TimeSpan.FromSeconds(0.5));

        await ExpectGoodbyeAsync(peer, server, CloseKind.HeartbeatTimeout, ConnectionTimeout.Heartbeat);
    }

    [Fact]
    public async Task Any_byte_is_a_sign_of_life_and_unanswered_pings_do_not_pile_up()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        await peer.SayHelloAsync();
        await SentAsync(session);
        _time.Advance(TimeSpan.FromMilliseconds(100));

        for (int i = 0; i < 10; i++)
        {
            _time.Advance(TimeSpan.FromSeconds(15.1));
            Assert.Equal(Wire.Ping, (await peer.ReadFrameAsync()).Type);
            await peer.PingAsync();
            _time.Advance(TimeSpan.FromMilliseconds(100));
        }

        Assert.Equal(1, session.OutstandingRequests);
    }

    [Fact]
    public async Task Heartbeats_begin_after_Hello()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await server.SessionAsync();

        _time.Advance(TimeSpan.FromMinutes(4));

        await peer.PingAsync();
    }

    [Fact]
    public async Task No_deadline_runs_while_the_server_itself_does_not_read()
    {
        var release = new TaskCompletionSource();
        await using TestServer server = await StartAsync(
            o => o.MaxInFlightRequests = 1, h => h.MapQueued(0x1001, async _ => await release.Task));
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        await peer.SayHelloAsync();
        await SentAsync(session);

        // The reply of the Ping comes after the burst in which the second request could not be taken.
        await peer.SendAsync(Wire.PingRequest(9), Wire.Request(0x1001, 1), Wire.Request(0x1001, 2), Wire.PingRequest(3)[..5]);
        Assert.Equal(9u, (await peer.ReadFrameAsync()).Correlation);
        await SentAsync(session);
        for (int minute = 0; minute < 20; minute++)
        {
            // What the server itself sends meanwhile leaves in real time; no time may pass over it.
            _time.Advance(TimeSpan.FromMinutes(0.4));
            await SentAsync(session);
        }

        Assert.False(session.IsClosed);

        release.SetResult();
        Assert.Equal(1u, (await peer.ReadFrameAsync()).Correlation);
        Assert.Equal(2u, (await peer.ReadFrameAsync()).Correlation);
        await peer.SendAsync(Wire.PingRequest(3)[5..]);
        Assert.Equal(3u, (await peer.ReadFrameAsync()).Correlation);
    }

    [Fact]
    public async Task Deadlines_run_again_after_the_send_queue_has_drained()
    {
        byte[] body = Wire.Bytes(8_000_000);
        await using TestServer server = await StartAsync(
            static o => (o.MaxFrameBytes, o.SendQueueBytes) = (16_000_000, 4096), h =>
                h.MapInline(0x1001, (ref InlineRequest r) => r.Reply(body)));
        using RawPeer peer = await server.ConnectAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();

        await peer.SendAsync(Wire.Request(0x1001, 1));
        await Patience.UntilAsync(
            () => session.MessagesReceived == 1 && session.Connection.PendingBytes > 4096, "the reply filled the queue");
        Assert.Equal(body, (await peer.ReadFrameAsync()).Body);

        // The loop is resumed by the drain; until it has run, time stands still for the peer's sake. In smaller steps than the time that a
        // close may take.
        await Patience.UntilAsync(() => session.Connection.PendingBytes == 0, "the queue was empty");
        await Patience.UntilAsync(
            () =>
            {
                _time.Advance(TimeSpan.FromSeconds(20));
                return session.IsClosed;
            },
            "the idle session was closed");

        await peer.ExpectEndAsync();
        peer.Dispose();
        Assert.Equal(CloseKind.IdleTimeout, (await server.CloseReasonAsync()).Kind);
    }

    // A peer may have read what the sender has not booked yet; time must not run meanwhile.
    private static Task SentAsync(Session session) =>
        Patience.UntilAsync(() => session.Connection.PendingBytes == 0, "everything was sent");

    private Task<TestServer> StartAsync(Action<SessionOptions>? session = null, Action<MessageHandlers>? handlers = null) =>
        TestServer.StartAsync(handlers, o => session?.Invoke(o.Session), h => h.Time = _time);

    private static async Task ExpectGoodbyeAsync(RawPeer peer, TestServer server, CloseKind kind, ConnectionTimeout counter)
    {
        WireFrame goodbye = await peer.ReadFrameAsync();
        while (goodbye.Type == Wire.Ping && kind != CloseKind.HeartbeatTimeout)
        {
            goodbye = await peer.ReadFrameAsync();
        }

        Assert.Equal((Wire.Goodbye, Wire.OneWay, 0u, 7u), (goodbye.Type, goodbye.Flags, goodbye.Correlation, goodbye.ErrorCode));
        await peer.ExpectEndAsync();
        peer.Dispose();
        CloseReason reason = await server.CloseReasonAsync();
        Assert.Equal(kind, reason.Kind);
        Assert.Equal(1, server.Counts.TimeoutsClosedBy(counter));
        Assert.Single(server.Log.WithId(2002));
    }
}
