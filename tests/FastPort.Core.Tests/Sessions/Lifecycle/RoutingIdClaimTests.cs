using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle;

/// <summary>Which session gets a routing id, and which ids are none.</summary>
public sealed class RoutingIdClaimTests
{
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
            session.Kick(FastPort.ErrorCode.None, "Out.");
        }
        else
        {
            _ = session.CloseAsync();
        }

        using RawPeer second = await server.ConnectAsync();
        await second.SayHelloAsync("tank");
        Assert.Same(server.Opened[1], server.Server.Routing.Find("tank"));
        Assert.False(session.Closed.IsCompleted);
        session.Abort();
        await session.Closed.InTimeAsync();
        await Patience.UntilAsync(() => server.Closed.Count == 1, "the first session was over");
        Assert.Equal(CloseKind.LocalClosed, server.Closed[0].Reason.Kind);
        Assert.Same(server.Opened[1], server.Server.Routing.Find("tank"));
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
        Assert.Same(server.Opened[1], server.Server.Routing.Find("tank"));
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
}
