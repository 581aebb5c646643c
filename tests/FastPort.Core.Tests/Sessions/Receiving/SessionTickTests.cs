using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Dispatch;
using FastPort.Framing;
using FastPort.Routing;
using FastPort.Sessions;
using FastPort.Sessions.Receiving;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Receiving;

/// <summary>When a session is asked by the clock: as often as it has something to do, and no more.</summary>
public sealed class SessionTickTests : ISessionHost, IDisposable
{
    private const ushort Slow = 0x1001;

    private readonly FakeTimeProvider _time = new();
    private readonly RecordingLog _log = new();
    private readonly SessionCounters _counters = new();
    private readonly ConnectionClock _clock;
    private readonly FakeConnection _connection;

    public SessionTickTests()
    {
        _clock = new ConnectionClock(_time);
        _connection = new FakeConnection(_clock);
    }

    public void Dispose() => _clock.Dispose();

    [Fact]
    public void An_idle_session_is_asked_for_its_heartbeat_and_no_more()
    {
        Start();
        _connection.Receive(Wire.HelloRequest(1));

        _time.Advance(TimeSpan.FromSeconds(16));
        Assert.Equal([100, 15_100, 15_200], _connection.Visits);
        Assert.Equal([Wire.Hello, Wire.Ping], _connection.SentTypes);
        _connection.Receive(Wire.Post(TestServer.Echo));
        _time.Advance(TimeSpan.FromSeconds(46));

        Assert.Equal([100, 15_100, 15_200, 16_100, 31_100, 31_200, 46_100], _connection.Visits);
        Assert.Equal(CloseKind.HeartbeatTimeout, _connection.Reason?.Kind);
    }

    [Fact]
    public void Heartbeats_begin_with_a_welcome_that_is_heard_of_long_after_its_burst()
    {
        FrameProtocol protocol = Start();
        _time.Advance(TimeSpan.FromSeconds(1));

        protocol.Welcomed(default);

        _time.Advance(TimeSpan.FromSeconds(15));
        Assert.Equal([Wire.Ping], _connection.SentTypes);
    }

    [Fact]
    public void Without_heartbeats_it_is_asked_when_it_has_been_idle_for_too_long()
    {
        Start();

        _time.Advance(TimeSpan.FromMinutes(6));

        Assert.Equal([100, 300_000], _connection.Visits);
        Assert.Equal(CloseKind.IdleTimeout, _connection.Reason?.Kind);
    }

    [Fact]
    public void A_frame_begun_is_asked_about_at_its_deadline()
    {
        Start();
        _time.Advance(TimeSpan.FromMilliseconds(950));

        _connection.Receive(Wire.PingRequest(1)[..5]);
        _time.Advance(TimeSpan.FromMinutes(1));

        Assert.Equal([100, 1_000, 31_000], _connection.Visits);
        Assert.Equal(CloseKind.MessageTimeout, _connection.Reason?.Kind);
    }

    [Fact]
    public void A_request_is_asked_about_at_its_deadline()
    {
        FrameProtocol protocol = Start();
        _connection.Receive(Wire.HelloRequest(1));
        _time.Advance(TimeSpan.FromSeconds(1));
        var pending = new FailingReply();

        Assert.Equal(
            SendStatus.Queued, protocol.Requests.TrySend(
                TestServer.Echo, default(EmptyBody), pending, timing: false, TimeSpan.FromSeconds(3), out _));
        _time.Advance(TimeSpan.FromSeconds(10));

        Assert.Equal(RequestFailure.TimedOut, pending.Failure);
        Assert.Equal([100, 1_100, 4_000, 4_100], _connection.Visits);
        Assert.Equal(Wire.Cancel, _connection.SentTypes[^1]);
    }

    [Fact]
    public void A_stop_that_nobody_is_told_of_is_asked_about_when_its_grace_ends()
    {
        FrameProtocol protocol = Start();
        _time.Advance(TimeSpan.FromSeconds(1));

        protocol.Stop(CloseReason.LocalClosed, TimeSpan.FromSeconds(2), TimeSpan.FromMinutes(1));
        _time.Advance(TimeSpan.FromSeconds(10));

        Assert.Equal([100, 1_100, 3_000, 3_100], _connection.Visits);
        Assert.Equal(CloseReason.LocalClosed, _connection.Reason);
    }

    [Fact]
    public void Traffic_and_drops_are_counted_at_the_next_tick()
    {
        FrameProtocol protocol = Start();
        _connection.Receive(Wire.HelloRequest(1));
        _time.Advance(TimeSpan.FromSeconds(1));
        SessionCountersSnapshot before = _counters.Snapshot();

        protocol.Session.TrySend(TestServer.Echo, [1, 2, 3]);
        protocol.Output.TryBroadcast(new byte[2 * 1024 * 1024]);
        _time.Advance(ConnectionClock.Period);

        SessionCountersSnapshot after = _counters.Snapshot();
        Assert.Equal(1, after.MessagesOut - before.MessagesOut);
        Assert.Equal(_connection.BytesSent, after.BytesOut);
        Assert.Equal(1, after.FramesDroppedFor(FrameDrop.SendQueueFull));

        // Alone as well: nothing is flushed for it.
        protocol.Output.TryBroadcast(new byte[2 * 1024 * 1024]);
        _time.Advance(ConnectionClock.Period);
        Assert.Equal(2, _counters.Snapshot().FramesDroppedFor(FrameDrop.SendQueueFull));
    }

    [Fact]
    public void A_tick_between_the_request_for_it_and_the_burst_does_not_miss_the_burst()
    {
        Start();
        _time.Advance(TimeSpan.FromSeconds(1));
        _connection.Arrive(Wire.Post(Slow));
        _connection.RequestTick();
        _time.Advance(ConnectionClock.Period);

        _connection.Offer();
        _time.Advance(TimeSpan.FromMinutes(1));

        // One visit before the burst, three while it lasts, one after it, and none any more.
        Assert.Equal([100, 1_100, 1_200, 1_300, 1_400, 1_500], _connection.Visits);
        Assert.Contains(
            "for 100 ms and are still running, most likely Slow", Assert.Single(_log.WithId(2010)).Text, StringComparison.Ordinal);
    }

    void ISessionHost.OnOpened(Session session)
    {
    }

    void ISessionHost.OnClosed(Session session, CloseReason reason)
    {
    }

    void ISessionHost.OnGoodbye(Session session, CloseReason reason)
    {
    }

    private FrameProtocol Start()
    {
        MessageHandlers handlers = new MessageHandlers()
            .MapInline(TestServer.Echo, static (ref InlineRequest _) => { }, "Nothing")
            .MapInline(Slow, (ref InlineRequest _) => _time.Advance(TimeSpan.FromMilliseconds(300)), "Slow");
        handlers.Freeze();
        var protocol = new FrameProtocol(new SessionSettings
        {
            Options = new SessionOptions(),
            CreateDispatcher = new DispatchSettings { Handlers = handlers }.Create,
            Clock = _clock,
            Logger = _log,
            Host = this,
            Telemetry = new SessionTelemetry(_counters),
            Handshake = new HandshakeSettings { ServerName = "test", RoutingIds = new IdentityRegistry() },
        }, _connection);
        _connection.Start(protocol);
        return protocol;
    }

    private sealed class FailingReply : PendingReply
    {
        public RequestFailure? Failure { get; private set; }

        protected internal override void OnReply(scoped in InboundReply reply)
        {
        }

        protected internal override void OnFailed(RequestFailure failure, string message) => Failure = failure;
    }
}
