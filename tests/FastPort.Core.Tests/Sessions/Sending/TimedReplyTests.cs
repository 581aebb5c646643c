using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Sending;

/// <summary>The frame limit applies to a length less the timing block, wherever a session has asked for one.</summary>
public sealed class TimedReplyTests
{
    private const int Limit = 4096;
    private const int MaxBodyBytes = Limit - 8;

    [Fact]
    public async Task A_reply_of_the_limit_with_its_timing_block_is_accepted_by_the_session_that_asked_for_it()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.MaxFrameBytes = Limit);
        using RawPeer peer = await server.ConnectKnownAsync();
        var pending = new CountedReply();

        await AskAsync(server, peer, pending, timing: true);
        await peer.SendAsync(Wire.Frame(0x1234, Wire.Reply | Wire.Timing, 1, [.. new byte[FrameTiming.Size], .. Wire.Bytes(MaxBodyBytes)]));

        Assert.Equal(MaxBodyBytes, await pending.Bytes.InTimeAsync());
        await peer.PingAsync();
    }

    [Theory]
    [InlineData(true, FrameTiming.Size + MaxBodyBytes + 1)]
    [InlineData(false, FrameTiming.Size + MaxBodyBytes)]
    public async Task A_reply_over_the_limit_or_with_a_block_nobody_asked_for_is_refused(bool timing, int bytes)
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Session.MaxFrameBytes = Limit);
        using RawPeer peer = await server.ConnectKnownAsync();
        var pending = new CountedReply();

        await AskAsync(server, peer, pending, timing);
        await peer.SendAsync(Wire.Frame(0x1234, Wire.Reply | Wire.Timing, 1, Wire.Bytes(bytes)));

        Assert.Equal((uint)ErrorCode.FrameTooLarge, (await peer.ReadFrameAsync()).ErrorCode);
        await peer.ExpectEndAsync();
        await Assert.ThrowsAsync<InvalidOperationException>(() => pending.Bytes.InTimeAsync());
    }

    private static async Task AskAsync(TestServer server, RawPeer peer, PendingReply pending, bool timing)
    {
        Session session = await server.SessionAsync();
        var body = new EmptyBody();
        Assert.Equal(SendStatus.Queued, session.TryRequest(0x1234, in body, pending, timing, TimeSpan.Zero, out uint correlation));
        Assert.Equal(1u, correlation);
        Assert.Equal(timing ? Wire.Timing : 0, (await peer.ReadFrameAsync()).Flags);
    }

    private sealed class CountedReply : PendingReply
    {
        private readonly TaskCompletionSource<long> _bytes = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task<long> Bytes => _bytes.Task;

        protected internal override void OnReply(scoped in InboundReply reply) => _bytes.SetResult(reply.Body.Length);

        protected internal override void OnFailed(RequestFailure failure, string message) =>
            _bytes.SetException(new InvalidOperationException(message));
    }
}
