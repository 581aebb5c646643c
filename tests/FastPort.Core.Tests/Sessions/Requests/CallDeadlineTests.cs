using System.Buffers.Binary;
using System.Globalization;
using System.Text;
using FastPort.Core.Tests.Sessions.Tracing;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Requests;

/// <summary>A call's time limit travels with it, and limits the calls that its handler makes.</summary>
public sealed class CallDeadlineTests
{
    private const ushort TimeLeft = 0x1100;
    private const ushort Forward = 0x1101;
    private const ushort Block = 0x1102;
    private const ushort LeaveBehind = 0x1103;
    private const byte Deadline = 128;
    private const byte Trace = 16;
    private const uint Calls = 8;

    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(7);

    [Fact]
    public async Task A_handler_sees_the_time_that_its_caller_waits()
    {
        await using TestServer server = await TestServer.StartAsync(Register);
        await using FastPortClient client = await ConnectAsync(server);

        Assert.InRange((await LeftAsync(client, TimeLeft, Limit))!.Value, TimeSpan.FromSeconds(1), Limit);
        Assert.InRange((await LeftAsync(client, TimeLeft, timeout: null))!.Value, TimeSpan.FromSeconds(1), TimeSpan.FromMinutes(3));
        Assert.Null(await LeftAsync(client, TimeLeft, TimeSpan.Zero));
    }

    [Fact]
    public async Task A_call_of_a_session_to_its_client_has_a_limit_too()
    {
        await using TestServer server = await TestServer.StartAsync(Register);
        await using FastPortClient client = await ConnectAsync(server, new MessageHandlers().MapQueued(TimeLeft, AnswerTimeLeft));
        Session session = await server.SessionAsync();

        string left = Encoding.UTF8.GetString(await session.RequestAsync(TimeLeft, ReadOnlyMemory<byte>.Empty, Limit));

        Assert.InRange(long.Parse(left, CultureInfo.InvariantCulture), 1, Limit.Ticks);
    }

    [Fact]
    public async Task A_call_that_a_handler_makes_has_at_most_the_time_of_its_caller()
    {
        await using TestServer behind = await TestServer.StartAsync(Register);
        await using FastPortClient toBehind = await ConnectAsync(behind);
        await using TestServer server = await TestServer.StartAsync(handlers => Register(handlers, toBehind));
        await using FastPortClient client = await ConnectAsync(server);

        Assert.InRange((await LeftAsync(client, Forward, TimeSpan.FromMinutes(2)))!.Value, TimeSpan.Zero, TimeSpan.FromMinutes(2));

        // Without a limit, and with a longer one, the call has that of the client that makes it.
        TimeSpan own = (await LeftAsync(client, Forward, TimeSpan.Zero))!.Value;
        Assert.InRange(own, TimeSpan.FromMinutes(2), TimeSpan.FromMinutes(3));
        Assert.InRange((await LeftAsync(client, Forward, TimeSpan.FromHours(1)))!.Value, TimeSpan.FromMinutes(2), TimeSpan.FromMinutes(3));
    }

    [Fact]
    public async Task What_a_handler_leaves_behind_has_no_deadline_once_the_handler_has_ended()
    {
        await using TestServer behind = await TestServer.StartAsync(Register);
        await using FastPortClient toBehind = await ConnectAsync(behind);
        var goOn = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var left = new TaskCompletionSource<TimeSpan?>(TaskCreationOptions.RunContinuationsAsynchronously);
        await using TestServer server = await TestServer.StartAsync(handlers => handlers
            .MapQueued(TimeLeft, AnswerTimeLeft)
            .MapQueued(LeaveBehind, context =>
            {
                _ = LaterAsync();
                return ValueTask.CompletedTask;
            }));
        await using FastPortClient client = await ConnectAsync(server);
        await client.RequestAsync(LeaveBehind, ReadOnlyMemory<byte>.Empty, TimeSpan.FromMinutes(1));

        // The next handler starts when the one before has ended.
        await LeftAsync(client, TimeLeft, timeout: null);
        goOn.SetResult();

        Assert.InRange((await left.Task)!.Value, TimeSpan.FromMinutes(2), TimeSpan.FromMinutes(3));

        async Task LaterAsync()
        {
            await goOn.Task;
            left.SetResult(await LeftAsync(toBehind, TimeLeft, timeout: null));
        }
    }

    [Fact]
    public async Task A_call_after_the_deadline_fails_at_once()
    {
        await using TestServer behind = await TestServer.StartAsync(Register);
        await using FastPortClient toBehind = await ConnectAsync(behind);
        await using TestServer server = await TestServer.StartAsync(handlers => handlers.MapQueued(Forward, async context =>
        {
            await Patience.UntilAsync(() => context.TimeLeft == TimeSpan.Zero, "the deadline has passed");
            RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
                () => toBehind.RequestAsync(TimeLeft, ReadOnlyMemory<byte>.Empty));
            context.Reply(Encoding.UTF8.GetBytes($"{failure.Failure}: {failure.Message}"));
        }));
        using RawPeer peer = await server.ConnectAsync();
        await peer.NegotiateAsync(Calls);

        // The deadline must not pass before the handler starts, which is answered with an error.
        WireFrame reply;
        uint milliseconds = 1;
        do
        {
            reply = await peer.CallAsync(Limited(Forward, 7, milliseconds));
            milliseconds *= 2;
        }
        while (reply.IsError && milliseconds < 60_000);

        Assert.StartsWith("TimedOut: The deadline of the request", Encoding.UTF8.GetString(reply.Body), StringComparison.Ordinal);
        Assert.Equal(0, behind.Opened[0].MessagesReceived - 1);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_request_whose_deadline_passed_while_it_waited_is_not_run(bool beginsOnLoop)
    {
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int runs = 0;
        await using TestServer server = await TestServer.StartAsync(handlers => handlers
            .MapQueued(Block, async context => await release.Task)
            .MapQueued(
                Forward,
                context =>
                {
                    Interlocked.Increment(ref runs);
                    return ValueTask.CompletedTask;
                },
                beginsOnLoop: beginsOnLoop));
        using RawPeer peer = await server.ConnectAsync();
        await peer.NegotiateAsync(Calls);

        await peer.SendAsync(
            Limited(Forward, 8, milliseconds: 0), Wire.Request(Block, 9), Limited(Forward, 10, milliseconds: 1),
            Limited(Forward, 11, milliseconds: 3_600_000));
        WireFrame first = await peer.ReadFrameAsync();
        Session session = await server.SessionAsync();
        await Patience.UntilAsync(() => session.MessagesReceived == 5, "all have arrived");
        long arrived = MonotonicClock.Nanoseconds;
        await Patience.UntilAsync(() => MonotonicClock.Nanoseconds > arrived + 1_000_000, "the deadline has passed");
        release.SetResult();
        WireFrame[] others = [await peer.ReadFrameAsync(), await peer.ReadFrameAsync(), await peer.ReadFrameAsync()];

        Assert.Equal((8u, (byte)(Wire.Reply | Wire.Error), 7u), (first.Correlation, first.Flags, first.ErrorCode));
        Assert.Equal([9u, 10u, 11u], others.Select(static frame => frame.Correlation).Order());
        WireFrame late = others.Single(static frame => frame.Correlation == 10);
        Assert.Equal(7u, late.ErrorCode);
        Assert.Contains("it was not run", late.TextAt(2), StringComparison.Ordinal);
        Assert.Equal(1, runs);
        await peer.PingAsync();
    }

    [Theory]
    [InlineData(Deadline, 3u)]
    [InlineData(Deadline | Wire.OneWay, 8u)]
    [InlineData(Deadline | Wire.Reply, 8u)]
    public async Task The_flag_is_malformed_without_agreement_and_on_other_frames_than_requests(byte flags, uint extensions)
    {
        await using TestServer server = await TestServer.StartAsync(Register);
        using RawPeer peer = await server.ConnectAsync();
        await peer.NegotiateAsync(extensions);

        await peer.SendAsync(Wire.Frame(TimeLeft, flags, 7, [1, 0, 0, 0]));

        WireFrame error = await peer.ReadFrameAsync();
        Assert.Equal((0u, 1u), (error.Correlation, error.ErrorCode));
        await peer.ExpectEndAsync();
    }

    [Fact]
    public async Task The_block_is_behind_the_trace_block_and_not_part_of_the_body()
    {
        await using TestServer server = await TestServer.StartAsync(Register);
        using RawPeer peer = await server.ConnectAsync();
        await peer.NegotiateAsync(Calls | 1);
        byte[] trace = new byte[25];

        WireFrame echoed = await peer.CallAsync(Wire.Frame(TestServer.Echo, Trace | Deadline, 7, [.. trace, 9, 0, 0, 0, 1, 2, 3]));

        Assert.Equal([1, 2, 3], echoed.Body);
    }

    [Fact]
    public async Task A_peer_that_has_not_agreed_gets_requests_without_the_block()
    {
        await using TestServer server = await TestServer.StartAsync(Register);
        using RawPeer peer = await server.ConnectAsync();
        await peer.NegotiateAsync(3);
        Session session = await server.SessionAsync();

        Task<byte[]> call = session.RequestAsync(TestServer.Echo, new byte[] { 1, 2, 3 }, Limit);
        WireFrame request = await peer.ReadFrameAsync();
        await peer.SendAsync(Wire.Frame(TestServer.Echo, Wire.Reply, request.Correlation, [4]));

        Assert.Equal((0, 3), (request.Flags, request.Body.Length));
        Assert.Equal([4], await call);
    }

    private static void Register(MessageHandlers handlers) => handlers.MapQueued(TimeLeft, AnswerTimeLeft);

    private static void Register(MessageHandlers handlers, FastPortClient behind) => handlers.MapQueued(
        Forward,
        async context => context.Reply(await behind.RequestAsync(TimeLeft, ReadOnlyMemory<byte>.Empty)));

    private static ValueTask AnswerTimeLeft(RequestContext context)
    {
        string ticks = context.TimeLeft?.Ticks.ToString(CultureInfo.InvariantCulture) ?? "";
        context.Reply(Encoding.UTF8.GetBytes(ticks));
        return ValueTask.CompletedTask;
    }

    private static async Task<TimeSpan?> LeftAsync(FastPortClient client, ushort type, TimeSpan? timeout)
    {
        string ticks = Encoding.UTF8.GetString(await client.RequestAsync(type, ReadOnlyMemory<byte>.Empty, timeout));
        return ticks.Length == 0 ? null : TimeSpan.FromTicks(long.Parse(ticks, CultureInfo.InvariantCulture));
    }

    private static async Task<FastPortClient> ConnectAsync(TestServer server, MessageHandlers? handlers = null)
    {
        var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = server.Endpoint.ToString(), RequestTimeout = TimeSpan.FromMinutes(3) }, handlers);
        await client.ConnectAsync();
        return client;
    }

    private static byte[] Limited(ushort type, uint correlation, uint milliseconds)
    {
        byte[] block = new byte[4];
        BinaryPrimitives.WriteUInt32LittleEndian(block, milliseconds);
        return Wire.Frame(type, Deadline, correlation, block);
    }
}
