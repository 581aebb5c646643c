using System.Collections.Concurrent;
using FastPort.Core.Tests.Support;
using FastPort.Sessions;
using Xunit;
using static FastPort.Core.Tests.Routing.RoutingWire;

namespace FastPort.Core.Tests.Routing;

/// <summary>A server whose routing ids are claimed among several, here by a directory of the test.</summary>
public sealed class RoutingIdClaimTests
{
    [Fact]
    public async Task The_welcome_waits_for_the_claim_and_the_id_is_reachable_after_it()
    {
        var directory = new Directory();
        await using TestServer server = await StartAsync(components: c => c.RoutingIdClaims = directory);
        using RawPeer peer = await server.ConnectAsync();
        Task<WireFrame> answer = peer.CallAsync(Wire.HelloRequest(1, "a"));
        Claim claim = await directory.NextAsync();

        Assert.False(answer.IsCompleted);
        Assert.Null(server.Server.Routing.Find("a"));
        claim.Answer(RoutingIdGrant.Granted);

        Assert.False((await answer.InTimeAsync()).IsError);
        await peer.PingAsync();
        Assert.Same(server.Opened[0], server.Server.Routing.Find("a"));
        Assert.Equal(("a", false), (claim.Of.RoutingId, claim.Of.TakesOver));
    }

    [Theory]
    [InlineData(RoutingIdGrant.Taken, 11u)]
    [InlineData(RoutingIdGrant.Unavailable, 13u)]
    public async Task A_claim_that_is_not_granted_is_an_error_after_which_the_peer_may_say_Hello_again(RoutingIdGrant grant, uint code)
    {
        var directory = new Directory();
        await using TestServer server = await StartAsync(components: c => c.RoutingIdClaims = directory);
        using RawPeer peer = await server.ConnectAsync();
        Task<WireFrame> refused = peer.CallAsync(Wire.HelloRequest(1, "a"));
        Claim first = await directory.NextAsync();
        first.Answer(grant);

        Assert.Equal(code, (await refused.InTimeAsync()).ErrorCode);
        Assert.True(directory.IsReleased(first));
        Task<WireFrame> welcome = peer.CallAsync(Wire.HelloRequest(2, "a"));
        (await directory.NextAsync()).Answer(RoutingIdGrant.Granted);

        Assert.False((await welcome.InTimeAsync()).IsError);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_directory_that_throws_is_unavailable(bool cancelsItself)
    {
        var directory = new Directory();
        await using TestServer server = await StartAsync(components: c => c.RoutingIdClaims = directory);
        using RawPeer peer = await server.ConnectAsync();
        Task<WireFrame> answer = peer.CallAsync(Wire.HelloRequest(1, "a"));
        (await directory.NextAsync()).Fail(cancelsItself ? new TaskCanceledException("slow") : new IOException("broken"));

        Assert.Equal(13u, (await answer.InTimeAsync()).ErrorCode);
        Assert.Single(server.Log.WithId(2004));
    }

    [Fact]
    public async Task A_session_whose_claim_cannot_be_given_up_ends_all_the_same()
    {
        var directory = new Directory { ReleaseFails = true };
        await using TestServer server = await StartAsync(components: c => c.RoutingIdClaims = directory);
        using RawPeer peer = await server.ConnectAsync();
        Task<WireFrame> answer = peer.CallAsync(Wire.HelloRequest(1, "a"));
        (await directory.NextAsync()).Answer(RoutingIdGrant.Granted);
        Assert.False((await answer.InTimeAsync()).IsError);
        Task<byte[]> asked = (await server.SessionAsync()).RequestAsync(TestServer.Echo, new byte[1]);

        peer.Reset();

        await server.CloseReasonAsync();
        await Assert.ThrowsAsync<FastPort.RequestFailedException>(() => asked.InTimeAsync());
        Assert.Single(server.Log.WithId(2004));
    }

    [Fact]
    public async Task A_session_that_ends_while_its_claim_is_due_gives_it_up_once()
    {
        var directory = new Directory();
        await using TestServer server = await StartAsync(components: c => c.RoutingIdClaims = directory);
        Claim claim;
        using (RawPeer peer = await server.ConnectAsync())
        {
            await peer.SendAsync(Wire.HelloRequest(1, "a"));
            claim = await directory.NextAsync();
            peer.Reset();
        }

        await server.CloseReasonAsync();
        await Patience.UntilAsync(() => claim.Token.IsCancellationRequested, "the claim is canceled");
        claim.Answer(RoutingIdGrant.Granted);

        Assert.Equal(1, directory.Releases(claim));
        using RawPeer next = await server.ConnectAsync();
        Task<WireFrame> answer = next.CallAsync(Wire.HelloRequest(1, "a"));
        (await directory.NextAsync()).Answer(RoutingIdGrant.Granted);
        Assert.False((await answer.InTimeAsync()).IsError);
    }

    [Fact]
    public async Task A_granted_claim_is_given_up_once_when_its_session_ends()
    {
        var directory = new Directory();
        await using TestServer server = await StartAsync(components: c => c.RoutingIdClaims = directory);
        Claim claim;
        using (RawPeer peer = await server.ConnectAsync())
        {
            Task<WireFrame> answer = peer.CallAsync(Wire.HelloRequest(1, "a"));
            claim = await directory.NextAsync();
            claim.Answer(RoutingIdGrant.Granted);
            await answer.InTimeAsync();
            Assert.False(directory.IsReleased(claim));
        }

        await server.CloseReasonAsync();
        Assert.Equal(1, directory.Releases(claim));
    }

    [Fact]
    public async Task A_take_over_that_is_refused_elsewhere_leaves_the_id_with_the_session_that_has_it()
    {
        var directory = new Directory();
        await using TestServer server = await StartAsync(
            static o => o.DuplicateIdentity = DuplicateIdentityPolicy.TakeOver, c => c.RoutingIdClaims = directory);
        using RawPeer first = await server.ConnectAsync();
        Task<WireFrame> welcome = first.CallAsync(Wire.HelloRequest(1, "a"));
        (await directory.NextAsync()).Answer(RoutingIdGrant.Granted);
        await welcome.InTimeAsync();

        using RawPeer second = await server.ConnectAsync();
        Task<WireFrame> refused = second.CallAsync(Wire.HelloRequest(1, "a"));
        Claim claim = await directory.NextAsync();
        claim.Answer(RoutingIdGrant.Unavailable);

        Assert.True(claim.Of.TakesOver);
        Assert.Equal(13u, (await refused.InTimeAsync()).ErrorCode);
        Assert.Same(server.Opened[0], server.Server.Routing.Find("a"));
        await first.PingAsync();
    }

    [Fact]
    public async Task A_session_that_loses_its_claim_is_closed_as_taken_over()
    {
        var directory = new Directory();
        await using TestServer server = await StartAsync(components: c => c.RoutingIdClaims = directory);
        using RawPeer peer = await server.ConnectAsync();
        Task<WireFrame> welcome = peer.CallAsync(Wire.HelloRequest(1, "a"));
        Claim claim = await directory.NextAsync();
        claim.Answer(RoutingIdGrant.Granted);
        await welcome.InTimeAsync();

        claim.Of.Lose("Another server's session has the id.");

        Assert.Equal(FastPort.CloseKind.TakenOver, (await server.CloseReasonAsync()).Kind);
        Assert.True(claim.Of.IsEnding);
    }

    [Fact]
    public async Task A_closing_session_that_loses_its_claim_still_answers_what_is_in_flight()
    {
        var directory = new Directory();
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(0x1001, async _ => await release.Task), components: c => c.RoutingIdClaims = directory);
        using RawPeer peer = await server.ConnectAsync();
        Task<WireFrame> welcome = peer.CallAsync(Wire.HelloRequest(1, "a"));
        Claim claim = await directory.NextAsync();
        claim.Answer(RoutingIdGrant.Granted);
        await welcome.InTimeAsync();
        await peer.SendAsync(Wire.Request(0x1001, 2), Wire.PingRequest(3));
        Assert.Equal(3u, (await peer.ReadFrameAsync()).Correlation);
        _ = (await server.SessionAsync()).CloseAsync(FastPort.ErrorCode.ShuttingDown, "The server stops.");
        Assert.Equal(Wire.Goodbye, (await peer.ReadFrameAsync()).Type);

        // Its client is connected elsewhere by now.
        claim.Of.Lose("Another server's session has the id.");

        release.SetResult();
        Assert.Equal(2u, (await peer.ReadFrameAsync()).Correlation);
        await peer.ExpectEndAsync();
        Assert.Equal(FastPort.CloseKind.LocalClosed, (await server.CloseReasonAsync()).Kind);
    }

    [Fact]
    public async Task A_claim_without_an_answer_in_the_time_for_the_Hello_is_given_up_and_the_directory_is_named()
    {
        var time = new FakeTimeProvider();
        var directory = new Directory();
        await using TestServer server = await StartAsync(
            options: static o => (o.RequireRoutingId, o.Session.AuthorizationTimeout) = (true, TimeSpan.Zero),
            components: c => (c.RoutingIdClaims, c.Time) = (directory, time));
        using RawPeer peer = await server.ConnectAsync();
        Task<WireFrame> refused = peer.CallAsync(Wire.HelloRequest(1, "a"));
        Claim claim = await directory.NextAsync();

        time.Advance(TimeSpan.FromSeconds(11));

        Assert.Equal(13u, (await refused.InTimeAsync()).ErrorCode);
        await peer.ExpectEndAsync();
        peer.Dispose();
        Assert.Equal("The directory of routing ids did not answer within 10 s.", (await server.CloseReasonAsync()).Message);
        Assert.Single(server.Log.WithId(2008));
        Assert.True(directory.IsReleased(claim));
    }

    [Fact]
    public async Task Sessions_without_an_id_are_not_claimed()
    {
        var directory = new Directory();
        await using TestServer server = await StartAsync(components: c => c.RoutingIdClaims = directory);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SayHelloAsync();

        Assert.Equal(0, directory.Count);
    }

    private sealed class Claim(RoutingIdClaim of, CancellationToken token)
    {
        private readonly TaskCompletionSource<RoutingIdGrant> _grant = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public RoutingIdClaim Of { get; } = of;

        public CancellationToken Token { get; } = token;

        public Task<RoutingIdGrant> Grant => _grant.Task;

        public void Answer(RoutingIdGrant grant) => _grant.SetResult(grant);

        public void Fail(Exception exception) => _grant.SetException(exception);
    }

    private sealed class Directory : IRoutingIdClaims
    {
        private readonly System.Threading.Channels.Channel<Claim> _claims = System.Threading.Channels.Channel.CreateUnbounded<Claim>();
        private readonly ConcurrentQueue<RoutingIdClaim> _released = new();
        private int _count;

        public int Count => _count;

        public ValueTask<RoutingIdGrant> ClaimAsync(RoutingIdClaim claim, CancellationToken cancellationToken)
        {
            Interlocked.Increment(ref _count);
            var made = new Claim(claim, cancellationToken);
            _claims.Writer.TryWrite(made);
            return new ValueTask<RoutingIdGrant>(made.Grant);
        }

        public bool ReleaseFails { get; init; }

        public void Release(RoutingIdClaim claim)
        {
            _released.Enqueue(claim);
            if (ReleaseFails)
            {
                throw new IOException("broken");
            }
        }

        public Task<Claim> NextAsync() => _claims.Reader.ReadAsync(Patience.Token).InTimeAsync();

        public int Releases(Claim claim) => _released.Count(one => one == claim.Of);

        public bool IsReleased(Claim claim) => Releases(claim) == 1;
    }
}
