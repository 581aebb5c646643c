using System.Buffers;
using System.Collections.Concurrent;
using FastPort.Client.Load;
using FastPort.Client.Reports;
using FastPort.Client.Tags;
using FastPort.Client.Top;
using FastPort.Programs;
using FastPort.Protocol;
using Xunit;

namespace FastPort.Client.Tests.Load;

public sealed partial class EchoLoadTests
{
    private readonly TestRun _run = new();

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(64)]
    [InlineData(100_000)]
    [InlineData(1_048_564)]
    public async Task Verifies_every_reply_of_a_server_hosted_inside(int size)
    {
        LoadResult result = await _run.RunUntilAsync(TestRun.Short with { Size = size }, static r => r.Messages > 0);

        Assert.Equal(0, result.Errors);
        Assert.True(result.Messages > 0);
        Assert.Equal(result.Messages, result.RoundTrip!.Count);
        Assert.Equal(result.Messages, result.ServerTime!.Count);
        Assert.Equal(result.Messages, result.Network!.Count);
        Assert.InRange(result.RoundTrip.P50, result.RoundTrip.Min, result.RoundTrip.Max);
        Assert.Equal(result.Messages / result.DurationSeconds, result.MessagesPerSecond, 3);
        Assert.Null(result.MissedSends);
        Assert.Contains("round trip", _run.Output.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Measures_each_connection_by_itself()
    {
        LoadResult result = await _run.RunUntilAsync(TestRun.Short with { Connections = 3 }, static r => r.PerConnection is { Count: 3 });

        Assert.Equal([1UL, 2UL, 3UL], result.PerConnection!.Select(static c => c.Connection));

        // Those in flight when the warm-up ended may be counted on one side only.
        Assert.InRange(result.PerConnection!.Sum(static c => c.Messages) - result.Messages, -12, 12);
        Assert.All(result.PerConnection!, static c =>
        {
            Assert.True(c.Messages > 0 && c.DurationSeconds > 0);
            Assert.Equal((c.Messages, c.Messages, c.Messages), (c.RoundTrip!.Count, c.ServerTime!.Count, c.Network!.Count));
        });
        Assert.Contains("sessions: round trip in us", _run.Output.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain("latencies of each connection", _run.Output.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Measures_no_connection_by_itself_where_they_are_many_and_says_so()
    {
        LoadResult result = await _run.RunAsync(TestRun.Short with { Connections = LoadSettings.MaxMeasuredSessions + 1, InFlight = 1 });

        Assert.Equal(0, result.Errors);
        Assert.Null(result.PerConnection);
        Assert.Contains(
            "latencies of each connection are measured up to 1,000 connections only: not in this run\n", _run.Output.ToString(),
            StringComparison.Ordinal);
        Assert.DoesNotContain("sessions:", _run.Output.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Counts_replies_that_are_not_what_was_sent()
    {
        await using FastPortServer server = await TestServer.StartAsync(TestServer.Answer(new byte[66]));

        LoadResult result = await _run.RunAsync(TestRun.Short with { Server = server.Uri() });

        Assert.Equal(0, result.Messages);
        Assert.True(result.Errors > 0);
        Assert.Equal(result.Errors, result.ErrorKinds[LoadErrorKind.Wrong]);
    }

    [Fact]
    public async Task Counts_error_replies()
    {
        await using FastPortServer server = await TestServer.StartAsync(new MessageHandlers());

        LoadResult result = await _run.RunAsync(TestRun.Short with { Server = server.Uri() });

        Assert.True(result.Errors > 0);
        Assert.Equal(result.Errors, result.ErrorKinds[LoadErrorKind.ErrorReply]);
        Assert.Contains("UnknownType", _run.Output.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Counts_requests_that_are_never_answered_once()
    {
        await using FastPortServer server = await TestServer.StartAsync(Silent());

        LoadResult result = await _run.RunAsync(TestRun.Short with { Server = server.Uri(), DrainTimeout = TimeSpan.FromMilliseconds(50) });

        Assert.Equal(0, result.Messages);
        Assert.Equal(8, result.Errors);
        Assert.Equal(8, result.ErrorKinds[LoadErrorKind.Unanswered]);
        Assert.Equal([4, 4], result.PerConnection!.Select(static c => c.Errors));
        Assert.All(result.PerConnection!, static c => Assert.Null(c.RoundTrip));
    }

    [Fact]
    public async Task Counts_exactly_what_was_in_flight_when_connections_are_lost_and_goes_on()
    {
        const int InFlight = 4 * 8;
        var release = new TaskCompletionSource();
        var allHeld = new TaskCompletionSource();
        using var enough = new CancellationTokenSource();
        int held = 0;
        int answered = 0;
        var madeAnew = new ConcurrentDictionary<Session, bool>();
        MessageHandlers handlers = new MessageHandlers().MapQueued(
            DiagnosticType.Echo,
            async context =>
            {
                int arrived = Interlocked.Increment(ref held);
                if (arrived == InFlight)
                {
                    allHeld.SetResult();
                }
                else if (arrived > InFlight)
                {
                    madeAnew.TryAdd(context.Session, true);
                }

                await release.Task;
                context.Reply(context.Body.Span);
                if (Interlocked.Increment(ref answered) >= InFlight + 200 && madeAnew.Count == 4)
                {
                    await enough.CancelAsync();
                }
            });
        await using FastPortServer server = await TestServer.StartAsync(handlers, configure: static o => o.Session.MaxConcurrency = 64);
        Task<LoadResult> running = _run.RunAsync(
            TestRun.Short with
            {
                Server = server.Uri(),
                Connections = 4,
                InFlight = 8,
                WarmUp = TimeSpan.Zero,
                Duration = TestRun.Patience,
            },
            enough.Token);

        await allHeld.Task.WaitAsync(TestRun.Patience);
        foreach (Session session in server.Sessions)
        {
            session.Abort();
        }

        release.SetResult();
        LoadResult result = await running;

        Assert.Equal(InFlight, result.Errors);
        Assert.Equal(InFlight, result.ErrorKinds[LoadErrorKind.Lost]);
        Assert.Equal(4, result.Reconnects);

        // A connection made anew goes on under its number.
        Assert.Equal([8, 8, 8, 8], result.PerConnection!.Select(static c => c.Errors));
        Assert.Equal(result.Messages, result.PerConnection!.Sum(static c => c.Messages));
        Assert.True(result.Messages > 0);
    }

    [Fact]
    public async Task Has_no_error_when_the_server_stops_in_order_and_another_takes_its_place()
    {
        var warm = new TaskCompletionSource();
        using var enough = new CancellationTokenSource();
        int first = 0;
        int second = 0;
        FastPortServer server = await TestServer.StartAsync(TestServer.RawEcho(() =>
        {
            if (Interlocked.Increment(ref first) == 500)
            {
                warm.SetResult();
            }
        }));
        string uri = server.Uri();
        Task<LoadResult> running = _run.RunAsync(TestRun.Short with { Server = uri, Duration = TestRun.Patience }, enough.Token);
        await warm.Task.WaitAsync(TestRun.Patience);

        await server.StopAsync();
        var sessions = new ConcurrentDictionary<Session, bool>();
        MessageHandlers handlers = new MessageHandlers().MapInline(
            DiagnosticType.Echo,
            (ref InlineRequest request) =>
            {
                sessions.TryAdd(request.Session, true);
                if (Interlocked.Increment(ref second) >= 500 && sessions.Count == 2)
                {
                    _ = enough.CancelAsync();
                }

                request.Reply(request.Body.ToArray());
            });
        await using FastPortServer next = await TestServer.StartAsync(handlers, uri);
        LoadResult result = await running;

        Assert.Equal(0, result.Errors);
        Assert.Equal(2, result.Reconnects);
    }

    [Fact]
    public async Task Errors_of_the_warm_up_are_told_apart()
    {
        const int InFlight = 2 * 4;
        using var enough = new CancellationTokenSource();
        var again = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        int arrived = 0;
        FastPortServer? server = null;
        MessageHandlers handlers = new MessageHandlers().MapQueued(
            DiagnosticType.Echo,
            async context =>
            {
                int number = Interlocked.Increment(ref arrived);
                if (number == InFlight)
                {
                    foreach (Session session in server!.Sessions)
                    {
                        session.Abort();
                    }
                }
                else if (number == 2 * InFlight)
                {
                    // All that were lost are sent again.
                    await enough.CancelAsync();
                    again.SetResult();
                }

                await again.Task;
                context.Reply(context.Body.Span);
            });
        await using (server = await TestServer.StartAsync(handlers, configure: static o => o.Session.MaxConcurrency = 64))
        {
            LoadResult result = await _run.RunAsync(TestRun.Short with { Server = server.Uri(), WarmUp = TestRun.Patience }, enough.Token);

            Assert.Equal((InFlight, InFlight), (result.Errors, result.WarmUpErrors));
            Assert.Equal(InFlight, result.ErrorKinds[LoadErrorKind.Lost]);
            Assert.Equal(0, result.PerConnection!.Sum(static c => c.Errors));
            Assert.Contains("; 8 errors (8 of them during warm-up)", _run.Output.ToString(), StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Ends_early_with_a_report_when_interrupted()
    {
        using var interrupted = new CancellationTokenSource();
        int messages = 0;
        await using FastPortServer server = await TestServer.StartAsync(TestServer.RawEcho(() =>
        {
            if (Interlocked.Increment(ref messages) == 1000)
            {
                _ = interrupted.CancelAsync();
            }
        }));

        LoadResult result = await _run.RunAsync(
            TestRun.Short with { Server = server.Uri(), WarmUp = TimeSpan.Zero, Duration = TestRun.Patience }, interrupted.Token);

        Assert.Equal(0, result.Errors);
        Assert.True(result.Messages > 0);
        Assert.Contains("client latency in us", _run.Output.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_wait_for_the_last_replies_is_no_part_of_the_measured_time()
    {
        TimeSpan drain = TimeSpan.FromSeconds(2);
        await using FastPortServer server = await TestServer.StartAsync(Silent());

        // No request is answered, so the drain takes all of its time.
        LoadResult result = await _run.RunAsync(TestRun.Short with { Server = server.Uri(), DrainTimeout = drain });

        Assert.InRange(
            result.Started!.Value.AddSeconds(result.DurationSeconds), DateTimeOffset.MinValue, DateTimeOffset.UtcNow - (drain / 2));
        double most = result.DurationSeconds + (drain.TotalSeconds / 2);
        Assert.All(result.PerConnection!, connection => Assert.InRange(connection.DurationSeconds, 0, most));
        Assert.InRange(result.Latencies!.All.Lifetime.TotalSeconds, 0, most);
    }

    [Fact]
    public async Task Texts_of_the_server_do_not_control_the_terminal()
    {
        MessageHandlers handlers = new MessageHandlers().MapInline(
            DiagnosticType.Echo, static (ref InlineRequest request) => request.Fail(ErrorCode.Overloaded, "no\u001B[2J\r\nroom"));
        await using FastPortServer server = await TestServer.StartAsync(handlers);

        await _run.RunAsync(TestRun.Short with { Server = server.Uri() });

        Assert.Contains(@"Overloaded: no\u001B[2J\u000D\u000Aroom", _run.Output.ToString(), StringComparison.Ordinal);
        Assert.DoesNotContain('\u001B', _run.Output.ToString());
        Assert.Equal(@"no\u001B", new LoadFailedException("no\u001B", ExitCode.Failed).Message);
        Assert.Equal(@"no\u001B", new TagCommandFailedException("no\u001B", ExitCode.Failed).Message);
        Assert.Equal(@"no\u001B", new TopFailedException("no\u001B", new InvalidOperationException()).Message);
    }

    [Fact]
    public async Task Says_what_the_servers_frame_limit_allows()
    {
        await using FastPortServer server = await TestServer.StartAsync(
            TestServer.RawEcho(), configure: static o => o.Session.MaxFrameBytes = 1024);

        LoadFailedException e = await Assert.ThrowsAsync<LoadFailedException>(
            () => _run.RunAsync(TestRun.Short with { Server = server.Uri(), Size = 2000 }));

        Assert.Equal(ExitCode.Usage, e.ExitCode);
        Assert.Equal("--size is 2000; the server's frame limit allows 0 to 1013 bytes.", e.Message);
    }

    [Fact]
    public async Task A_time_without_a_reply_is_an_interruption()
    {
        var stall = TimeSpan.FromSeconds(1.5);
        int messages = 0;
        using var enough = new CancellationTokenSource();
        await using FastPortServer server = await TestServer.StartAsync(new MessageHandlers().MapInline(
            DiagnosticType.Echo,
            (ref InlineRequest request) =>
            {
                // The one loop of the server holds all connections up.
                if (Interlocked.Increment(ref messages) is var number && number == 1000)
                {
                    Thread.Sleep(stall);
                }
                else if (number == 2000)
                {
                    _ = enough.CancelAsync();
                }

                request.Reply(request.Body.ToArray());
            }), configure: static options => options.Loops = 1);

        LoadResult result = await _run.RunAsync(
            TestRun.Short with { Server = server.Uri(), Connections = 1, WarmUp = TimeSpan.Zero, Duration = TestRun.Patience },
            enough.Token);

        Assert.InRange(result.Interruptions!.Value, 1, long.MaxValue);
        Assert.InRange(result.InterruptedSeconds!.Value, 1.4, double.MaxValue);
        string counted = result.Interruptions == 1 ? " 1 interruption of " : " interruptions of ";
        Assert.Contains(counted, _run.Output.ToString(), StringComparison.Ordinal);
    }

    private static MessageHandlers Silent() => new MessageHandlers().MapQueued(
        DiagnosticType.Echo, static async context => await Task.Delay(Timeout.Infinite, context.Aborted));
}
