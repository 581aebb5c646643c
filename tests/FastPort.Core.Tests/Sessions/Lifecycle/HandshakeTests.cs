using System.Collections.Concurrent;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle;

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
        Assert.Same(session, server.Server.Routing.Find("tank-7"));
    }

    [Fact]
    public async Task Every_Hello_that_is_refused_is_told_of_before_the_session_ends()
    {
        ConcurrentQueue<string> told = new();
        await using TestServer server = await TestServer.StartAsync(
            options: static o => o.RequireRoutingId = true,
            components: static c => c.Authenticator = static (hello, _) => hello.Token switch
            {
                "no answer" => throw new InvalidOperationException("a defect"),
                "expired" => new(AuthenticationResult.Accept(expiresAt: DateTimeOffset.UnixEpoch)),
                "wrong" => new(AuthenticationResult.Refuse("It is wrong.")),
                _ => new(AuthenticationResult.Accept()),
            });
        server.Server.HelloRefused += (_, refusal) => told.Enqueue($"{refusal.ClientName} {refusal.Code} {refusal.Message}");
        server.Server.SessionIdentified += _ => told.Enqueue("identified");
        server.Server.SessionClosed += (_, _) => told.Enqueue("closed");
        using RawPeer owner = await server.ConnectAsync();
        Assert.False((await owner.CallAsync(Wire.HelloRequest(1, "a"))).IsError);
        int ended = 0;
        foreach ((string id, string token) in ((string, string)[])[("b", "expired"), ("b", "wrong"), ("", "good")])
        {
            using RawPeer peer = await server.ConnectAsync();
            Assert.Equal(5u, (await peer.CallAsync(Wire.HelloRequest(1, id, token, "rig"))).ErrorCode);
            await peer.ExpectGoneAsync();

            // The next session may be on another loop.
            ended++;
            await Patience.UntilAsync(() => told.Count(static line => line == "closed") == ended, "the refused session has ended");
        }

        using RawPeer again = await server.ConnectAsync();
        Assert.True((await again.CallAsync(Wire.HelloRequest(1, "a", "no answer", "rig"))).IsError);
        Assert.True((await again.CallAsync(Wire.HelloRequest(1, "a", "good", "rig"))).IsError);

        Assert.Equal(
            [
                "identified",
                "rig Unauthenticated The token has expired.", "closed",
                "rig Unauthenticated It is wrong.", "closed",
                "rig Unauthenticated This server requires a routing_id in Hello.", "closed",
                "rig Unavailable Authentication is not available now; try again later.",
                "rig DuplicateIdentity The routing id 'a' belongs to another session.",
            ],
            told);
    }

    [Fact]
    public async Task A_Hello_with_a_name_that_is_not_allowed_is_told_of_and_counted()
    {
        ConcurrentQueue<string> told = new();
        await using TestServer server = await TestServer.StartAsync();
        server.Server.HelloRefused += (_, refusal) => told.Enqueue($"'{refusal.ClientName}' {refusal.Code} {refusal.Message}");
        using RawPeer peer = await server.ConnectAsync();

        Assert.Equal(4u, (await peer.CallAsync(Wire.HelloRequest(1, "$tank", name: "rig"))).ErrorCode);
        Assert.Equal(4u, (await peer.CallAsync(Wire.HelloRequest(2, "line\nbreak", name: "rig"))).ErrorCode);
        for (uint i = 3; i <= 8; i++)
        {
            Assert.Equal(4u, (await peer.CallAsync(Wire.HelloRequest(i, "tank", name: "line\nbreak"))).ErrorCode);
        }

        Assert.Equal(5u, (await peer.CallAsync(Wire.HelloRequest(9, "$tank", name: "rig"))).ErrorCode);
        await peer.ExpectEndAsync();

        const string Names = "MalformedBody routing_id and client_name have at most 256 characters, none of category Cc, Cf, Zl or Zp.";
        const string Mark = "'rig' MalformedBody routing_id begins with '$', which is reserved for the server; choose another id.";
        Assert.Equal([Mark, $"'rig' {Names}", .. Enumerable.Repeat($"'' {Names}", 6), Mark], told);
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
}
