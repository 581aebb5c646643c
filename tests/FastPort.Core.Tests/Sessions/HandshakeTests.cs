using System.Security.Claims;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Dispatch;
using FastPort.Sessions;
using FastPort.Telemetry.Counters;
using Xunit;

namespace FastPort.Core.Tests.Sessions;

public sealed class HandshakeTests
{
    [Fact]
    public async Task Welcome_says_what_the_protocol_page_says()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o =>
        {
            o.ServerName = "unit";
            o.Session.MaxFrameBytes = 5000;
            o.Session.HeartbeatInterval = TimeSpan.FromSeconds(7);
        });
        using RawPeer peer = await server.ConnectAsync();

        WireFrame welcome = await peer.CallAsync(Wire.HelloRequest(6, "tank-7", name: "rig", flags: Wire.Timing));

        Session session = await server.SessionAsync();
        Assert.Equal((Wire.Hello, 9, 6u), (welcome.Type, welcome.Flags, welcome.Correlation));
        Assert.Equal((ulong)session.Id, welcome.NumberAt(1));
        Assert.Equal(("unit", 5000UL, 7000UL), (welcome.TextAt(2), welcome.NumberAt(3), welcome.NumberAt(4)));
        Assert.Equal(("tank-7", "rig", true), (session.RoutingId, session.ClientName, session.IsIdentified));
        Assert.Same(session, server.Server.FindSession("tank-7"));
    }

    [Fact]
    public async Task A_second_Hello_is_MalformedBody_and_the_session_lives()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await peer.SayHelloAsync("a");

        Assert.Equal(4u, (await peer.CallAsync(Wire.HelloRequest(2, "b"))).ErrorCode);

        await peer.PingAsync();
        Assert.Equal("a", (await server.SessionAsync()).RoutingId);
    }

    [Fact]
    public async Task A_body_that_is_no_Hello_is_MalformedBody_and_Hello_may_be_said_again()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.RequireRoutingId = true);
        using RawPeer peer = await server.ConnectAsync();

        Assert.Equal(4u, (await peer.CallAsync(Wire.Request(Wire.Hello, 2, [0x0A, 0x20, 1]))).ErrorCode);

        await peer.SayHelloAsync("a");
    }

    [Fact]
    public async Task A_duplicate_identity_is_refused_and_the_newcomer_may_try_another()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer first = await server.ConnectAsync();
        await first.SayHelloAsync("tank");
        using RawPeer second = await server.ConnectAsync();

        WireFrame refusal = await second.CallAsync(Wire.HelloRequest(2, "tank"));

        Assert.Equal((Wire.Hello, 3, 2u, 11u), (refusal.Type, refusal.Flags, refusal.Correlation, refusal.ErrorCode));
        await second.SayHelloAsync("tank-2");
        await first.PingAsync();
    }

    [Fact]
    public async Task The_longest_routing_id_is_taken_and_refused_to_a_second_session()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.MaxFrameBytes = 1024);
        string routingId = new('x', 256);
        using RawPeer first = await server.ConnectAsync();
        await first.SayHelloAsync(routingId);
        using RawPeer second = await server.ConnectAsync();

        Assert.Equal(11u, (await second.CallAsync(Wire.HelloRequest(2, routingId))).ErrorCode);
        await second.PingAsync();
    }

    [Theory]
    [InlineData("line\nbreak")]
    [InlineData("bell\a")]
    [InlineData("next\u0085line")]
    [InlineData("line\u2028separator")]
    [InlineData("paragraph\u2029separator")]
    [InlineData("escape\u009b31m")]
    [InlineData("right-to-left \u202e")]
    [InlineData("zero\u200bwidth")]
    [InlineData("tag \U000E0041")]
    [InlineData("")]
    public async Task A_routing_id_that_would_spoil_a_log_line_is_no_valid_Hello(string routingId)
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        Assert.Equal(4u, (await peer.CallAsync(Wire.HelloRequest(2, routingId.Length == 0 ? new string('x', 257) : routingId))).ErrorCode);
        await peer.SayHelloAsync("tank");
    }

    [Theory]
    [InlineData("$server")]
    [InlineData("$")]
    public async Task A_routing_id_of_the_servers_own_is_refused_with_the_reason(string routingId)
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        WireFrame error = await peer.CallAsync(Wire.HelloRequest(2, routingId));

        Assert.Equal((Wire.Hello, 4u), (error.Type, error.ErrorCode));
        Assert.Contains("begins with '$'", error.TextAt(2), StringComparison.Ordinal);
        await peer.SayHelloAsync("server$");
    }

    [Theory]
    [InlineData("next\u0085line")]
    [InlineData("line\u2028separator")]
    [InlineData("right-to-left \u202e")]
    public async Task The_same_holds_for_a_client_name(string name)
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        Assert.Equal(4u, (await peer.CallAsync(Wire.HelloRequest(2, "tank", name: name))).ErrorCode);
        WireFrame welcome = await peer.CallAsync(Wire.HelloRequest(3, "Größe 日本 🚜", name: "J. O'Neil"));
        Assert.Equal((Wire.Hello, Wire.Reply), (welcome.Type, welcome.Flags));
    }

    [Fact]
    public async Task A_peer_that_asks_for_taken_ids_again_and_again_is_closed()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer first = await server.ConnectAsync();
        await first.SayHelloAsync("tank");
        using RawPeer second = await server.ConnectAsync();
        for (uint i = 1; i <= 8; i++)
        {
            Assert.Equal(11u, (await second.CallAsync(Wire.HelloRequest(i, "tank"))).ErrorCode);
        }

        Assert.Equal(5u, (await second.CallAsync(Wire.HelloRequest(9, "tank"))).ErrorCode);
        await second.ExpectEndAsync();
        second.Dispose();
        Assert.Equal(CloseKind.Unauthenticated, (await server.CloseReasonAsync()).Kind);
        await first.PingAsync();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_routing_id_is_free_when_closing_begins(bool kick)
    {
        var time = new FakeTimeProvider();
        byte[] body = Wire.Bytes(16_000_000);
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapInline(0x1001, (ref InlineRequest r) => r.Reply(body)),
            static o => o.Session.MaxFrameBytes = 32_000_000,
            h => h.Time = time);
        using RawPeer first = await server.ConnectAsync(receiveBuffer: 4096);
        await first.SayHelloAsync("tank");
        Session session = await server.SessionAsync();
        await first.SendAsync(Wire.Request(0x1001, 1), Wire.PingRequest(2));
        await Patience.UntilAsync(() => session.Connection.PendingBytes > 1_000_000, "the reply filled the queue");

        if (kick)
        {
            session.Kick(FastPort.Framing.ErrorCode.None, "Out.");
        }
        else
        {
            _ = session.CloseAsync();
        }

        using RawPeer second = await server.ConnectAsync();
        await second.SayHelloAsync("tank");
        Assert.Same(server.Opened[1], server.Server.FindSession("tank"));
        Assert.False(session.Closed.IsCompleted);
        session.Abort();
        await session.Closed.InTimeAsync();
        await Patience.UntilAsync(() => server.Closed.Count == 1, "the first session was over");
        Assert.Equal(CloseKind.LocalClosed, server.Closed[0].Reason.Kind);
        Assert.Same(server.Opened[1], server.Server.FindSession("tank"));
        await second.PingAsync();
    }

    [Fact]
    public async Task A_duplicate_identity_takes_over_where_configured()
    {
        await using TestServer server = await TestServer.StartAsync(
            options: static o => o.DuplicateIdentity = DuplicateIdentityPolicy.TakeOver);
        using RawPeer first = await server.ConnectAsync();
        await first.SayHelloAsync("tank");
        using RawPeer second = await server.ConnectAsync();

        await second.SayHelloAsync("tank");

        WireFrame goodbye = await first.ReadFrameAsync();
        Assert.Equal((Wire.Goodbye, Wire.OneWay, 0u, 11u), (goodbye.Type, goodbye.Flags, goodbye.Correlation, goodbye.ErrorCode));
        await first.ExpectEndAsync();
        first.Dispose();
        Assert.Equal(CloseKind.TakenOver, (await server.CloseReasonAsync()).Kind);
        await second.PingAsync();
        Assert.Same(server.Opened[1], server.Server.FindSession("tank"));
    }

    [Fact]
    public async Task A_routing_id_is_free_again_after_its_session()
    {
        await using TestServer server = await TestServer.StartAsync();
        using (RawPeer first = await server.ConnectAsync())
        {
            await first.SayHelloAsync("tank");
        }

        await server.CloseReasonAsync();
        using RawPeer second = await server.ConnectAsync();
        await second.SayHelloAsync("tank");
    }

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
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_authenticator_that_throws_refuses_with_no_internals(bool later)
    {
        await using TestServer server = await TestServer.StartAsync(components: h => h.Authenticator = async (_, _) =>
        {
            if (later)
            {
                await Task.Yield();
            }

            throw new InvalidOperationException("the database password is wrong");
        });
        using RawPeer peer = await server.ConnectAsync();

        WireFrame error = await peer.CallAsync(Wire.HelloRequest(4));

        Assert.Equal((5u, "Authentication failed."), (error.ErrorCode, error.TextAt(2)));
        await peer.ExpectEndAsync();
        Assert.Single(server.Log.WithId(2004));
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
