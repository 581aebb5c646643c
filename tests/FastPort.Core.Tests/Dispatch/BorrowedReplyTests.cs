using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Dispatch;

public sealed class BorrowedReplyTests
{
    private const ushort Type = 0x1001;
    private const int Large = 64 * 1024;

    [Theory]
    [InlineData(true, 0)]
    [InlineData(true, 100)]
    [InlineData(true, Large)]
    [InlineData(false, 0)]
    [InlineData(false, 100)]
    [InlineData(false, Large)]
    public async Task The_reply_has_its_body_and_a_timing_block_that_is_right(bool inline, int size)
    {
        var lent = new BorrowedBuffer(size);
        long started = MonotonicClock.Nanoseconds;
        await using TestServer server = await StartAsync(inline, lent);
        using RawPeer peer = await server.ConnectAsync();

        WireFrame reply = await peer.CallAsync(Wire.Request(Type, 5, flags: Wire.Timing));

        Assert.Equal((Type, Wire.Reply | Wire.Timing, 5u), (reply.Type, reply.Flags, reply.Correlation));
        Assert.Equal(Wire.Bytes(size), reply.Body);
        Assert.InRange((long)reply.Received, started, (long)reply.Sent);
        Assert.InRange((long)reply.Sent, (long)reply.Received, MonotonicClock.Nanoseconds);
        await Patience.UntilAsync(() => lent.Releases != 0, "the body was released");
        await peer.PingAsync();
        Assert.Equal(1, lent.Releases);
    }

    [Fact]
    public async Task The_reply_of_a_handler_that_has_awaited_leaves_too()
    {
        var lent = new BorrowedBuffer(Large);
        await using TestServer server = await TestServer.StartAsync(h => h.MapQueued(Type, async c =>
        {
            await Task.Yield();
            c.ReplyBorrowed(lent.Bytes, BorrowedBuffer.Release, lent);
        }));
        using RawPeer peer = await server.ConnectAsync();

        Assert.Equal(Wire.Bytes(Large), (await peer.CallAsync(Wire.Request(Type, 5))).Body);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_body_over_the_limit_becomes_an_error_and_is_released(bool inline)
    {
        var lent = new BorrowedBuffer(200_000);
        await using TestServer server = await StartAsync(inline, lent, 100_000);
        using RawPeer peer = await server.ConnectAsync();

        WireFrame reply = await peer.CallAsync(Wire.Request(Type, 5));

        Assert.True(reply.IsError);
        Assert.Equal((uint)ErrorCode.ReplyTooLarge, reply.ErrorCode);
        await Patience.UntilAsync(() => lent.Releases != 0, "the body was released");
        Assert.Equal(1, lent.Releases);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_one_way_message_gets_no_reply_and_the_body_is_released(bool inline)
    {
        var lent = new BorrowedBuffer(Large);
        await using TestServer server = await StartAsync(inline, lent);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Post(Type));

        await Patience.UntilAsync(() => lent.Releases != 0, "the body was released");
        await peer.PingAsync();
        Assert.Equal(1, lent.Releases);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_second_answer_throws_and_leaves_its_body_with_the_caller(bool inline)
    {
        var first = new BorrowedBuffer(Large);
        var second = new BorrowedBuffer(Large);
        var thrown = new TaskCompletionSource<Exception?>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestServer server = await TestServer.StartAsync(h => _ = inline
            ? h.MapInline(Type, (ref InlineRequest r) =>
            {
                r.ReplyBorrowed(first.Bytes, BorrowedBuffer.Release, first);
                try
                {
                    r.ReplyBorrowed(second.Bytes, BorrowedBuffer.Release, second);
                    thrown.SetResult(null);
                }
                catch (InvalidOperationException e)
                {
                    thrown.SetResult(e);
                }
            })
            : h.MapQueued(Type, c =>
            {
                c.ReplyBorrowed(first.Bytes, BorrowedBuffer.Release, first);
                thrown.SetResult(Record.Exception(() => c.ReplyBorrowed(second.Bytes, BorrowedBuffer.Release, second)));
                return ValueTask.CompletedTask;
            }));
        using RawPeer peer = await server.ConnectAsync();

        Assert.Equal(Wire.Bytes(Large), (await peer.CallAsync(Wire.Request(Type, 5))).Body);

        Assert.Contains(
            "answer it once", Assert.IsType<InvalidOperationException>(await thrown.Task.InTimeAsync()).Message, StringComparison.Ordinal);
        Assert.Equal(0, second.Releases);
    }

    private static Task<TestServer> StartAsync(bool inline, BorrowedBuffer lent, int maxFrameBytes = FrameLimits.Default) =>
        TestServer.StartAsync(
        h => _ = inline
            ? h.MapInline(Type, (ref InlineRequest r) => r.ReplyBorrowed(lent.Bytes, BorrowedBuffer.Release, lent))
            : h.MapQueued(Type, c =>
            {
                c.ReplyBorrowed(lent.Bytes, BorrowedBuffer.Release, lent);
                return ValueTask.CompletedTask;
            }),
        o => o.Session.MaxFrameBytes = maxFrameBytes);
}
