using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>What connections cost that do nothing.</summary>
internal sealed class IdleScenario : ContestScenario
{
    private const int Connections = 10_000;
    private const int QuickConnections = 500;

    // CPU time is counted in hundredths of a second: what a server that does nothing uses takes a while to show.
    private const int HoldPeriods = 3;

    public override string Name => "idle";

    public override string Description => "10,000 idle connections: what they cost in memory and CPU; all still echo afterwards.";

    protected override string Method =>
        "A fresh server a run: echoes on 32 connections as warm-up, then its memory is read, the idle connections are opened by the "
        + "client's process, each echoes once, 3 s later nothing has happened for long enough, then CPU time is counted for three times "
        + "the measured time, the memory is read again, and each echoes once more. Every echo is compared with its request, byte for byte.";

    protected override IReadOnlyList<Metric> Columns { get; } = [
        Metric.RssGrowth, Metric.RssPerConnection, Metric.RssBefore, Metric.IdleCpuShare, Metric.ServerPeakRss, Metric.ClientPeakRss];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        int connections = context.Options.Quick ? QuickConnections : Connections;
        Candidate fastPort = context.Candidates.FastPort;
        Candidate kestrel = context.Candidates.Kestrel;
        yield return new Workload(
            $"{connections:N0} connections",
            [.. new[] { fastPort, context.Candidates.FastPortSockets, kestrel }.Select(candidate =>
                new IdleContestant(candidate, connections, HoldPeriods * context.Options.Seconds, context.Native, context))],
            [
                new RatioQuestion(Metric.RssGrowth, fastPort.Name, kestrel.Name, Target.AtMost(0.5)),
                new RatioQuestion(Metric.RssGrowth, context.Candidates.FastPortSockets.Name, kestrel.Name),
            ]);
    }
}
