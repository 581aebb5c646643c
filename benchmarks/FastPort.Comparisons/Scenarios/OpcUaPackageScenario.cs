using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Scenarios;

/// <summary>Packages of random bytes by a method call, one after the other, for as long as is published.</summary>
internal sealed class OpcUaPackageScenario : ContestScenario
{
    private static readonly int[] Sizes = [1 << 10, 1 << 20, 100 << 20];

    public override string Name => "opcua-package";

    public override string Description => "OPC UA: SetPackageSize, then GetPackage in a closed loop.";

    protected override string Method =>
        "The server is the simulation, server and client have a core each. Length and some bytes of each package are compared with the "
        + "first one's. The client prints its rate every 2 s.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.Mebibits, Metric.Mebibytes, Metric.Throughput, Metric.RoundTripP50, Metric.RoundTripP99, Metric.ServerCpuShare,
        Metric.ClientCpuShare, Metric.OtherCpuShare, Metric.ServerPeakRss, Metric.ClientPeakRss,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        var peers = new OpcUaPeers(context);
        foreach (int bytes in context.Options.SizesOr(Sizes))
        {
            var ask = new OpcUaAsk("package", bytes, 1, OpcUaAsk.None) { HasRateLines = true };
            yield return new Workload(
                bytes > 0 && bytes % (1 << 20) == 0 ? $"{Invariant.Text(bytes >> 20)} MiB" : PayloadSize.Text(bytes),
                [peers.Packages(ask, byNode: false), peers.Packages(ask, byNode: true)],
                [new RatioQuestion(Metric.Mebibits, OpcUaPeers.FastPort, OpcUaPeers.NodeClient)]);
        }
    }
}
