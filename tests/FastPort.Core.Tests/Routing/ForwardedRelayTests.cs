using FastPort.Core.Tests.Support;
using FastPort.Framing;
using FastPort.Routing;
using Xunit;
using static FastPort.Core.Tests.Routing.RoutingWire;

namespace FastPort.Core.Tests.Routing;

/// <summary>Relays that a router forwards, and confirms later.</summary>
public sealed class ForwardedRelayTests
{
    [Theory]
    [InlineData(SendStatus.Queued, 0u)]
    [InlineData(SendStatus.NotFound, 12u)]
    [InlineData(SendStatus.Dropped, 8u)]
    [InlineData(SendStatus.TooLarge, 4u)]
    [InlineData(SendStatus.Unavailable, 13u)]
    [InlineData(SendStatus.Unconfirmed, 7u)]
    [InlineData(SendStatus.Full, 7u)]
    public async Task A_relay_is_answered_when_its_router_confirms_it(SendStatus status, uint code)
    {
        var router = new ForwardingRouter();
        await using TestServer server = await StartAsync(components: c => c.Router = _ => router);
        using RawPeer a = await server.ConnectAsync("a");
        await a.SendAsync(RelayRequest(7, "far", [1]));
        TaskCompletionSource<SendStatus> sent = await router.NextAsync();

        // The sender is served meanwhile.
        await a.PingAsync();
        sent.SetResult(status);

        WireFrame answer = await a.ReadFrameAsync();
        Assert.Equal((Relay, 7u, code), (answer.Type, answer.Correlation, answer.IsError ? answer.ErrorCode : 0));
        Assert.Equal(status == SendStatus.Queued ? (1, 0) : (0, 1), (server.Counts.Relayed, server.Counts.RelaysFailed));
    }

    [Fact]
    public async Task A_router_that_fails_later_is_answered_and_harms_nobody()
    {
        var router = new ForwardingRouter();
        await using TestServer server = await StartAsync(components: c => c.Router = _ => router);
        using RawPeer a = await server.ConnectAsync("a");
        await a.SendAsync(RelayRequest(7, "far", [1]));

        (await router.NextAsync()).SetException(new IOException("The link is gone."));

        WireFrame answer = await a.ReadFrameAsync();
        Assert.Equal((7u, 9u), (answer.Correlation, answer.ErrorCode));
        Assert.Single(server.Log.WithId(2003));
        await server.Server.StopAsync(CancellationToken.None).InTimeAsync();
    }

    [Fact]
    public async Task As_many_wait_as_may_and_the_next_is_read_when_one_was_answered()
    {
        var router = new ForwardingRouter();
        await using TestServer server = await StartAsync(static o => o.Session.MaxInFlightRequests = 2, c => c.Router = _ => router);
        using RawPeer a = await server.ConnectAsync("a");
        await a.SendAsync(RelayRequest(1, "far", []), RelayRequest(2, "far", []), RelayRequest(3, "far", []), Wire.PingRequest(4));
        TaskCompletionSource<SendStatus> first = await router.NextAsync();
        TaskCompletionSource<SendStatus> second = await router.NextAsync();
        Assert.Equal(2, router.Count);

        second.SetResult(SendStatus.Queued);

        Assert.Equal(2u, (await a.ReadFrameAsync()).Correlation);
        TaskCompletionSource<SendStatus> third = await router.NextAsync();
        Assert.Equal(4u, (await a.ReadFrameAsync()).Correlation);
        first.SetResult(SendStatus.Queued);
        Assert.Equal(1u, (await a.ReadFrameAsync()).Correlation);
        third.SetResult(SendStatus.NotFound);
        Assert.Equal(3u, (await a.ReadFrameAsync()).Correlation);
    }

    [Fact]
    public async Task One_that_has_waited_for_a_place_waits_for_its_target_no_longer_than_others()
    {
        var router = new ForwardingRouter();
        var time = new FakeTimeProvider();
        await using TestServer server = await StartAsync(
            static o => (o.Session.MaxInFlightRequests, o.Routing.RelayTimeout) = (1, TimeSpan.FromSeconds(5)),
            c => (c.Router, c.Time) = (_ => router, time));
        using RawPeer a = await server.ConnectAsync("a");
        Session session = await server.SessionAsync();
        long before = session.Connection.BytesReceived;
        byte[] both = [.. RelayRequest(1, "far", []), .. RelayRequest(2, "full", [])];
        await a.SendAsync(both);
        TaskCompletionSource<SendStatus> first = await router.NextAsync();
        await Patience.UntilAsync(() => session.Connection.BytesReceived == before + both.Length, "both have arrived");
        server.Settle();
        Assert.Equal(0, server.Counts.RelaysWaited);

        first.SetResult(SendStatus.Queued);
        await a.ExpectEmptyReplyAsync(Relay, 1);
        await Patience.UntilAsync(() => server.Counts.RelaysWaited == 1, "the second waits for its target");
        Task<WireFrame> answer = a.ReadFrameAsync();
        time.Advance(TimeSpan.FromSeconds(4.9));
        Assert.False(answer.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(0.3));

        WireFrame error = await answer;
        Assert.Equal((Relay, 2u, 7u), (error.Type, error.Correlation, error.ErrorCode));
    }

    [Fact]
    public async Task A_stop_waits_for_the_answer()
    {
        var router = new ForwardingRouter();
        await using TestServer server = await StartAsync(components: c => c.Router = _ => router);
        using RawPeer a = await server.ConnectAsync("a");
        await a.SendAsync(RelayRequest(7, "far", [1]));
        TaskCompletionSource<SendStatus> sent = await router.NextAsync();

        Task stop = server.Server.StopAsync(CancellationToken.None);
        Assert.Equal(Wire.Goodbye, (await a.ReadFrameAsync()).Type);
        sent.SetResult(SendStatus.Queued);

        await a.ExpectEmptyReplyAsync(Relay, 7);
        await stop.InTimeAsync();
    }

    [Fact]
    public async Task A_confirmation_after_the_end_of_the_session_does_nothing()
    {
        var router = new ForwardingRouter();
        await using TestServer server = await StartAsync(components: c => c.Router = _ => router);
        TaskCompletionSource<SendStatus> sent;
        using (RawPeer a = await server.ConnectAsync("a"))
        {
            await a.SendAsync(RelayRequest(7, "far", [1]));
            sent = await router.NextAsync();
            a.Reset();
        }

        await server.CloseReasonAsync();
        sent.SetResult(SendStatus.Queued);

        using RawPeer b = await server.ConnectAsync("a");
        await b.PingAsync();
    }

    [Fact]
    public async Task A_program_learns_what_became_of_its_message_on_a_thread_of_the_pool()
    {
        var router = new ForwardingRouter();
        await using TestServer server = await StartAsync(components: c => c.Router = _ => router);
        ValueTask<SendStatus> sending = server.Server.Routing.TrySendToAsync("far", 0x1000, new Nothing());
        TaskCompletionSource<SendStatus> sent = await router.NextAsync();
        sent.SetResult(SendStatus.Unconfirmed);

        Assert.Equal(SendStatus.Unconfirmed, await sending.InTimeAsync());
    }

    [Theory]
    [InlineData(SendStatus.Unconfirmed, "unknown")]
    [InlineData(SendStatus.Unavailable, "sent again")]
    public async Task A_program_that_does_not_want_a_status_is_told_whether_its_message_may_have_been_delivered(
        SendStatus status, string said)
    {
        var router = new ForwardingRouter();
        await using TestServer server = await StartAsync(components: c => c.Router = _ => router);
        ValueTask sending = server.Server.Routing.SendToAsync("far", 0x1000, new Nothing());
        (await router.NextAsync()).SetResult(status);

        SendFailedException failure = await Assert.ThrowsAsync<SendFailedException>(() => sending.AsTask());

        Assert.Equal(status, failure.Status);
        Assert.Equal(status == SendStatus.Unavailable, failure.Message.Contains("not sent", StringComparison.Ordinal));
        Assert.Contains(said, failure.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(2, "had no room for 2 s")]
    [InlineData(0, "had no room in time")]
    public async Task The_answer_says_how_long_a_full_target_was_waited_for_where_this_server_knows(int timeout, string said)
    {
        var router = new ForwardingRouter();
        await using TestServer server = await StartAsync(
            o => o.Routing.RelayTimeout = TimeSpan.FromSeconds(timeout), c => c.Router = _ => router);
        using RawPeer a = await server.ConnectAsync("a");
        await a.SendAsync(RelayRequest(7, "far", [1]));
        (await router.NextAsync()).SetResult(SendStatus.Full);

        Assert.Contains(said, (await a.ReadFrameAsync()).TextAt(2), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_confirmation_that_comes_at_once_does_not_end_a_session_before_its_other_answers()
    {
        await using TestServer server = await StartAsync(components: static c => c.Router = static _ => new Prompt());
        using RawPeer a = await server.ConnectAsync("a");

        // The session ends when no work is under way any more: a confirmation that is counted twice ends it at the Goodbye.
        await a.SendAsync(RelayRequest(7, "far", [1]), Wire.GoodbyePost(), Wire.PingRequest(8));

        await a.ExpectEmptyReplyAsync(Relay, 7);
        Assert.Equal(8u, (await a.ReadFrameAsync()).Correlation);
        await a.ExpectEndAsync();
    }

    // Is not complete when it is asked, and is when somebody waits for it.
    private sealed class Prompt : IMessageRouter, System.Threading.Tasks.Sources.IValueTaskSource<SendStatus>
    {
        public SendStatus TrySend<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
            where TBody : IFrameBody, allows ref struct => SendStatus.Queued;

        public ValueTask<SendStatus> SendAsync<TBody>(scoped ReadOnlySpan<byte> routingId, ushort type, scoped in TBody body)
            where TBody : IFrameBody, allows ref struct => new(this, 0);

        public Task WhenWritableAsync(scoped ReadOnlySpan<byte> routingId, CancellationToken cancellationToken = default) =>
            Task.CompletedTask;

        public int Publish<TBody>(scoped ReadOnlySpan<byte> topic, TopicAudience audience, ushort type, scoped in TBody body, ref int next)
            where TBody : IFrameBody, allows ref struct => 0;

        public SendStatus GetResult(short token) => SendStatus.Queued;

        public System.Threading.Tasks.Sources.ValueTaskSourceStatus GetStatus(short token) =>
            System.Threading.Tasks.Sources.ValueTaskSourceStatus.Pending;

        public void OnCompleted(
            Action<object?> continuation, object? state, short token, System.Threading.Tasks.Sources.ValueTaskSourceOnCompletedFlags flags)
            => continuation(state);
    }

    private readonly struct Nothing : IFrameBody
    {
        public int Size => 0;

        public void Write(Span<byte> destination)
        {
        }
    }
}
