using System.Collections.Concurrent;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle;

/// <summary>Components that do not answer: given up in time, and told when nobody needs their answer any more.</summary>
public sealed class AuthorizationTimeoutTests
{
    private const ushort Slow = 0x1001;

    private readonly FakeTimeProvider _time = new();
    private readonly ConcurrentQueue<CancellationToken> _asked = new();
    private readonly TaskCompletionSource _late = new();

    [Fact]
    public async Task A_message_that_the_authorizer_does_not_decide_on_in_time_is_answered_with_Timeout_and_the_session_goes_on()
    {
        await using TestServer server = await StartAsync(static o => o.Session.AuthorizationTimeout = TimeSpan.FromSeconds(3));
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(
            Wire.Request(Slow, 1), Wire.Request(TestServer.Echo, 2, [2]), Wire.Post(Slow), Wire.Request(TestServer.Echo, 3, [3]));
        await AskedAsync(1);

        _time.Advance(TimeSpan.FromSeconds(2.9));
        Assert.False(_asked.Single().IsCancellationRequested);
        await PassUntilAsync(() => server.Log.WithId(2008).Count == 1);

        WireFrame error = await peer.ReadFrameAsync();
        Assert.Equal((Slow, 3, 1u, 7u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        Assert.Contains("3 s", error.TextAt(2), StringComparison.Ordinal);
        Assert.Equal([2], (await peer.ReadFrameAsync()).Body);
        await Patience.UntilAsync(() => _asked.First().IsCancellationRequested, "the hook was told");

        // The next question has a token of its own.
        await AskedAsync(2);
        Assert.False(_asked.Last().IsCancellationRequested);
        await PassUntilAsync(() => server.Log.WithId(2008).Count == 2);
        Assert.Equal([3], (await peer.ReadFrameAsync()).Body);
        Assert.Equal(1, server.Counts.OneWayFailuresWith(7));

        // What it says afterwards is not heard.
        _late.SetResult();
        await peer.PingAsync();
        Assert.Equal([4], (await peer.CallAsync(Wire.Request(TestServer.Echo, 4, [4]))).Body);
    }

    [Fact]
    public async Task An_answer_in_time_counts()
    {
        await using TestServer server = await StartAsync(static o => o.Session.AuthorizationTimeout = TimeSpan.FromSeconds(3));
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(Slow, 1));
        await AskedAsync(1);
        _time.Advance(TimeSpan.FromSeconds(2.9));

        _late.SetResult();

        Assert.Equal(Wire.Reply, (await peer.ReadFrameAsync()).Flags);
        _time.Advance(TimeSpan.FromSeconds(10));
        Assert.False(_asked.Single().IsCancellationRequested);
        await peer.PingAsync();
    }

    [Fact]
    public async Task Without_a_bound_it_is_waited_for()
    {
        await using TestServer server = await StartAsync(
            static o => (o.Session.AuthorizationTimeout, o.Session.IdleTimeout) = (TimeSpan.Zero, TimeSpan.Zero));
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(Slow, 1));
        await AskedAsync(1);

        _time.Advance(TimeSpan.FromMinutes(2));
        _late.SetResult();

        Assert.Equal(Wire.Reply, (await peer.ReadFrameAsync()).Flags);
    }

    [Fact]
    public async Task An_authenticator_without_a_handshake_timeout_is_bounded_too_and_its_peer_may_try_again()
    {
        await using TestServer server = await StartAsync(
            static o =>
                (o.Session.HandshakeTimeout, o.Session.AuthorizationTimeout) = (TimeSpan.Zero, TimeSpan.FromSeconds(3)),
            authenticator: true);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.HelloRequest(1));
        await AskedAsync(1);

        await PassUntilAsync(() => server.Log.WithId(2008).Count == 1);

        WireFrame error = await peer.ReadFrameAsync();
        Assert.Equal((Wire.Hello, 3, 1u, 13u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        await Patience.UntilAsync(() => _asked.Single().IsCancellationRequested, "the hook was told");
        _late.SetResult();
        Assert.False((await peer.CallAsync(Wire.HelloRequest(2))).IsError);
    }

    [Fact]
    public async Task With_a_handshake_timeout_that_one_is_the_authenticators_bound()
    {
        await using TestServer server = await StartAsync(
            static o => (o.Session.HandshakeTimeout, o.Session.AuthorizationTimeout) = (TimeSpan.FromSeconds(20), TimeSpan.FromSeconds(3)),
            authenticator: true);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.HelloRequest(1));
        await AskedAsync(1);

        _time.Advance(TimeSpan.FromSeconds(19));
        _late.SetResult();

        Assert.Equal(Wire.Reply, (await peer.ReadFrameAsync()).Flags);
    }

    [Fact]
    public async Task Over_the_handshake_timeout_the_authenticator_is_named_and_the_Hello_is_answered_before_the_close()
    {
        var refused = new ConcurrentQueue<HelloRefusal>();
        await using TestServer server = await StartAsync(authenticator: true);
        server.Server.HelloRefused += (_, refusal) => refused.Enqueue(refusal);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.HelloRequest(1));
        await AskedAsync(1);

        await PassUntilAsync(() => server.Closed.Count == 1);

        WireFrame error = await peer.ReadFrameAsync();
        Assert.Equal((Wire.Hello, 3, 1u, 13u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        await peer.ExpectEndAsync();
        Assert.Contains("authenticator", Assert.Single(server.Log.WithId(2008)).Text, StringComparison.Ordinal);
        Assert.Equal(FastPort.ErrorCode.Unavailable, Assert.Single(refused).Code);
        CloseReason reason = await server.CloseReasonAsync();
        Assert.Equal((CloseKind.HandshakeTimeout, "The authenticator did not answer within 10 s."), (reason.Kind, reason.Message));
        await Patience.UntilAsync(() => _asked.Single().IsCancellationRequested, "the hook was told");
    }

    [Theory]
    [InlineData(false, false)]
    [InlineData(false, true)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public async Task A_peer_that_resets_while_a_hook_thinks_ends_the_session_and_the_question(bool authenticator, bool unread)
    {
        await using TestServer server = await StartAsync(
            static o => (o.Session.HandshakeTimeout, o.Session.AuthorizationTimeout, o.Session.IdleTimeout) = (
                TimeSpan.Zero, TimeSpan.Zero, TimeSpan.Zero), authenticator);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(authenticator ? Wire.HelloRequest(1) : Wire.Request(Slow, 1));
        if (unread)
        {
            // What lies unread in the kernel must not hide the reset.
            await AskedAsync(1);
            await peer.SendAsync(Wire.PingRequest(2));
        }

        peer.Reset();

        await AskedAsync(1);
        await PassUntilAsync(() => server.Closed.Count == 1);
        Assert.Equal(CloseKind.ConnectionLost, (await server.CloseReasonAsync()).Kind);
        await Patience.UntilAsync(() => _asked.Single().IsCancellationRequested, "the hook was told");
    }

    [Fact]
    public async Task A_peer_that_has_ended_its_side_still_gets_its_answer()
    {
        await using TestServer server = await StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(Slow, 1));
        await AskedAsync(1);
        peer.ShutdownSend();
        _time.Advance(TimeSpan.FromSeconds(5));

        _late.SetResult();

        Assert.Equal(1u, (await peer.ReadFrameAsync()).Correlation);
        await peer.ExpectEndAsync();
    }

    [Fact]
    public async Task A_reset_reaches_the_handlers_of_a_session_that_is_not_read_because_its_queue_is_full()
    {
        var running = new TaskCompletionSource();
        var cancelled = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(0x1002, async c =>
            {
                running.TrySetResult();
                await using (c.Aborted.Register(() => cancelled.TrySetResult()))
                {
                    await cancelled.Task;
                }
            }),
            static o => (o.Session.MaxInFlightRequests, o.Session.IdleTimeout) = (1, TimeSpan.Zero),
            h => h.Time = _time);
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        await peer.SendAsync(Wire.Request(0x1002, 1), Wire.Request(0x1002, 2));
        await running.Task.InTimeAsync();
        await Patience.UntilAsync(
            () => session.MessagesReceived == 1 && session.Connection.BytesReceived == 24, "the second request had to wait");

        peer.Reset();

        await PassUntilAsync(() => cancelled.Task.IsCompleted);
        Assert.Equal(CloseKind.ConnectionLost, (await server.CloseReasonAsync()).Kind);
    }

    private Task<TestServer> StartAsync(Action<FastPort.FastPortServerOptions>? options = null, bool authenticator = false) =>
        TestServer.StartAsync(
        static h => h.MapQueued(Slow, static _ => ValueTask.CompletedTask),
        options,
        h =>
        {
            h.Time = _time;
            if (authenticator)
            {
                h.Authenticator = async (_, token) =>
                {
                    await ThinkAsync(token);
                    return AuthenticationResult.Accept();
                };
            }
            else
            {
                h.Authorizer = async (request, token) =>
                {
                    if (request.Type == Slow)
                    {
                        await ThinkAsync(token);
                    }

                    return true;
                };
            }
        });

    // Deaf to its token, as a bad hook is.
    private async Task ThinkAsync(CancellationToken token)
    {
        _asked.Enqueue(token);
        await _late.Task;
    }

    // The time of a question begins a moment after the hook was called.
    private Task PassUntilAsync(Func<bool> condition) => Patience.UntilAsync(
        () =>
        {
            _time.Advance(TimeSpan.FromMilliseconds(100));
            return condition();
        },
        "time had passed");

    private Task AskedAsync(int times) => Patience.UntilAsync(() => _asked.Count >= times, "the hook was asked");
}
