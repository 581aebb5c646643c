using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;

namespace FastPort.Comparisons.Scenarios;

/// <summary>What it costs and buys that a loop looks for work for a while before it sleeps.</summary>
internal sealed class SpinningScenario : ContestScenario
{
    private const int PayloadBytes = 64;

    // The default, somewhat longer than it takes to wake a sleeping client, longer than the pauses at a thousand messages a second: each
    // against never.
    private static readonly int?[] Times = [null, 100, 2000];

    // As fast as it goes; with short pauses; with long ones.
    private static readonly (string Title, int EveryMicroseconds)[] Loads = [
        ("lock-step", 0), ("10,000 a second", 100), ("1,000 a second", 1000)];

    public override string Name => "spinning";

    public override string Description =>
        "One connection, one request in flight: round trip and CPU by the time that the server's loop spins before it sleeps.";

    protected override string Method =>
        "The server may use both cores, as the default never spins where there is only one, with its loop pinned to the first; the "
        + "client sleeps in recv, so waking it up, which no server can help, is part of every round trip. At a rate a round trip counts "
        + "from when its request was due; requests are late that were due before the reply to the one before. Every reply is compared with "
        + "its request, byte for byte.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.RoundTripP50, Metric.RoundTripP99, Metric.Throughput, Metric.ServerCpuShare, Metric.ServerCpuPerMessage,
        Metric.ClientCpuPerMessage, Metric.LateRequests,
        Metric.ClientCpuShare, Metric.OtherCpuShare, Metric.ServerPeakRss, Metric.ClientPeakRss,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        IReadOnlyList<int> cores = context.Bench.Pinning.Both;
        Candidate asleep = context.Candidates.FastPortSpinningFor(0, cores);
        Candidate[] spinning = [.. Times.Select(time => context.Candidates.FastPortSpinningFor(time, cores))];
        foreach ((string title, int every) in Loads)
        {
            var load = new LockStepLoad(context.Bench, context.Native, PayloadBytes, spinning: false)
            {
                Cores = context.Bench.Pinning.PairClient,
                EveryMicroseconds = every,
            };
            yield return new Workload(
                $"{PayloadSize.Text(PayloadBytes)}, {title}",
                [.. spinning.Prepend(asleep).Select(candidate => new ServerContestant(candidate, load, context))],
                [.. spinning.Select(candidate => new RatioQuestion(Metric.RoundTripP50, candidate.Name, asleep.Name))]);
        }
    }
}
