using FastPort.Client.Load;
using FastPort.Protocol;
using Xunit;

namespace FastPort.Client.Tests.Load;

/// <summary>A sink load whose server does not keep up.</summary>
public sealed class SinkLaneTests
{
    [Fact]
    public async Task A_report_that_is_late_costs_the_session_and_the_load_goes_on_with_another()
    {
        int sessions = 0;
        TaskCompletionSource[] received = [
            new(TaskCreationOptions.RunContinuationsAsynchronously), new(TaskCreationOptions.RunContinuationsAsynchronously)];
        MessageHandlers handlers = new MessageHandlers()
            .MapInline(DiagnosticType.Sink, (ref InlineRequest request) =>
            {
                var count = (Count)(request.Session.State ??= new Count(Interlocked.Increment(ref sessions)));
                count.Messages++;
                count.Bytes += (ulong)request.BodySize;
                received[count.Session - 1].TrySetResult();
            })
            .MapQueued(DiagnosticType.SinkReport, static async context =>
            {
                var count = (Count)context.Session.State!;
                if (count.Session == 1)
                {
                    await Task.Delay(Timeout.Infinite, context.Aborted);
                }

                context.Reply(new ProtobufBody(new SinkReport { Messages = count.Messages, Bytes = count.Bytes }));
            });
        await using FastPortServer server = await TestServer.StartAsync(handlers);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Uri() });
        var errors = new LoadErrors();
        var lane = new SinkLane(new byte[64], 16, errors);
        client.Connected += lane.OnConnected;
        await client.ConnectAsync();

        await SendUntilAsync(received[0].Task);
        await lane.VerifyAsync(TimeSpan.FromMilliseconds(100));
        await SendUntilAsync(received[1].Task);
        await lane.VerifyAsync(TestRun.Patience);

        Assert.Equal((1, 1), (errors.Total, errors[LoadErrorKind.Lost]));
        Assert.True(lane.Verified > 0);

        async Task SendUntilAsync(Task until)
        {
            using var stop = new CancellationTokenSource();
            Task sending = Task.Run(() => lane.SendAsync(stop.Token));
            await until.WaitAsync(TestRun.Patience);
            await stop.CancelAsync();
            await sending.WaitAsync(TestRun.Patience);
        }
    }

    [Fact]
    public async Task A_session_that_another_one_follows_before_the_lane_has_noticed_is_one_error()
    {
        await using FastPortServer server = await TestServer.StartAsync(new MessageHandlers().MapDiagnostics());
        await using var before = new FastPortClient(new FastPortClientOptions { Endpoint = server.Uri() });
        await using var after = new FastPortClient(new FastPortClientOptions { Endpoint = server.Uri() });
        var errors = new LoadErrors();
        var lane = new SinkLane(new byte[64], 16, errors);
        before.Connected += lane.OnConnected;
        after.Connected += lane.OnConnected;
        await before.ConnectAsync();
        await SendSomeAsync();
        long lost = lane.Sent;

        await after.ConnectAsync();
        await SendSomeAsync();
        await lane.VerifyAsync(TestRun.Patience);

        Assert.Equal((1, 1), (errors.Total, errors[LoadErrorKind.Lost]));
        Assert.Equal($"The connection ended; {lost} messages on it could not be verified.", Assert.Single(errors.List()).First);
        Assert.Equal(lane.Sent - lost, lane.Verified);

        async Task SendSomeAsync()
        {
            using var stop = new CancellationTokenSource();
            long sent = lane.Sent;
            Task sending = Task.Run(() => lane.SendAsync(stop.Token));
            await Patience.UntilAsync(() => lane.Sent != sent, "some were sent");
            await stop.CancelAsync();
            await sending.WaitAsync(TestRun.Patience);
        }
    }

    [Fact]
    public async Task A_stop_does_not_wait_for_a_peer_that_does_not_read()
    {
        MessageHandlers handlers = new MessageHandlers().MapQueued(
            DiagnosticType.Sink, static async context => await Task.Delay(Timeout.Infinite, context.Aborted));
        await using FastPortServer server = await TestServer.StartAsync(
            handlers, configure: static o => o.Session.FrameTimeout = TimeSpan.Zero);

        // No deadline ends the session either.
        var options = new FastPortClientOptions { Endpoint = server.Uri() };
        options.Session.WriteTimeout = options.Session.UserTimeout = TimeSpan.Zero;
        await using var client = new FastPortClient(options);
        var errors = new LoadErrors();
        var lane = new SinkLane(new byte[60_000], 16, errors);
        client.Connected += lane.OnConnected;
        await client.ConnectAsync();
        Session session = client.Session!;
        using var stop = new CancellationTokenSource();
        Task sending = Task.Run(() => lane.SendAsync(stop.Token));

        // The lane waits for room, and the buffers between the two are full: it gets none.
        await Patience.UntilAsync(() => session.Connection.IsSendBlocked, "the socket takes no more");
        await Patience.UntilSteadyAsync(() => session.Connection.BytesSent, "the buffers are full");
        await stop.CancelAsync();
        await sending.WaitAsync(TestRun.Patience);
        await lane.VerifyAsync(TimeSpan.FromMilliseconds(50)).WaitAsync(TestRun.Patience);

        Assert.Equal(1, errors[LoadErrorKind.Lost]);
        Assert.True(session.IsClosed);
    }

    [Fact]
    public async Task A_server_that_takes_no_such_message_is_one_error_and_the_end()
    {
        await using FastPortServer server = await TestServer.StartAsync(
            new MessageHandlers().MapDiagnostics(), configure: static o => o.Session.MaxFrameBytes = 1024);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Uri() });
        var errors = new LoadErrors();
        var lane = new SinkLane(new byte[2000], 16, errors);
        client.Connected += lane.OnConnected;
        await client.ConnectAsync();

        await lane.SendAsync(CancellationToken.None).WaitAsync(TestRun.Patience);

        Assert.Equal((1, 1), (errors.Total, errors[LoadErrorKind.ErrorReply]));
    }

    private sealed class Count(int session)
    {
        public int Session { get; } = session;

        public ulong Messages { get; set; }

        public ulong Bytes { get; set; }
    }
}
