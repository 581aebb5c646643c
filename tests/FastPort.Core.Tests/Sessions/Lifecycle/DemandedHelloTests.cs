using System.Security.Claims;
using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle;

/// <summary>Servers that let in only who says Hello first: authenticators and required routing ids.</summary>
public sealed class DemandedHelloTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Anything_before_a_demanded_Hello_is_Unauthenticated(bool authenticator)
    {
        foreach (byte[] frame in new[] { Wire.PingRequest(3), Wire.Request(TestServer.Echo, 3), Wire.Request(0x2222, 3) })
        {
            foreach (byte flags in new byte[] { 0, Wire.Timing })
            {
                await using TestServer server = await StartDemandingAsync(authenticator);
                using RawPeer peer = await server.ConnectAsync();
                frame[6] = flags;

                WireFrame error = await peer.CallAsync(frame);

                Assert.Equal(BitConverter.ToUInt16(frame, 4), error.Type);
                Assert.Equal((3 | flags, 3u, 5u), (error.Flags, error.Correlation, error.ErrorCode));
                await peer.ExpectEndAsync();
                peer.Dispose();
                Assert.Equal(CloseKind.Unauthenticated, (await server.CloseReasonAsync()).Kind);
            }
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_one_way_message_before_a_demanded_Hello_closes_without_a_frame(bool authenticator)
    {
        await using TestServer server = await StartDemandingAsync(authenticator);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Post(TestServer.Echo));

        await peer.ExpectEndAsync();
        peer.Dispose();
        Assert.Equal(CloseKind.Unauthenticated, (await server.CloseReasonAsync()).Kind);
        Assert.Equal(1, server.Counts.OneWayFailuresWith(5));
    }

    [Fact]
    public async Task A_Hello_without_the_demanded_routing_id_is_Unauthenticated()
    {
        await using TestServer server = await StartDemandingAsync(authenticator: false);
        using RawPeer peer = await server.ConnectAsync();

        WireFrame error = await peer.CallAsync(Wire.HelloRequest(4));

        Assert.Equal((Wire.Hello, 3, 4u, 5u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        await peer.ExpectEndAsync();
    }

    [Theory]
    [InlineData(0)]
    [InlineData(Wire.Timing)]
    public async Task A_refused_token_is_Unauthenticated_and_never_logged(byte flags)
    {
        await using TestServer server = await TestServer.StartAsync(
            components: static h => h.Authenticator = static (_, _) => ValueTask.FromResult(AuthenticationResult.Refuse("No such token.")));
        using RawPeer peer = await server.ConnectAsync();

        WireFrame error = await peer.CallAsync(Wire.HelloRequest(4, token: "hunter2", flags: flags));

        Assert.Equal((Wire.Hello, 3 | flags, 4u, 5u), (error.Type, error.Flags, error.Correlation, error.ErrorCode));
        Assert.Equal("No such token.", error.TextAt(2));
        await peer.ExpectEndAsync();
        peer.Dispose();
        await server.CloseReasonAsync();
        Assert.DoesNotContain(server.Log.Lines, static l => l.Text.Contains("hunter2", StringComparison.Ordinal));
    }

    [Fact]
    public async Task What_follows_a_Hello_waits_for_an_authenticator_that_thinks()
    {
        var verdict = new TaskCompletionSource<AuthenticationResult>();
        HelloRequest? asked = null;
        int questions = 0;
        await using TestServer server = await TestServer.StartAsync(components: h => h.Authenticator = async (hello, _) =>
        {
            questions++;
            asked = hello;
            return await verdict.Task;
        });
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.HelloRequest(4, "tank", "t0ken", "rig"), Wire.Request(TestServer.Echo, 5, [5]));
        await Patience.UntilAsync(() => Volatile.Read(ref asked) is not null, "the authenticator was asked");
        (await server.SessionAsync()).Connection.ResumeReading();
        var user = new ClaimsPrincipal(new ClaimsIdentity("test"));
        verdict.SetResult(AuthenticationResult.Accept(user));

        Assert.Equal(Wire.Hello, (await peer.ReadFrameAsync()).Type);
        Assert.Equal([5], (await peer.ReadFrameAsync()).Body);
        Assert.Equal(("tank", "t0ken", "rig"), (asked!.RoutingId, asked.Token, asked.ClientName));
        Assert.Same(user, (await server.SessionAsync()).User);
        Assert.Equal(1, questions);
    }

    [Theory]
    [InlineData(false, false)]
    [InlineData(true, false)]
    [InlineData(true, true)]
    public async Task An_authenticator_that_throws_is_no_refusal_and_tells_no_internals(bool later, bool cancelsItself)
    {
        bool fails = true;
        await using TestServer server = await TestServer.StartAsync(components: h => h.Authenticator = async (_, _) =>
        {
            if (later)
            {
                await Task.Yield();
            }

            return !fails ? AuthenticationResult.Accept()
                : cancelsItself ? throw new TaskCanceledException("the database of users is slow")
                : throw new InvalidOperationException("the database password is wrong");
        });
        using RawPeer peer = await server.ConnectAsync();

        WireFrame error = await peer.CallAsync(Wire.HelloRequest(4));

        Assert.Equal((13u, "Authentication is not available now; try again later."), (error.ErrorCode, error.TextAt(2)));
        Assert.Single(server.Log.WithId(2004));
        fails = false;
        Assert.False((await peer.CallAsync(Wire.HelloRequest(5))).IsError);
    }

    [Fact]
    public async Task A_peer_that_says_Hello_again_and_again_while_the_authenticator_fails_is_closed()
    {
        await using TestServer server = await TestServer.StartAsync(
            components: static h => h.Authenticator = static (_, _) => throw new InvalidOperationException("the database is down"));
        using RawPeer peer = await server.ConnectAsync();
        for (uint i = 1; i <= 8; i++)
        {
            Assert.Equal(13u, (await peer.CallAsync(Wire.HelloRequest(i))).ErrorCode);
        }

        Assert.Equal(5u, (await peer.CallAsync(Wire.HelloRequest(9))).ErrorCode);
        await peer.ExpectEndAsync();
    }

    [Fact]
    public async Task An_authenticator_is_cancelled_when_the_session_ends_and_its_callbacks_cannot_hinder_the_end()
    {
        var cancelled = new TaskCompletionSource();
        var asked = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(components: h => h.Authenticator = async (_, token) =>
        {
            token.Register(() =>
            {
                cancelled.TrySetResult();
                throw new InvalidOperationException("A defect in a callback.");
            });
            asked.TrySetResult();
            await Task.Delay(Timeout.Infinite, CancellationToken.None);
            return AuthenticationResult.Accept();
        });
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.HelloRequest(4));
        await asked.Task.InTimeAsync();

        (await server.SessionAsync()).Abort();

        await cancelled.Task.InTimeAsync();
        await server.CloseReasonAsync();
        Assert.Equal(0, server.Server.ConnectionCount);
    }

    [Fact]
    public async Task Nothing_is_sent_unasked_before_Hello_not_even_when_the_handshake_is_overdue()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(
            options: static o => o.RequireRoutingId = true, components: h => h.Time = time);
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();

        time.Advance(TimeSpan.FromSeconds(9.8));
        Assert.False(session.IsClosed);
        time.Advance(TimeSpan.FromSeconds(0.3));

        await peer.ExpectEndAsync();
        peer.Dispose();
        Assert.Equal(CloseKind.HandshakeTimeout, (await server.CloseReasonAsync()).Kind);
        Assert.Equal(1, server.Counts.TimeoutsClosedBy(ConnectionTimeout.Handshake));
    }

    [Fact]
    public async Task The_handshake_deadline_applies_only_where_a_Hello_is_demanded()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(components: h => h.Time = time);
        using RawPeer peer = await server.ConnectAsync();
        await server.SessionAsync();

        time.Advance(TimeSpan.FromMinutes(1));

        await peer.PingAsync();
    }

    private static Task<TestServer> StartDemandingAsync(bool authenticator) => TestServer.StartAsync(
        options: o => o.RequireRoutingId = !authenticator,
        components: h => h.Authenticator = authenticator ? static (_, _) => ValueTask.FromResult(AuthenticationResult.Accept()) : null);
}
