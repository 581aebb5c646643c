using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Requests;

/// <summary>A server asks its client and awaits the answer; a session closes, and is awaited.</summary>
public sealed class SessionRequestTests
{
    private const ushort Ask = 0x2000;
    private static readonly byte[] Question = [1, 2, 3];

    [Fact]
    public async Task A_server_asks_its_client()
    {
        await using TestServer server = await TestServer.StartAsync();
        MessageHandlers answers = new MessageHandlers()
            .MapInline(Ask, static (ref InlineRequest request) => request.Reply(new SequenceBody(request.Body)), "Answer")
            .MapQueued(Ask + 1, static _ => throw new RequestRefusedException(ErrorCode.Unavailable, "not now"));
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint.ToString() }, answers);
        await client.ConnectAsync(Patience.Token);
        Session session = await server.SessionAsync();

        Assert.Equal(Question, await session.RequestAsync(Ask, Question, cancellationToken: Patience.Token));
        int sum = await session.RequestAsync(
            Ask, new SequenceBody(new(Question)), static (scoped in InboundReply reply) =>
                (int)reply.Body.Length, cancellationToken: Patience.Token);
        Assert.Equal(3, sum);
        var refused = await Assert.ThrowsAsync<RequestFailedException>(
            () => session.RequestAsync(Ask + 1, Question, cancellationToken: Patience.Token));
        Assert.Equal((ErrorCode.Unavailable, null), (refused.Code, refused.Failure));
        var tooLarge = await Assert.ThrowsAsync<ArgumentException>(() => session.RequestAsync(Ask, new byte[2_000_000]));
        Assert.Contains("2000000 bytes", tooLarge.Message, StringComparison.Ordinal);
        Assert.Equal(0, session.OutstandingRequests);
    }

    [Fact]
    public async Task A_peer_that_has_not_said_Hello_is_not_asked()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await peer.PingAsync();
        Session session = await server.SessionAsync();

        var failure = await Assert.ThrowsAsync<RequestFailedException>(() => session.RequestAsync(Ask, Question));

        Assert.Equal(RequestFailure.NotReady, failure.Failure);
        await peer.PingAsync();
    }

    [Fact]
    public async Task A_request_times_out_and_is_canceled_and_the_peer_is_told()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(components: h => h.Time = time);
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        using var canceled = new CancellationTokenSource();
        Task<byte[]> first = session.RequestAsync(Ask, Question, TimeSpan.FromSeconds(2));
        Task<byte[]> second = session.RequestAsync(Ask, Question, TimeSpan.Zero, canceled.Token);
        uint firstNumber = (await peer.ReadFrameAsync()).Correlation;
        uint secondNumber = (await peer.ReadFrameAsync()).Correlation;

        await canceled.CancelAsync();

        var told = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => second.InTimeAsync());
        Assert.Equal(canceled.Token, told.CancellationToken);
        Assert.Equal((Wire.Cancel, secondNumber), await NextCancelAsync());
        time.Advance(TimeSpan.FromSeconds(3));
        var failure = await Assert.ThrowsAsync<RequestFailedException>(() => first.InTimeAsync());
        Assert.Equal((RequestFailure.TimedOut, ErrorCode.Timeout), (failure.Failure, failure.Code));
        Assert.Equal((Wire.Cancel, firstNumber), await NextCancelAsync());

        async Task<(ushort Type, uint Number)> NextCancelAsync()
        {
            WireFrame frame = await peer.ReadFrameAsync();
            return (frame.Type, (uint)frame.NumberAt(1));
        }
    }

    [Fact]
    public async Task A_lost_session_fails_what_was_asked_and_takes_no_more()
    {
        await using TestServer server = await TestServer.StartAsync();
        Session session;
        Task<byte[]> asked;
        using (RawPeer peer = await server.ConnectKnownAsync())
        {
            session = await server.SessionAsync();
            asked = session.RequestAsync(Ask, Question);
            await peer.ReadFrameAsync();
        }

        Assert.Equal(RequestFailure.ConnectionLost, (await Assert.ThrowsAsync<RequestFailedException>(() => asked.InTimeAsync())).Failure);
        await session.Closed.InTimeAsync();
        Assert.Equal(
            RequestFailure.Closed, (await Assert.ThrowsAsync<RequestFailedException>(() => session.RequestAsync(Ask, Question))).Failure);
    }

    [Fact]
    public async Task A_close_answers_what_is_in_flight_and_tells_its_reason()
    {
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestServer server = await TestServer.StartAsync(h => h.MapQueued(Ask, async context =>
        {
            await release.Task;
            context.Reply(Question);
        }));
        using RawPeer peer = await server.ConnectKnownAsync();
        await peer.SendAsync(Wire.Request(Ask, 7));
        Session session = await server.SessionAsync();
        await Patience.UntilAsync(() => session.MessagesReceived == 2, "the request came");

        Task<CloseReason> close = session.CloseAsync(ErrorCode.Overloaded, "enough");

        WireFrame goodbye = await peer.ReadFrameAsync();
        Assert.Equal((Wire.Goodbye, (uint)ErrorCode.Overloaded), (goodbye.Type, goodbye.ErrorCode));
        Assert.False(close.IsCompleted);
        release.SetResult();
        Assert.Equal(Question, (await peer.ReadFrameAsync()).Body);
        await peer.ExpectEndAsync();
        peer.Dispose();
        CloseReason reason = await close.InTimeAsync();
        Assert.Equal((CloseKind.LocalClosed, "enough", ErrorCode.Overloaded), (reason.Kind, reason.Message, reason.GetErrorCode()));
    }

    [Fact]
    public async Task A_close_that_is_canceled_ends_at_once()
    {
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(Ask, static context => new ValueTask(Task.Delay(Timeout.Infinite, context.Aborted))));
        using RawPeer peer = await server.ConnectKnownAsync();
        await peer.SendAsync(Wire.Request(Ask, 7));
        Session session = await server.SessionAsync();
        await Patience.UntilAsync(() => session.MessagesReceived == 2, "the request came");
        using var canceled = new CancellationTokenSource();
        Task<CloseReason> close = session.CloseAsync(cancellationToken: canceled.Token);
        Assert.Equal(Wire.Goodbye, (await peer.ReadFrameAsync()).Type);
        Assert.False(close.IsCompleted);

        await canceled.CancelAsync();

        Assert.Equal(CloseKind.LocalClosed, (await close.InTimeAsync()).Kind);
        await peer.ExpectGoneAsync();
    }
}
