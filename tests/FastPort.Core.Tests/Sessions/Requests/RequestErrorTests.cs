using FastPort.Core.Tests.Support;
using FastPort.Framing;
using FastPort.Sessions;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Requests;

/// <summary>Errors of one request: the session lives.</summary>
public sealed class RequestErrorTests
{
    private const ushort Throws = 0x1010;
    private const ushort QueuedThrows = 0x1011;
    private const ushort Big = 0x1012;
    private const ushort QueuedBig = 0x1013;
    private const ushort Fails = 0x1014;
    private const ushort BodyThrows = 0x1015;
    private const ushort QueuedBodyThrows = 0x1016;
    private const ushort LongMessage = 0x1017;
    private const ushort AnswersThenThrows = 0x1018;

    [Theory]
    [InlineData(0x2222, 3u)]
    [InlineData(0x0000, 3u)]
    [InlineData(0x0004, 3u)]
    [InlineData(Wire.Goodbye, 4u)]
    [InlineData(Wire.Cancel, 4u)]
    [InlineData(Throws, 9u)]
    [InlineData(QueuedThrows, 9u)]
    [InlineData(Big, 14u)]
    [InlineData(QueuedBig, 14u)]
    [InlineData(Fails, 12u)]
    [InlineData(BodyThrows, 9u)]
    [InlineData(QueuedBodyThrows, 9u)]
    [InlineData(LongMessage, 13u)]
    public async Task A_failed_request_is_answered_with_type_and_correlation_and_the_session_lives(ushort type, uint code)
    {
        await using TestServer server = await TestServer.StartAsync(Register, static o => o.Session.MaxFrameBytes = 1024);
        using RawPeer peer = await server.ConnectAsync();
        byte[] body = [0x0A, 0x09];

        WireFrame plain = await peer.CallAsync(Wire.Request(type, 0xFFFF_FFFF, body));
        WireFrame timed = await peer.CallAsync(Wire.Request(type, 5, body, Wire.Timing));

        Assert.Equal((type, 3, 0xFFFF_FFFF, code), (plain.Type, plain.Flags, plain.Correlation, plain.ErrorCode));
        Assert.Equal((type, 11, 5u, code), (timed.Type, timed.Flags, timed.Correlation, timed.ErrorCode));
        Assert.True(timed.Sent >= timed.Received && timed.Received > 0);
        Assert.NotEmpty(plain.TextAt(2));
        Assert.DoesNotContain("defect", plain.TextAt(2), StringComparison.OrdinalIgnoreCase);
        await peer.PingAsync();
        Assert.Equal(2, server.Counts.ErrorsSentWith(code));
    }

    [Theory]
    [InlineData(0x2222, 3u)]
    [InlineData(Wire.Goodbye, 4u)]
    [InlineData(Wire.Cancel, 4u)]
    [InlineData(Throws, 9u)]
    [InlineData(QueuedThrows, 9u)]
    [InlineData(Fails, 12u)]
    public async Task A_failed_one_way_message_is_counted_with_its_code_and_nothing_is_sent(ushort type, uint code)
    {
        await using TestServer server = await TestServer.StartAsync(Register);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Post(type, [0x0A, 0x09]), Wire.Frame(type, Wire.OneWay | Wire.Timing, 7, [0x0A, 0x09]));
        await Patience.UntilAsync(() => server.Counts.OneWayFailures == 2, "both failures were counted");

        Assert.Equal(2, server.Counts.OneWayFailuresWith(code));
        await peer.PingAsync();
        Assert.Equal(0, server.Counts.ErrorsSent);
    }

    [Fact]
    public async Task A_one_way_message_is_never_answered()
    {
        await using TestServer server = await TestServer.StartAsync(Register);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(
            Wire.Post(TestServer.Echo, [1]), Wire.Post(Big), Wire.Frame(TestServer.Echo, Wire.OneWay | Wire.Timing, 9, [1]),
            Wire.Post(Wire.Ping));

        await peer.PingAsync();
    }

    [Fact]
    public async Task A_handler_that_throws_after_its_answer_changes_nothing_for_the_requester()
    {
        await using TestServer server = await TestServer.StartAsync(Register);
        using RawPeer peer = await server.ConnectAsync();

        WireFrame reply = await peer.CallAsync(Wire.Request(AnswersThenThrows, 5));

        Assert.Equal(Wire.Reply, reply.Flags);
        Assert.Equal([1], reply.Body);
        await peer.PingAsync();
        Assert.Single(server.Log.WithId(2003));
    }

    [Fact]
    public async Task Replies_to_nothing_are_counted_and_ignored()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        const int Frames = 1000;

        for (int i = 0; i < Frames; i++)
        {
            await peer.SendAsync(
                Wire.Frame(TestServer.Echo, Wire.Reply, (uint)i, [1]),
                Wire.Frame(0x2222, Wire.Reply | Wire.Error, (uint)i, Wire.Number(1, 9)));
        }

        await peer.SendAsync(
            Wire.Frame(Wire.Ping, Wire.Reply | Wire.Timing, 1, new byte[16]), Wire.Frame(Wire.Ping, Wire.Reply | Wire.OneWay, 0, []));
        await peer.PingAsync();
        Assert.Equal((2 * Frames) + 2, server.Counts.RepliesToNothing);
        Assert.InRange(server.Log.Lines.Count(static l => l.Level >= Microsoft.Extensions.Logging.LogLevel.Warning), 0, 1);
    }

    [Fact]
    public async Task A_PendingReply_that_throws_costs_nobody_else_anything()
    {
        const ushort Asked = 0x1019;
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        var pending = new DefectiveReply();

        Assert.Equal(SendStatus.Queued, session.TryRequest(Asked, default(EmptyBody), pending, timing: false, TimeSpan.Zero, out _));
        WireFrame request = await peer.ReadFrameAsync();
        await peer.SendAsync(Wire.Frame(Asked, Wire.Reply, request.Correlation, [1]));
        await peer.PingAsync();
        Assert.Equal(
            SendStatus.Queued, session.TryRequest(Asked, default(EmptyBody), pending, timing: false, TimeSpan.Zero, out uint second));
        Assert.True(session.Cancel(second));

        Assert.Equal(second, (await peer.ReadFrameAsync()).Correlation);
        Assert.Equal(Wire.Cancel, (await peer.ReadFrameAsync()).Type);
        await peer.PingAsync();
        Assert.Equal((2, 0), (pending.Calls, session.OutstandingRequests));
        Assert.Equal(2, server.Log.WithId(2007).Count);
    }

    [Fact]
    public void A_request_that_fails_when_nobody_awaits_it_any_more_leaves_no_unobserved_exception()
    {
        string unique = Guid.NewGuid().ToString();
        int unobserved = 0;
        EventHandler<UnobservedTaskExceptionEventArgs> note = (_, e) =>
            unobserved += e.Exception.InnerException?.Message.Contains(unique, StringComparison.Ordinal) == true ? 1 : 0;
        TaskScheduler.UnobservedTaskException += note;

        Abandon(unique);
        GC.Collect();
        GC.WaitForPendingFinalizers();

        TaskScheduler.UnobservedTaskException -= note;
        Assert.Equal(0, unobserved);

        [System.Runtime.CompilerServices.MethodImpl(System.Runtime.CompilerServices.MethodImplOptions.NoInlining)]
        static void Abandon(string message)
        {
            AwaitedReply<int> reply = AwaitedReply<int>.Rent(static (scoped in InboundReply _) => 0);
            IAsyncResult task = reply.AsTask();
            reply.OnFailed(RequestFailure.ConnectionLost, message);
            task.AsyncWaitHandle.WaitOne();
        }
    }

    private static void Register(MessageHandlers handlers) => handlers
        .MapInline(Throws, static (ref InlineRequest _) => throw new InvalidOperationException("defect"))
        .MapQueued(QueuedThrows, static async _ =>
        {
            await Task.Yield();
            throw new InvalidOperationException("defect");
        })
        .MapInline(Big, static (ref InlineRequest r) => r.Reply(new byte[2000]))
        .MapQueued(QueuedBig, static c =>
        {
            c.Reply(new byte[1017]);
            return ValueTask.CompletedTask;
        })
        .MapInline(Fails, static (ref InlineRequest r) => r.Fail(ErrorCode.NotFound, "There is no such thing."))
        .MapInline(BodyThrows, static (ref InlineRequest r) => r.Reply(default(DefectiveBody)))
        .MapQueued(QueuedBodyThrows, static c =>
        {
            c.Reply(default(DefectiveBody));
            return ValueTask.CompletedTask;
        })
        .MapInline(LongMessage, static (ref InlineRequest r) => r.Fail(ErrorCode.Unavailable, new string('é', 5000)))
        .MapInline(AnswersThenThrows, static (ref InlineRequest r) =>
        {
            r.Reply([1]);
            throw new InvalidOperationException("defect");
        });

    private sealed class DefectiveReply : PendingReply
    {
        public int Calls { get; private set; }

        protected internal override void OnReply(scoped in InboundReply reply)
        {
            Calls++;
            throw new InvalidOperationException("defect");
        }

        protected internal override void OnFailed(RequestFailure failure, string message)
        {
            Calls++;
            throw new InvalidOperationException("defect");
        }
    }

    private readonly struct DefectiveBody : IFrameBody
    {
        public int Size => 8;

        public void Write(Span<byte> destination) => throw new InvalidOperationException("defect");
    }
}
