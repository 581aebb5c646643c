using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;

namespace FastPort.Comparisons.Scenarios;

/// <summary>One loop on one core, two loops on two.</summary>
internal sealed class CoresScenario : ContestScenario
{
    private const int Connections = 32;
    private const int InFlight = 16;

    private static readonly int[] DefaultSizes = [64, 8192];

    public override string Name => "cores";

    public override string Description => "Typed Echo, 32 connections x 16 in flight: one loop on one core, two loops on two.";

    protected override string Method =>
        "On two cores the servers share the second one with the load client where the machine has no third: there the CPU per message "
        + "says what a second loop costs, and the rate only what is left over. Every reply is compared with its request, byte for byte.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.Throughput, Metric.ServerCpuPerMessage, Metric.ClientCpuPerMessage, Metric.RoundTripP50, Metric.RoundTripP99,
        Metric.ServerCpuShare, Metric.ClientCpuShare, Metric.OtherCpuShare, Metric.ServerPeakRss, Metric.ClientPeakRss,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        CandidateCatalog candidates = context.Candidates;
        IReadOnlyList<int> one = context.Bench.Pinning.Server;
        IReadOnlyList<int> two = context.Bench.Pinning.ServerPair;
        Candidate[] contestants =
        [
            candidates.FastPortLoops(1, one) with { Name = "FastPort, 1 loop" },
            candidates.FastPortLoops(2, two) with { Name = "FastPort, 2 loops" },
            candidates.Kestrel with { Name = "Kestrel, 1 core", Cores = one },
            candidates.Kestrel with { Name = "Kestrel, 2 cores", Cores = two },
        ];
        foreach (int size in context.Options.SizesOr(DefaultSizes))
        {
            var load = new EchoLoad(context.Bench, context.Native, Connections, InFlight, size)
            {
                Cores = context.Bench.Pinning.PairClient,
            };
            yield return new Workload(
                $"{PayloadSize.Text(size)}, {Connections} x {InFlight}",
                [.. contestants.Select(candidate => new ServerContestant(candidate, load, context))],
                [
                    new RatioQuestion(Metric.Throughput, contestants[1].Name, contestants[0].Name),
                    new RatioQuestion(Metric.ServerCpuPerMessage, contestants[1].Name, contestants[0].Name),
                    new RatioQuestion(Metric.Throughput, contestants[1].Name, contestants[3].Name),
                ])
            {
                HasOneClient = true,
            };
        }
    }
}
