using FastPort.Core.Tests.Routing;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

public sealed class GracefulStopTests
{
    private readonly FakeTimeProvider _time = new();

    [Fact]
    public async Task Requests_in_flight_and_those_that_cross_the_Goodbye_are_answered()
    {
        var release = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(0x1001, async c =>
            {
                await release.Task;
                c.Reply(c.Body.Span);
            }),
            components: h => h.Time = _time);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SayHelloAsync();
        await peer.SendAsync(Wire.Request(0x1001, 1, [1]), Wire.Request(0x1001, 2, [2]), Wire.PingRequest(3));
        Assert.Equal(3u, (await peer.ReadFrameAsync()).Correlation);

        Task stop = server.Server.StopAsync();

        WireFrame goodbye = await peer.ReadFrameAsync();
        Assert.Equal((Wire.Goodbye, Wire.OneWay, 10u), (goodbye.Type, goodbye.Flags, goodbye.ErrorCode));
        await peer.SendAsync(Wire.Request(TestServer.Echo, 4, [4]));
        await peer.PingAsync();
        release.SetResult();
        Assert.Equal([1], (await peer.ReadFrameAsync()).Body);
        Assert.Equal([2], (await peer.ReadFrameAsync()).Body);
        Assert.Equal([4], (await peer.ReadFrameAsync()).Body);
        Assert.False(stop.IsCompleted);
        await peer.SendAsync(Wire.Request(TestServer.Echo, 5, [5]), Wire.GoodbyePost());
        Assert.Equal([5], (await peer.ReadFrameAsync()).Body);
        await peer.ExpectEndAsync();
        peer.Dispose();
        await stop.InTimeAsync();
        Assert.Equal(CloseKind.Stopping, (await server.CloseReasonAsync()).Kind);
    }

    [Fact]
    public async Task After_the_grace_requests_get_ShuttingDown_until_those_in_flight_are_answered()
    {
        var release = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(0x1001, async _ => await release.Task), components: h => h.Time = _time);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(0x1001, 1), Wire.PingRequest(3));
        await peer.ReadFrameAsync();

        Task stop = server.Server.StopAsync();
        await PassGraceAsync(server);

        WireFrame error = await peer.CallAsync(Wire.Request(TestServer.Echo, 4));
        Assert.Equal((TestServer.Echo, 3, 4u, 10u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        await peer.SendAsync(Wire.Post(TestServer.Echo));
        await peer.PingAsync();
        Assert.Equal(1, server.Counts.OneWayFailuresWith(10));
        release.SetResult();
        Assert.Equal(1u, (await peer.ReadFrameAsync()).Correlation);
        await peer.ExpectEndAsync();
        peer.Dispose();
        await stop.InTimeAsync();
    }

    [Fact]
    public async Task What_a_session_that_does_not_read_has_been_sent_is_refused_not_dropped()
    {
        var answer = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        var asked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestServer server = await TestServer.StartAsync(
            options: static o => o.Session.AuthorizationTimeout = TimeSpan.Zero,
            components: h =>
            {
                h.Time = _time;
                h.Authorizer = (_, _) =>
                {
                    asked.TrySetResult();
                    return new ValueTask<bool>(answer.Task);
                };
            });
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(TestServer.Echo, 1));
        await asked.Task.InTimeAsync();
        await peer.SendAsync(Wire.Request(TestServer.Echo, 2));
        Task stop = server.Server.StopAsync();
        await PassGraceAsync(server);

        answer.SetResult(true);

        Assert.Equal((1u, 10u), await ReadErrorAsync(peer));
        Assert.Equal((2u, 10u), await ReadErrorAsync(peer));
        await PassUntilAsync(() => stop.IsCompleted, "the server had stopped");

        static async Task<(uint, uint)> ReadErrorAsync(RawPeer peer)
        {
            WireFrame frame = await peer.ReadFrameAsync();
            return (frame.Correlation, frame.ErrorCode);
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task What_waits_behind_a_relay_to_a_full_target_is_refused_not_dropped(bool closesOne)
    {
        await using TestServer server = await RoutingWire.StartAsync(
            static o => o.Session.WriteTimeout = o.Session.CloseTimeout = o.ShutdownTimeout = TimeSpan.FromHours(1), h => h.Time = _time);
        using RawPeer peer = await server.ConnectAsync("sender");
        using RawPeer target = await server.ConnectAsync("target", receiveBuffer: 4096);
        Session sender = await server.SessionAsync();
        uint relays = 0;
        do
        {
            await peer.SendAsync(RoutingWire.RelayPost("target", new byte[100_000]));
            relays++;
            await Patience.UntilAsync(() => server.Counts.RelaysWaited != 0 || server.Counts.Relayed == relays, "it was relayed, or waits");
        }
        while (server.Counts.RelaysWaited == 0);
        await peer.SendAsync(Wire.Request(TestServer.Echo, 2));

        Task ended = closesOne ? sender.CloseAsync() : server.Server.StopAsync();
        if (!closesOne)
        {
            await PassGraceAsync(server);
        }

        Assert.Equal(Wire.Goodbye, (await peer.ReadFrameAsync()).Type);
        WireFrame refused = await peer.ReadFrameAsync();
        Assert.Equal((2u, 10u), (refused.Correlation, refused.ErrorCode));
        Assert.Equal(1, server.Counts.OneWayFailuresWith(10));
        await PassUntilAsync(() => sender.Connection.IsClosing, "the session ended");
        peer.Dispose();
        target.Reset();
        await PassUntilAsync(() => ended.IsCompleted, "all had ended");
        Assert.NotEqual(CloseKind.ConnectionLost, server.Closed.Single(c => c.Session == sender).Reason.Kind);
    }

    [Fact]
    public async Task Idle_sessions_that_never_said_Hello_end_with_the_grace_without_a_frame()
    {
        await using TestServer server = await TestServer.StartAsync(components: h => h.Time = _time);
        using RawPeer peer = await server.ConnectAsync();
        await peer.PingAsync();
        Task stop = server.Server.StopAsync();
        await ToldAsync(server);

        _time.Advance(TimeSpan.FromMilliseconds(400));
        Assert.Empty(server.Closed);
        Assert.False((await server.SessionAsync()).IsClosed);
        _time.Advance(TimeSpan.FromMilliseconds(300));

        await peer.ExpectEndAsync();
        Assert.False(stop.IsCompleted);
        peer.Dispose();
        await stop.InTimeAsync();
    }

    [Fact]
    public async Task A_peer_that_does_not_close_its_side_ends_with_the_drain()
    {
        await using TestServer server = await TestServer.StartAsync(components: h => h.Time = _time);
        using RawPeer peer = await server.ConnectAsync();
        await peer.PingAsync();
        Task stop = server.Server.StopAsync();
        await ToldAsync(server);
        _time.Advance(TimeSpan.FromMilliseconds(700));
        await peer.ExpectEndAsync();

        _time.Advance(TimeSpan.FromMilliseconds(1200));

        await stop.InTimeAsync();
        Assert.Empty(server.Log.WithId(3004));
    }

    [Fact]
    public async Task The_deadline_aborts_what_does_not_finish_and_cancels_its_handler()
    {
        var cancelled = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(0x1001, async c =>
            {
                await using (c.Aborted.Register(() => cancelled.TrySetResult()))
                {
                    await cancelled.Task;
                }
            }),
            components: h => h.Time = _time);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(0x1001, 1), Wire.PingRequest(2));
        await peer.ReadFrameAsync();

        Task stop = server.Server.StopAsync();
        await PassUntilAsync(() => stop.IsCompleted, "the server had stopped");

        await cancelled.Task.InTimeAsync();
        await peer.ExpectGoneAsync();
        Assert.InRange(_time.Elapsed, TimeSpan.FromSeconds(5), TimeSpan.MaxValue);
        Assert.Single(server.Log.WithId(3004));
        Assert.Equal(0, server.Server.ConnectionCount);
    }

    [Fact]
    public async Task A_caller_that_does_not_wait_is_not_told_of_a_timeout()
    {
        await using TestServer server = await TestServer.StartAsync(components: h => h.Time = _time);
        using RawPeer peer = await server.ConnectAsync();
        await peer.PingAsync();

        await server.Server.StopAsync(new CancellationToken(canceled: true)).InTimeAsync();

        Assert.Equal("1 connections have not finished and are aborted", Assert.Single(server.Log.WithId(3004)).Text);
    }

    [Fact]
    public async Task A_stopped_server_refuses_connections_and_its_port_is_free()
    {
        TestServer server = await TestServer.StartAsync();
        FastPort.Endpoint endpoint = server.Endpoint;
        await server.DisposeAsync();
        await server.Server.StopAsync();

        await Assert.ThrowsAsync<System.Net.Sockets.SocketException>(() => RawPeer.ConnectAsync(endpoint));
        await Assert.ThrowsAsync<InvalidOperationException>(() => server.Server.StartAsync());
        await using TestServer next = await TestServer.StartAsync(options: o =>
        {
            o.Endpoints.Clear();
            o.Endpoints.Add(endpoint.ToString());
        });
        Assert.Equal(endpoint, next.Endpoint);
    }

    [Fact]
    public async Task Connections_that_come_while_the_server_stops_never_outlive_it()
    {
        for (int round = 0; round < 20; round++)
        {
            TestServer server = await TestServer.StartAsync(options: static o => o.ShutdownGrace = TimeSpan.Zero);
            FastPort.Endpoint endpoint = server.Endpoint;
            var stopped = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            Task[] storm = [.. Enumerable.Range(0, 8).Select(_ => Task.Run(async () =>
            {
                try
                {
                    using RawPeer peer = await RawPeer.ConnectAsync(endpoint);
                    await stopped.Task;

                    // A listening socket closed in the moment of the handshake leaves the peer an open connection to nothing, which no
                    // program of the server's side has ever seen: only what the peer sends finds that out.
                    await peer.TrySendAsync(Wire.PingRequest(1));
                    await peer.ExpectGoneAsync();
                }
                catch (System.Net.Sockets.SocketException)
                {
                    // Too late: refused.
                }
            }))];

            await Task.Yield();
            await server.Server.StopAsync();

            Assert.Empty(server.Server.Sessions);
            stopped.SetResult();
            await Task.WhenAll(storm).InTimeAsync();
            await Patience.UntilAsync(() => server.Server.ConnectionCount == 0, "every connection was gone");
            Assert.Equal(server.Counts.ConnectionsAccepted, server.Closed.Count);
        }
    }

    // The grace of a session begins when its loop is told, which is after the log's line: time that passes before does not count.
    private static async Task ToldAsync(TestServer server)
    {
        await Patience.UntilAsync(() => server.Opened.All(static one => one.Protocol.End.IsAnnounced), "the sessions were told");
        server.Settle();
    }

    private async Task PassGraceAsync(TestServer server)
    {
        await ToldAsync(server);
        await PassUntilAsync(() => _time.Elapsed > TimeSpan.FromSeconds(2), "the grace was over");
    }

    private Task PassUntilAsync(Func<bool> condition, string what) => Patience.UntilAsync(
        () =>
        {
            _time.Advance(TimeSpan.FromMilliseconds(100));
            return condition();
        },
        what);
}
