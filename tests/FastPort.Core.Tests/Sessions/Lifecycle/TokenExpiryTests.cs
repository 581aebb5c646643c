using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle;

/// <summary>Sessions whose identity ends at a time.</summary>
public sealed class TokenExpiryTests
{
    private const ushort Gated = 0x1001;
    private readonly FakeTimeProvider _time = new();
    private readonly TaskCompletionSource _gate = new(TaskCreationOptions.RunContinuationsAsynchronously);

    [Fact]
    public async Task At_its_time_the_session_gets_Goodbye_with_code_5()
    {
        await using TestServer server = await StartAsync(TimeSpan.FromSeconds(90));
        using RawPeer peer = await server.ConnectAsync();
        await peer.SayHelloAsync();

        _time.Advance(TimeSpan.FromSeconds(85));
        await peer.PingAsync();
        await PassUntilAsync(() => server.Server.Sessions.Count == 0 || server.Server.Sessions.First().IsClosed);

        Assert.True(_time.Elapsed >= TimeSpan.FromSeconds(90), $"It ended at {_time.Elapsed}.");
        WireFrame goodbye = await ReadGoodbyeAsync(peer);
        Assert.Equal(5u, goodbye.ErrorCode);
        Assert.Contains("expired", goodbye.TextAt(2), StringComparison.Ordinal);
        await peer.ExpectEndAsync();
        peer.Dispose();
        Assert.Equal(CloseKind.Unauthenticated, (await server.CloseReasonAsync()).Kind);
    }

    /// <summary>It leaps past the end, as after a suspended machine; or it is set back, which does not lengthen the session.</summary>
    [Theory]
    [InlineData(24 * 3600, 25)]
    [InlineData(15, -1)]
    public async Task A_wall_clock_that_is_set_ends_the_session_all_the_same(int seconds, int stepHours)
    {
        await using TestServer server = await StartAsync(TimeSpan.FromSeconds(seconds));
        using RawPeer peer = await server.ConnectAsync();
        await peer.SayHelloAsync();
        Session session = await server.SessionAsync();

        _time.WallClockStep = TimeSpan.FromHours(stepHours);
        await PassUntilAsync(() => session.IsClosed);

        Assert.Equal(5u, (await ReadGoodbyeAsync(peer)).ErrorCode);
    }

    [Fact]
    public async Task Requests_in_flight_are_answered_first()
    {
        await using TestServer server = await StartAsync(TimeSpan.FromSeconds(20));
        using RawPeer peer = await server.ConnectAsync();
        await peer.SayHelloAsync();
        await peer.SendAsync(Wire.Request(Gated, 9, [1]));
        await peer.PingAsync();
        await PassUntilAsync(() => _time.Elapsed > TimeSpan.FromSeconds(20.3));
        Assert.Equal(5u, (await ReadGoodbyeAsync(peer)).ErrorCode);

        _gate.SetResult();

        WireFrame reply = await peer.ReadFrameAsync();
        Assert.Equal((Gated, Wire.Reply, 9u), (reply.Type, reply.Flags, reply.Correlation));
        await peer.ExpectEndAsync();
    }

    /// <summary>A client sends them again on its next session, as it knows that they were not run.</summary>
    [Fact]
    public async Task Requests_that_have_crossed_the_Goodbye_are_refused()
    {
        await using TestServer server = await StartAsync(TimeSpan.FromSeconds(20));
        using RawPeer peer = await server.ConnectAsync();
        await peer.SayHelloAsync();
        await PassUntilAsync(() => _time.Elapsed >= TimeSpan.FromSeconds(20));
        Assert.Equal(5u, (await ReadGoodbyeAsync(peer)).ErrorCode);

        WireFrame refused = await peer.CallAsync(Wire.Request(TestServer.Echo, 9, [1]));

        Assert.Equal((9u, 10u), (refused.Correlation, refused.ErrorCode));
        await PassUntilAsync(() => server.Closed.Count == 1);
        await peer.ExpectEndAsync();
    }

    [Fact]
    public async Task A_session_that_is_paused_ends_too()
    {
        await using TestServer server = await StartAsync(TimeSpan.FromSeconds(20), static o => o.Session.MaxInFlightRequests = 1);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SayHelloAsync();
        Session session = await server.SessionAsync();
        await peer.SendAsync(Wire.Request(Gated, 9, [1]), Wire.Request(Gated, 10, [1]));
        await Patience.UntilAsync(() => session.MessagesReceived >= 2, "the first request was received");

        await PassUntilAsync(() => _time.Elapsed > TimeSpan.FromSeconds(20.3));

        Assert.Equal(5u, (await ReadGoodbyeAsync(peer)).ErrorCode);
    }

    [Fact]
    public async Task An_identity_that_has_ended_already_is_refused()
    {
        await using TestServer server = await StartAsync(TimeSpan.Zero);
        using RawPeer peer = await server.ConnectAsync();

        WireFrame error = await peer.CallAsync(Wire.HelloRequest(4));

        Assert.Equal((5u, "The token has expired."), (error.ErrorCode, error.TextAt(2)));
        await peer.ExpectEndAsync();
    }

    [Fact]
    public async Task A_time_in_the_far_future_is_never()
    {
        await using TestServer server = await StartAsync(DateTimeOffset.MaxValue - DateTimeOffset.UnixEpoch);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SayHelloAsync();

        _time.Advance(TimeSpan.FromSeconds(30));

        await peer.PingAsync();
    }

    // Heartbeats may come before it.
    private static async Task<WireFrame> ReadGoodbyeAsync(RawPeer peer)
    {
        WireFrame frame;
        do
        {
            frame = await peer.ReadFrameAsync();
        }
        while (frame.Type != Wire.Goodbye);
        return frame;
    }

    private Task PassUntilAsync(Func<bool> condition) => Patience.UntilAsync(
        () =>
        {
            _time.Advance(TimeSpan.FromMilliseconds(100));
            return condition();
        },
        "time had passed");

    private Task<TestServer> StartAsync(TimeSpan lifetime, Action<FastPort.FastPortServerOptions>? options = null) =>
        TestServer.StartAsync(
            handlers => handlers.MapQueued(Gated, async context =>
            {
                await _gate.Task;
                context.Reply([]);
            }),
            o =>
            {
                o.Session.IdleTimeout = TimeSpan.Zero;
                o.Session.HeartbeatInterval = TimeSpan.Zero;
                options?.Invoke(o);
            },
            components =>
            {
                components.Time = _time;
                components.Authenticator = (_, _) =>
                    ValueTask.FromResult(AuthenticationResult.Accept(expiresAt: DateTimeOffset.UnixEpoch + lifetime));
            });
}
