using System.Security.Claims;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
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

    [Fact]
    public async Task A_ban_that_comes_while_a_connection_is_admitted_closes_it()
    {
        var time = new InterruptingTime();
        var bans = new BanList(time);
        bans.Add(new Ban("192.0.2.1", Later));
        await using TestServer server = await TestServer.StartAsync(components: c => c.Bans = bans);

        // Called by the look-up of the admission, which does not see this ban any more.
        time.Interrupt(() => bans.Add(new Ban("127.0.0.1", Later)));
        using RawPeer peer = await server.ConnectAsync();

        await peer.ExpectGoneAsync();
        Assert.Equal(0, server.Counts.ConnectionsRejectedFor(ConnectionRejection.Banned));
    }

    [Fact]
    public async Task A_ban_that_comes_while_a_proxys_connection_gets_its_protocol_closes_it()
    {
        using var blocked = new SemaphoreSlim(0);
        using var goOn = new SemaphoreSlim(0);
        var staged = new TaskCompletionSource();
        int stages = 0;
        await using TestServer server = await TestServer.StartAsync(
            handlers => handlers.MapInline(0x1001, (ref InlineRequest _) =>
            {
                blocked.Release();
                goOn.Wait(TimeSpan.FromSeconds(30));
            }),
            options =>
            {
                options.Loops = 1;
                options.TrustedProxies = ["127.0.0.0/8"];
            },
            components => components.Stages.Add(async (connection, _) =>
            {
                if (Interlocked.Increment(ref stages) == 2)
                {
                    await staged.Task;
                }

                return connection;
            }));
        using RawPeer other = await server.ConnectAsync();
        await other.SendAsync("PROXY TCP4 192.0.2.8 192.0.2.1 4711 6628\r\n"u8.ToArray(), Wire.PingRequest(1));
        await other.ReadFrameAsync();
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync("PROXY TCP4 192.0.2.7 192.0.2.1 4711 6628\r\n"u8.ToArray());
        await Patience.UntilAsync(() => Volatile.Read(ref stages) == 2, "the header was read");

        // While a handler holds the loop, the connection gets no protocol.
        await other.SendAsync(Wire.Post(0x1001));
        Assert.True(await blocked.WaitAsync(TimeSpan.FromSeconds(30), Patience.Token));
        staged.SetResult();
        await Patience.UntilAsync(() => server.Server.ConnectionsInStages == 0, "its stages have ended");
        server.Server.Bans.Add(new Ban("192.0.2.7", Later));
        goOn.Release();

        await peer.ExpectGoneAsync();
        await other.PingAsync();
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

    /// <summary>Does something once when it is asked for the time.</summary>
    private sealed class InterruptingTime : TimeProvider
    {
        private Action? _once;

        public void Interrupt(Action once) => Volatile.Write(ref _once, once);

        public override DateTimeOffset GetUtcNow()
        {
            Interlocked.Exchange(ref _once, null)?.Invoke();
            return base.GetUtcNow();
        }
    }
}
