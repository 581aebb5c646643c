using System.Text.Json.Nodes;
using FastPort.Conformance.Adapters;
using FastPort.Conformance.Cases;
using Xunit;

namespace FastPort.Conformance.Tests;

/// <summary>Adapters that break their contract: the reason says how, and no run hangs.</summary>
public sealed class AdapterTests
{
    private const string Ready = """echo '{"event":"ready","name":"wrong"}'; read connect; """;

    [Theory]
    [InlineData("exit 3", "The adapter has ended, with exit code 3.")]
    [InlineData("echo Hello; read end", "The adapter wrote a line that is not a JSON object: 'Hello'.")]
    [InlineData("echo null; read end", "The adapter wrote a line that is not a JSON object: 'null'.")]
    [InlineData("""echo '{"event":"x","event":"y"}'; read end""", "The adapter wrote a line that is not a JSON object")]
    [InlineData("""echo '{"event":"trouble","message":"0x is no number"}'; read end""", "The adapter has failed: 0x is no number")]
    public async Task A_case_that_waits_for_the_client_fails_with_the_adapter(string script, string reason)
    {
        CaseResult result = await PlayAsync(Ready + script, TimeSpan.FromSeconds(10));

        Assert.Equal(Outcome.Failed, result.Outcome);
        Assert.Contains(reason, result.Reason, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_event_that_no_step_takes_explains_why_nothing_came()
    {
        const string Failed = """{"event":"failed","id":"connect","why":"refused"}""";

        CaseResult result = await PlayAsync($"{Ready}echo '{Failed}'; read end; echo '{{\"event\":\"ended\"}}'", TimeSpan.FromSeconds(0.5));

        Assert.Contains("nothing came within 0.5 s", result.Reason, StringComparison.Ordinal);
        Assert.Contains(Failed, result.Reason, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("exit 3", "exit code 3")]
    [InlineData("""echo '{"event":"ready","lacks":"tags"}'""", "'lacks' is not an array")]
    [InlineData("""echo '{"event":"ready","lacks":["wings"]}'""", "lacks 'wings'")]
    public async Task A_run_ends_if_the_adapter_does_not_start(string script, string reason)
    {
        CaseFailureException e = await Assert.ThrowsAsync<CaseFailureException>(() => PlayAsync(script, TimeSpan.FromSeconds(10)));

        Assert.Contains(reason, e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_adapter_that_reads_no_commands_holds_nothing_up()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "There is no /bin/sh.");
        AdapterProcess adapter = AdapterProcess.Start(["/bin/sh", "-c", "exec sleep 600"], TimeSpan.FromSeconds(0.1));

        adapter.Send(new JsonObject { ["do"] = "send", ["body"] = new string('0', 1 << 20) });

        await adapter.DisposeAsync().AsTask().WaitAsync(Patience.Token);
    }

    private static async Task<CaseResult> PlayAsync(string script, TimeSpan within)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "There is no /bin/sh.");
        var one = new ConformanceCase(
            "wrong", "An adapter is wrong.", "protocol.md#frame", [], within, [], [new JsonObject { ["open"] = new JsonObject() }]);
        await using var run = new SuiteRun("tcp", () => AdapterProcess.Start(["/bin/sh", "-c", script]));
        return await run.PlayAsync(one);
    }
}
