using FastPort.Client.Load;
using FastPort.Client.Reports;
using FastPort.Protocol;
using Xunit;

namespace FastPort.Client.Tests.Load;

/// <content>Open loop: messages on a schedule.</content>
public sealed partial class EchoLoadTests
{
    [Fact]
    public async Task Open_loop_counts_what_was_due_and_never_sent_as_missed()
    {
        await using FastPortServer server = await TestServer.StartAsync(Silent());

        LoadResult result = await _run.RunAsync(TestRun.Short with
        {
            Server = server.Uri(),
            Connections = 1,
            InFlight = 4,
            Rate = 1000,
            WarmUp = TimeSpan.Zero,
            DrainTimeout = TimeSpan.FromMilliseconds(50),
        });

        Assert.Equal(4, result.ErrorKinds[LoadErrorKind.Unanswered]);
        long due = (long)(result.DurationSeconds * 1000);

        // The four that went out may have been due before the measured time began.
        Assert.InRange(result.MissedSends!.Value, due - 5, due + 1);
    }

    [Fact]
    public async Task Open_loop_accounts_for_every_message_of_its_schedule()
    {
        LoadResult result = await _run.RunAsync(TestRun.Short with { Rate = 500, WarmUp = TimeSpan.Zero });

        Assert.Equal(0, result.Errors);

        // Counted by round trips of what was due: on a busy machine, the last replies come after the measured time.
        long due = (long)(result.DurationSeconds * 500);
        Assert.InRange(result.RoundTrip!.Count + result.MissedSends!.Value, due - 1, due + 1);
        Assert.Equal(500, result.Rate);
    }

    // The server answers far less than is asked for, so that a warm-up leaves a backlog longer than the measured time.
    [Fact]
    public async Task Open_loop_above_the_servers_capacity_reports_what_was_served()
    {
        const int Rate = 1_000_000;
        long answered = 0;
        await using FastPortServer server = await TestServer.StartAsync(new MessageHandlers().MapQueued(
            DiagnosticType.Echo,
            async context =>
            {
                await Task.Delay(1);
                Interlocked.Increment(ref answered);
                context.Reply(context.Body.Span);
            }));

        LoadResult result = await _run.RunAsync(TestRun.Short with
        {
            Server = server.Uri(),
            Rate = Rate,
            WarmUp = TimeSpan.FromSeconds(1),
            Duration = TimeSpan.FromSeconds(2),
        });

        Assert.Equal(0, result.Errors);
        Assert.InRange(result.Messages, 1, answered);

        // Of those that were due, some were sent, and the others missed. What was in flight at either end is on one side only.
        long inFlight = result.Connections * result.InFlight;
        long due = (long)(result.DurationSeconds * Rate);
        Assert.InRange(result.RoundTrip!.Count, 1, result.Messages + inFlight);
        Assert.InRange(result.RoundTrip.Count + result.MissedSends!.Value, due - 1, due + 1);
        Assert.InRange(result.Messages, result.RoundTrip.Count - inFlight, result.RoundTrip.Count + inFlight);

        // The last ones waited since long before they were sent.
        Assert.True(result.RoundTrip.Max > result.ServerTime!.Max);
        Assert.Contains($" messages/s of {Rate:#,##0} asked for, bound by ", _run.Output.ToString(), StringComparison.Ordinal);
        Assert.Contains("latencies of the messages that were due in the measured time", _run.Output.ToString(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Open_loop_sends_on_every_connection()
    {
        LoadResult result = await _run.RunUntilAsync(
            TestRun.Short with { Connections = 5, Rate = 1000 }, static r => r.PerConnection!.All(static c => c.Messages > 2));

        Assert.Equal(0, result.Errors);
        Assert.All(result.PerConnection!, static c => Assert.True(c.Messages > 2));
    }
}
