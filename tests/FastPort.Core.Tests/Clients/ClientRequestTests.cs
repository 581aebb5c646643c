using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using FastPort.Sessions;
using Xunit;

namespace FastPort.Core.Tests.Clients;

public sealed partial class ClientRequestTests
{
    private const int Huge = 48 * 1024 * 1024;
    private const ushort SomeType = 0x2000;

    [Fact]
    public async Task Replies_find_their_requests_in_any_order()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();

        Task<byte[]>[] requests = [.. Enumerable.Range(0, 200).Select(i => client.RequestAsync(SomeType, CountingServer.Body(i)))];
        List<ScriptedFrame> frames = [];
        for (int i = 0; i < requests.Length; i++)
        {
            frames.Add(await peer.ReadAsync());
        }

        Assert.Equal(requests.Length, frames.Select(static f => f.Header.Correlation).Distinct().Count());
        Assert.DoesNotContain(frames, static f => f.Header.Correlation == 0);
        ScriptedFrame[] shuffled = [.. frames];
        new Random(3).Shuffle(shuffled);
        foreach (ScriptedFrame frame in shuffled)
        {
            await peer.ReplyAsync(frame, frame.Body);
        }

        for (int i = 0; i < requests.Length; i++)
        {
            Assert.Equal(CountingServer.Body(i), await requests[i].InTimeAsync());
        }
    }

    [Fact]
    public async Task A_reply_to_nothing_or_of_another_type_is_counted_and_does_no_harm()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        Task<byte[]> request = client.RequestAsync(SomeType, new byte[3]);
        ScriptedFrame frame = await peer.ReadAsync();

        await peer.WriteAsync(SomeType, FrameFlags.Reply, frame.Header.Correlation + 7);
        await peer.WriteAsync(SomeType + 1, FrameFlags.Reply, frame.Header.Correlation);
        await peer.ReplyAsync(frame, 42);

        Assert.Equal([42], await request.InTimeAsync());
        Assert.Equal(2, client.Counters.Snapshot().RepliesToNothing);
    }

    [Fact]
    public async Task An_error_reply_becomes_an_exception_with_code_and_sentence()
    {
        await using CountingServer server = await CountingServer.StartAsync();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint, Timing = true });
        await client.ConnectAsync().InTimeAsync();

        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(
            () => client.RequestAsync(0x7777, new byte[1]).InTimeAsync());

        Assert.Equal(ErrorCode.UnknownType, e.Code);
        Assert.Null(e.Failure);
        Assert.Contains("0x7777", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_a_reply_reader_throws_comes_to_its_caller_and_harms_nobody_else()
    {
        await using CountingServer server = await CountingServer.StartAsync();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        await client.ConnectAsync().InTimeAsync();

        await Assert.ThrowsAsync<FormatException>(() => client.RequestAsync<EmptyBody, int>(
            CountingServer.InlineEcho, default, static (scoped in InboundReply _) => throw new FormatException("no")).InTimeAsync());
        Assert.Equal([1], await client.RequestAsync(CountingServer.InlineEcho, new byte[] { 1 }).InTimeAsync());
    }

    [Fact]
    public async Task A_body_above_the_frame_limit_of_the_server_is_refused_with_both_sizes()
    {
        await using CountingServer server = await CountingServer.StartAsync(configure: static o => o.Session.MaxFrameBytes = 2048);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        await client.ConnectAsync().InTimeAsync();

        ArgumentException e = await Assert.ThrowsAsync<ArgumentException>(
            () => client.RequestAsync(CountingServer.InlineEcho, new byte[2041]).InTimeAsync());

        Assert.Contains("2041", e.Message, StringComparison.Ordinal);
        Assert.Contains("2040", e.Message, StringComparison.Ordinal);
        Assert.Equal(2040, (await client.RequestAsync(CountingServer.InlineEcho, new byte[2040]).InTimeAsync()).Length);
        Assert.Equal(
            SendStatus.TooLarge, await client.TrySendAsync(CountingServer.OneWay, new SequenceBody(new(new byte[2041]))).InTimeAsync());
    }

    [Fact]
    public async Task Cancelling_sends_Cancel_and_ignores_the_late_reply()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        using var cancel = new CancellationTokenSource();
        Task<byte[]> request = client.RequestAsync(SomeType, new byte[3], cancellationToken: cancel.Token);
        ScriptedFrame frame = await peer.ReadAsync();

        await cancel.CancelAsync();

        OperationCanceledException e = await Assert.ThrowsAnyAsync<OperationCanceledException>(() => request.InTimeAsync());
        Assert.Equal(cancel.Token, e.CancellationToken);
        ScriptedFrame sent = await peer.ReadAsync();
        Assert.Equal(ControlType.Cancel, sent.Header.Type);
        Assert.Equal(FrameFlags.OneWay, sent.Header.Flags);
        Assert.True(CancelBody.TryRead(sent.Body, out CancelBody body));
        Assert.Equal(frame.Header.Correlation, body.Correlation);
        await peer.ReplyAsync(frame);
        await Patience.UntilAsync(() => client.Counters.Snapshot().RepliesToNothing == 1, "the late reply is counted");
        Assert.Equal(0, client.Session!.OutstandingRequests);
    }

    [Fact]
    public async Task Cancelling_cancels_the_handlers_token()
    {
        await using CountingServer server = await CountingServer.StartAsync(configure: static o => o.Session.MaxConcurrency = 4);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        await client.ConnectAsync().InTimeAsync();
        using var cancel = new CancellationTokenSource();
        Task<byte[]> unwanted = client.RequestAsync(CountingServer.Hold, CountingServer.Body(1), cancellationToken: cancel.Token);
        Task<byte[]> wanted = client.RequestAsync(CountingServer.Hold, CountingServer.Body(2));
        await Patience.UntilAsync(() => server.Held == 2, "both handlers run");

        await cancel.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => unwanted.InTimeAsync());
        await Patience.UntilAsync(() => server.Cancelled == 1, "the handler was cancelled");
        server.Release();
        Assert.Equal(CountingServer.Body(2), await wanted.InTimeAsync());
        Assert.Equal(1, server.Cancelled);
    }

    [Fact]
    public async Task A_token_cancelled_before_sends_nothing()
    {
        await using CountingServer server = await CountingServer.StartAsync();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        await client.ConnectAsync().InTimeAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(
            () => client.RequestAsync(
                CountingServer.InlineEcho, CountingServer.Body(9), cancellationToken: new CancellationToken(canceled: true)).InTimeAsync());

        await client.RequestAsync(CountingServer.InlineEcho, CountingServer.Body(10)).InTimeAsync();
        Assert.Equal(0, server.Log.Count(9));
    }

    [Fact]
    public async Task A_PendingReply_that_throws_at_its_timeout_costs_its_own_session_at_most()
    {
        using var server = new ScriptedServer();
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        await using var one = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint }, clock: clock);
        await using var other = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint }, clock: clock);
        time.Fired = () => LoopWork.Settle(new[] { one.Session, other.Session }.OfType<Session>());
        Task connecting = one.ConnectAsync();
        using ScriptedPeer first = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        connecting = other.ConnectAsync();
        using ScriptedPeer second = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        Task<byte[]> request = other.RequestAsync(SomeType, new byte[1], TimeSpan.FromSeconds(2));
        Assert.Equal(
            SendStatus.Queued, one.Session!.TryRequest(
                SomeType, default(EmptyBody), new Throwing(), timing: false, TimeSpan.FromSeconds(1), out _));

        // Whatever is thrown in here would be unhandled on the timer's thread and end the process.
        time.Advance(TimeSpan.FromSeconds(3));

        Assert.Equal(RequestFailure.TimedOut, (await Assert.ThrowsAsync<RequestFailedException>(() => request.InTimeAsync())).Failure);
    }

    [Fact]
    public async Task One_way_messages_arrive_in_order_and_without_reply()
    {
        List<long> seen = [];
        var done = new TaskCompletionSource();
        MessageHandlers handlers = new MessageHandlers().MapQueued(SomeType, context =>
        {
            seen.Add(BitConverter.ToInt64(context.Body.Span));
            Assert.True(context.IsOneWay);
            if (seen.Count == 5000)
            {
                done.SetResult();
            }

            return ValueTask.CompletedTask;
        });
        var serverOptions = new FastPort.FastPortServerOptions();
        serverOptions.Endpoints.Add("tcp://127.0.0.1:0");
        await using var server = new FastPort.FastPortServer(serverOptions, handlers);
        await server.StartAsync();
        var options = new FastPortClientOptions { Endpoint = server.Endpoints[0].ToString() };
        options.Session.SendQueueBytes = 4096;
        await using var client = new FastPortClient(options);
        await client.ConnectAsync().InTimeAsync();

        for (int i = 0; i < 5000; i++)
        {
            Assert.Equal(
                SendStatus.Queued, await client.TrySendAsync(SomeType, new SequenceBody(new(CountingServer.Body(i, 200)))).InTimeAsync());
        }

        await done.Task.InTimeAsync();
        Assert.Equal(Enumerable.Range(0, 5000).Select(static i => (long)i), seen);
        Assert.Equal(1, client.Session!.MessagesReceived);
    }

    [Fact]
    public async Task Pushes_and_requests_of_the_server_come_to_the_clients_handlers()
    {
        var pushed = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        MessageHandlers handlers = new MessageHandlers()
            .MapInline(0x2001, (ref InlineRequest request) => pushed.TrySetResult(System.Buffers.BuffersExtensions.ToArray(request.Body)))
            .MapQueued(0x2002, static async context =>
            {
                await Task.Yield();
                context.Reply([.. context.Body.ToArray(), 99]);
            });
        await using CountingServer server = await CountingServer.StartAsync();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint, RoutingId = "me" }, handlers);
        await client.ConnectAsync().InTimeAsync();
        Session session = server.Server.Routing.Find("me")!;

        Assert.Equal(SendStatus.Queued, session.TrySend(0x2001, [1, 2, 3]));
        Assert.Equal([1, 2, 3], await pushed.Task.InTimeAsync());
        var reply = AwaitedReply<byte[]>.Rent(static (scoped in InboundReply r) => System.Buffers.BuffersExtensions.ToArray(r.Body));
        Assert.Equal(SendStatus.Queued, session.TryRequest(0x2002, new RawBody([5]), reply, timing: false, TimeSpan.Zero, out _));
        Assert.Equal([5, 99], await reply.AsTask().InTimeAsync());
    }

    [Fact]
    public async Task Reads_never_wait_for_sends()
    {
        using var server = new ScriptedServer();
        var pushed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        MessageHandlers handlers = new MessageHandlers().MapInline(0x2001, (ref InlineRequest request) => pushed.TrySetResult());
        await using FastPortClient client = CreateFor(server, handlers);
        (ScriptedPeer peer, Task<byte[]> request, ScriptedFrame first) = await ConnectAndFillAsync(client, server);
        using ScriptedPeer _ = peer;
        Assert.True(client.Session!.Connection.PendingBytes > 4096);

        await peer.WriteAsync(0x2001, FrameFlags.OneWay, 0);
        await peer.WriteAsync(ControlType.Ping, FrameFlags.None, 77);
        await peer.ReplyAsync(first, 1);

        await pushed.Task.InTimeAsync();
        Assert.Equal([1], await request.InTimeAsync());

        // The pong went past the bound and follows when the server reads again.
        Assert.Equal(Huge, (await peer.ReadAsync()).Body.Length);
        ScriptedFrame pong = await peer.ReadAsync();
        Assert.Equal((ControlType.Ping, 77u, true), (pong.Header.Type, pong.Header.Correlation, pong.Header.IsReply));
    }

    /// <summary>The server reads again when the client does, and the client has to handle what it was pushed to go on reading.</summary>
    [Fact]
    public async Task Queued_pushes_never_wait_for_sends()
    {
        using var server = new ScriptedServer();
        int pushed = 0;
        MessageHandlers handlers = new MessageHandlers().MapQueued(0x2001, _ =>
        {
            Interlocked.Increment(ref pushed);
            return ValueTask.CompletedTask;
        });
        await using FastPortClient client = CreateFor(server, handlers);
        (ScriptedPeer peer, Task<byte[]> request, ScriptedFrame first) = await ConnectAndFillAsync(client, server);
        using ScriptedPeer _ = peer;

        for (int i = 0; i < 3; i++)
        {
            await peer.WriteAsync(0x2001, FrameFlags.OneWay, 0);
        }

        await peer.ReplyAsync(first, 1);

        Assert.Equal([1], await request.InTimeAsync());
        await Patience.UntilAsync(() => Volatile.Read(ref pushed) == 3, "all pushes were handled");
    }

    private static FastPortClient CreateFor(ScriptedServer server, MessageHandlers handlers)
    {
        var options = new FastPortClientOptions { Endpoint = server.Endpoint };
        options.Session.SendQueueBytes = 4096;
        options.Session.MaxInFlightRequests = 1;
        options.Session.MaxFrameBytes = Huge + 1024;
        return new FastPortClient(options, handlers);
    }

    // A request is in flight, and more is sent than the kernel takes for a peer that does not read: the send queue is and stays full.
    private static async Task<(ScriptedPeer Peer, Task<byte[]> Request, ScriptedFrame Sent)> ConnectAndFillAsync(
        FastPortClient client, ScriptedServer server)
    {
        Task connecting = client.ConnectAsync();
        ScriptedPeer peer = await server.WelcomeAsync(Huge + 1024);
        await connecting.InTimeAsync();
        Task<byte[]> request = client.RequestAsync(SomeType, new byte[1]);
        ScriptedFrame sent = await peer.ReadAsync();
        Assert.Equal(SendStatus.Queued, await client.TrySendAsync(SomeType, new SequenceBody(new(new byte[Huge]))).InTimeAsync());
        return (peer, request, sent);
    }

    private static async Task<uint> ReadCancelAsync(ScriptedPeer peer)
    {
        while (true)
        {
            ScriptedFrame frame = await peer.ReadAsync();
            if (frame.Header.Type == ControlType.Cancel && CancelBody.TryRead(frame.Body, out CancelBody body))
            {
                return body.Correlation;
            }
        }
    }

    private sealed class Throwing : PendingReply
    {
        protected internal override void OnReply(scoped in InboundReply reply)
        {
        }

        protected internal override void OnFailed(RequestFailure failure, string message) =>
            throw new InvalidOperationException("A user's mistake.");
    }
}
