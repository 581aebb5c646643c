using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle;

/// <summary>Deadlines about what a peer reads, and of closing.</summary>
public sealed class WriteDeadlineTests
{
    private readonly FakeTimeProvider _time = new();

    [Fact]
    public async Task A_peer_that_never_reads_is_cut_off_after_the_write_timeout()
    {
        byte[] body = Wire.Bytes(16_000_000);
        await using TestServer server = await StartAsync(
            static o => (o.MaxFrameBytes, o.SendQueueBytes) = (32_000_000, 4096), h =>
                h.MapInline(0x1001, (ref InlineRequest r) => r.Reply(body)));
        using RawPeer other = await server.ConnectAsync();
        await other.PingAsync();
        using RawPeer peer = await server.ConnectAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync(1);

        await peer.SendAsync(Wire.Request(0x1001, 1));
        await WhileStuckAsync(session, () =>
        {
            _time.Advance(TimeSpan.FromSeconds(29.5));
            Assert.False(session.IsClosed);
            _time.Advance(TimeSpan.FromSeconds(1));
        });
        Assert.True(session.IsClosed);
        Assert.False(session.Closed.IsCompleted);
        _time.Advance(TimeSpan.FromSeconds(1));

        Assert.Equal(CloseKind.WriteTimeout, (await server.CloseReasonAsync()).Kind);
        Assert.Equal(1, server.Counts.TimeoutsClosedBy(ConnectionTimeout.Write));
        await other.PingAsync();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_peer_that_reads_again_in_the_drain_time_finds_a_Goodbye_behind_what_waited_if_it_said_Hello(bool hello)
    {
        byte[] body = Wire.Bytes(16_000_000);
        await using TestServer server = await StartAsync(
            static o => (o.MaxFrameBytes, o.SendQueueBytes, o.HeartbeatInterval) = (32_000_000, 4096, TimeSpan.Zero),
            h => h.MapInline(0x1001, (ref InlineRequest r) => r.Reply(body)));
        using RawPeer peer = await server.ConnectAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();
        if (hello)
        {
            await peer.SayHelloAsync();
        }

        await peer.SendAsync(Wire.Request(0x1001, 1), Wire.PingRequest(2));
        await WhileStuckAsync(session, () => _time.Advance(TimeSpan.FromSeconds(30.5)));
        Assert.True(session.IsClosed);

        Assert.Equal(body, (await peer.ReadFrameAsync()).Body);
        if (hello)
        {
            WireFrame goodbye = await peer.ReadFrameAsync();
            Assert.Equal((Wire.Goodbye, Wire.OneWay, 7u), (goodbye.Type, goodbye.Flags, goodbye.ErrorCode));
        }

        await peer.ExpectEndAsync();
        peer.Dispose();
        Assert.Equal(CloseKind.WriteTimeout, (await server.CloseReasonAsync()).Kind);
    }

    [Fact]
    public async Task A_close_never_waits_longer_than_the_write_timeout_for_a_peer_that_never_reads()
    {
        byte[] body = Wire.Bytes(16_000_000);
        await using TestServer server = await StartAsync(
            static o => (o.MaxFrameBytes, o.SendQueueBytes) = (32_000_000, 4096), h =>
                h.MapInline(0x1001, (ref InlineRequest r) => r.Reply(body)));
        using RawPeer peer = await server.ConnectAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();
        await peer.SendAsync(Wire.Request(0x1001, 1));
        await WhileStuckAsync(session, () =>
        {
            _ = session.CloseAsync();
            server.Settle();
        });
        Assert.True(session.IsClosed);

        // Again where the kernel took more after all.
        await Patience.UntilAsync(
            () =>
            {
                _time.Advance(TimeSpan.FromSeconds(31));
                return session.Closed.IsCompleted;
            },
            "the session was over");
        Assert.Equal(CloseKind.LocalClosed, (await server.CloseReasonAsync()).Kind);
    }

    [Fact]
    public async Task A_peer_that_takes_just_enough_once_in_a_while_is_cut_off_all_the_same()
    {
        byte[] body = Wire.Bytes(16_000_000);
        await using TestServer server = await StartAsync(
            static o => (o.MaxFrameBytes, o.SendQueueBytes, o.MinimumSendRate) = (32_000_000, 4096, 400_000),
            h => h.MapInline(0x1001, (ref InlineRequest r) => r.Reply(body)));
        using RawPeer peer = await server.ConnectAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();
        await peer.SendAsync(Wire.Request(0x1001, 1));
        await Patience.UntilAsync(() => session.Connection.BytesSent != 0, "the first bytes were sent");
        await Patience.UntilSteadyAsync(() => session.Connection.BytesSent, "the kernel took no more");
        _time.Advance(TimeSpan.FromMilliseconds(200));

        // 12,000,000 bytes in 30 s are asked for: more than the kernel takes into its buffers.
        long before = session.Connection.BytesSent;
        _time.Advance(TimeSpan.FromSeconds(29));
        while (session.Connection.BytesSent == before)
        {
            await peer.ReadBytesAsync(4096);
        }

        await Patience.UntilSteadyAsync(() => session.Connection.BytesSent, "the kernel took no more");
        Assert.InRange(session.Connection.BytesSent - before, 1, 11_000_000);
        Assert.False(session.IsClosed);
        _time.Advance(TimeSpan.FromSeconds(2));
        Assert.True(session.IsClosed);
        _time.Advance(TimeSpan.FromSeconds(2));
        Assert.Equal(CloseKind.WriteTimeout, (await server.CloseReasonAsync()).Kind);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_close_ends_at_the_close_timeout_however_well_the_peer_reads(bool kick)
    {
        byte[] body = Wire.Bytes(16_000_000);
        await using TestServer server = await StartAsync(
            static o =>
                (o.MaxFrameBytes, o.SendQueueBytes, o.CloseTimeout, o.MinimumSendRate) = (32_000_000, 4096, TimeSpan.FromSeconds(5), 0),
            h => h.MapInline(0x1001, (ref InlineRequest r) => r.Reply(body)));
        using RawPeer peer = await server.ConnectAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();

        // The second request waits for room: the session is paused.
        await peer.SendAsync(Wire.Request(0x1001, 1), Wire.Request(0x1001, 2));
        await Patience.UntilAsync(() => session.Connection.BytesSent != 0, "the first bytes were sent");
        if (kick)
        {
            session.Kick(FastPort.ErrorCode.None, "Out.");
        }
        else
        {
            _ = session.CloseAsync();
        }

        // Something is taken in every second. After the last one the stream may end before Closed completes.
        bool ended = false;
        int seconds = 0;
        while (seconds < 6 && !ended)
        {
            long before = session.Connection.BytesSent;
            while (session.Connection.BytesSent == before && !ended)
            {
                ended = !await peer.TryReadBytesAsync(4096);
            }

            _time.Advance(TimeSpan.FromSeconds(1));
            seconds++;
        }

        Assert.InRange(seconds, 5, 6);
        await session.Closed.InTimeAsync();
        Assert.Equal(CloseKind.LocalClosed, (await server.CloseReasonAsync()).Kind);
    }

    [Fact]
    public async Task A_close_does_not_wait_for_ever_for_a_handler()
    {
        var release = new TaskCompletionSource();
        await using TestServer server = await StartAsync(
            static o => o.CloseTimeout = TimeSpan.FromSeconds(5), h => h.MapQueued(0x1001, async _ => await release.Task));
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        await peer.SendAsync(Wire.Request(0x1001, 1), Wire.PingRequest(2));
        await peer.ReadFrameAsync();

        _ = session.CloseAsync();
        _time.Advance(TimeSpan.FromSeconds(4.8));
        Assert.False(session.Closed.IsCompleted);
        _time.Advance(TimeSpan.FromSeconds(0.4));

        await session.Closed.InTimeAsync();
        release.SetResult();
    }

    // The kernel takes no more: the count of sent bytes stands still. Where it took more meanwhile after all, the loop having waited for a
    // core, it is done again.
    private async Task WhileStuckAsync(Session session, Action act)
    {
        await Patience.UntilAsync(() => session.Connection.BytesSent != 0, "the first bytes were sent");
        long sent;
        do
        {
            await Patience.UntilSteadyAsync(() => session.Connection.BytesSent, "the kernel took no more");
            sent = session.Connection.BytesSent;
            _time.Advance(TimeSpan.FromMilliseconds(100));
            act();
        }
        while (!session.IsClosed && session.Connection.BytesSent != sent);
    }

    private Task<TestServer> StartAsync(Action<SessionOptions>? session = null, Action<MessageHandlers>? handlers = null) =>
        TestServer.StartAsync(handlers, o => session?.Invoke(o.Session), h => h.Time = _time);
}
