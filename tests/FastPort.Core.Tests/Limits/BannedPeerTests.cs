using System.Security.Claims;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Hosting;
using FastPort.Limits;
using FastPort.Sessions;
using FastPort.Telemetry.Counters;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Core.Tests.Limits;

/// <summary>Bans of a server with real peers.</summary>
public sealed class BannedPeerTests
{
    private static readonly DateTimeOffset Later = DateTimeOffset.UtcNow + TimeSpan.FromHours(1);

    [Fact]
    public async Task A_banned_address_is_rejected_and_its_sessions_end_with_a_Goodbye()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();

        server.Server.Bans.Add(new Ban("127.0.0.0/8", Later, "a test"));

        WireFrame goodbye = await peer.ReadFrameAsync();
        Assert.Equal((Wire.Goodbye, 6u), (goodbye.Type, goodbye.ErrorCode));
        Assert.StartsWith("127.0.0.0/8 is banned until ", goodbye.TextAt(2), StringComparison.Ordinal);
        await peer.ExpectEndAsync();
        using (RawPeer other = await server.ConnectAsync())
        {
            await other.ExpectGoneAsync();
        }

        Assert.Equal(1, server.Counts.ConnectionsRejectedFor(ConnectionRejection.Banned));
        Assert.True(server.Server.Bans.Lift("127.0.0.0/8"));
        using RawPeer again = await server.ConnectAsync();
        await again.PingAsync();
    }

    [Fact]
    public async Task A_banned_identity_is_refused_at_Hello_and_others_at_its_address_are_not()
    {
        await using TestServer server = await TestServer.StartAsync(components: AcceptEverybody);
        using RawPeer anna = await server.ConnectAsync();
        using RawPeer bert = await server.ConnectAsync();
        await anna.SayHelloAsync(token: "anna");
        await bert.SayHelloAsync(token: "bert");

        server.Server.Bans.Add(new Ban("user:anna", Later));

        Assert.Equal(6u, (await anna.ReadFrameAsync()).ErrorCode);
        await anna.ExpectEndAsync();
        using RawPeer again = await server.ConnectAsync();
        WireFrame refused = await again.CallAsync(Wire.HelloRequest(3, token: "anna"));
        Assert.Equal(6u, refused.ErrorCode);
        Assert.StartsWith("user:anna is banned until ", refused.TextAt(2), StringComparison.Ordinal);
        await again.ExpectEndAsync();
        await bert.PingAsync();
    }

    [Fact]
    public async Task Exempt_addresses_are_not_rejected()
    {
        await using TestServer server = await TestServer.StartAsync(
            options: static o => o.Rates.Exempt = ["127.0.0.1"], components: AcceptEverybody);
        using RawPeer anna = await server.ConnectAsync();
        await anna.SayHelloAsync(token: "anna");

        server.Server.Bans.Add(new Ban("127.0.0.0/8", Later));
        server.Server.Bans.Add(new Ban("user:anna", Later));

        await anna.PingAsync();
        using RawPeer other = await server.ConnectAsync();
        await other.SayHelloAsync(token: "anna");
    }

    [Fact]
    public async Task A_server_of_another_protocol_closes_and_rejects_banned_addresses()
    {
        var options = new ConnectionServerOptions();
        options.Endpoints.Add("tcp://127.0.0.1:0");
        await using var server = new ConnectionServer(
            options, static _ => new PipeProtocol(static (pipe, _) => ServeAsync(pipe), NullLogger.Instance));
        await server.StartAsync(TestContext.Current.CancellationToken);
        using RawPeer peer = await RawPeer.ConnectAsync(server.Endpoints[0]);
        await Patience.UntilAsync(() => server.Connections.Count == 1, "it is connected");

        server.Bans.Add(new Ban("127.0.0.1", Later));

        await peer.ExpectGoneAsync();
        using RawPeer other = await RawPeer.ConnectAsync(server.Endpoints[0]);
        await other.ExpectGoneAsync();
        Assert.Equal(1, server.Counters.Snapshot().ConnectionsRejectedFor(ConnectionRejection.Banned));
    }

    private static async Task ServeAsync(System.IO.Pipelines.IDuplexPipe pipe)
    {
        System.IO.Pipelines.ReadResult read;
        do
        {
            read = await pipe.Input.ReadAsync();
            pipe.Input.AdvanceTo(read.Buffer.End);
        }
        while (!read.IsCompleted);
    }

    private static void AcceptEverybody(FastPortServerComponents components) =>
        components.Authenticator = static (hello, _) => ValueTask.FromResult(AuthenticationResult.Accept(
            new ClaimsPrincipal(new ClaimsIdentity([new Claim(ClaimTypes.Name, hello.Token)], "test"))));
}
