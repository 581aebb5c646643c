using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>How fast programs that embed FastPort are in their first seconds of load.</summary>
internal sealed class ColdScenario : ContestScenario
{
    /// <summary>Name of a contestant whose client is cold.</summary>
    public const string Client = "cold client";

    private const string Server = "cold server";
    private const int Connections = 32;
    private const int InFlight = 16;
    private const int Size = 64;

    private static readonly (Metric Metric, double AtLeast)[] Targets = [(ColdMetric.First, 0.5), (ColdMetric.Second, 0.8)];

    public override string Name => "cold";

    public override string Description => "Programs that embed FastPort: the share of their steady rate in the first seconds of load.";

    /// <summary>Until the rate is steady. Both ends have a core each, on which the runtime compiles too.</summary>
    public override ScenarioDefaults Defaults { get; } = new(20, 3, 5, 1);

    protected override string Method =>
        "The cold end is a new process each run, built with the packages' runtime settings; the seconds count from the first request, once "
        + "it is connected. The other end is warm. The steady rate is that of the last fifth of the run. Server: a program with a service, "
        + "typed Echo by the load client in C. Client: unary calls of the generated client. Tags: a TagClient reads 100 tags of a bridge, "
        + "which has their values. OPC UA: a client reads 100 tags. Every reply and value is verified.";

    protected override IReadOnlyList<Metric> Columns { get; } =
        [ColdMetric.Steady, ColdMetric.First, ColdMetric.Second, Metric.Tags, Metric.OtherCpuShare];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        yield return new Workload(
            $"server, typed Echo, {PayloadSize.Text(Size)}, {Connections} x {InFlight}",
            [
                new ServerContestant(
                    context.Candidates.FastPortService with { Name = Server, MessageType = 0x1000 },
                    new EchoLoad(context.Bench, context.Native, Connections, InFlight, Size), context)
                {
                    IsCold = true,
                    LeadInSeconds = 0,
                    Report = ColdMetric.Of,
                },
            ],
            [])
        {
            HasNewProcesses = true,
        };
        yield return new Workload(
            $"client, unary calls, {PayloadSize.Text(Size)}, {Connections} x {InFlight}",
            [
                new ServerContestant(
                    context.Candidates.FastPortService with { Name = Client },
                    new ServiceCallLoad(context.Bench, "fastport", "unary", Connections, InFlight, Size), context)
                {
                    LeadInSeconds = 0,
                    Report = ColdMetric.Of,
                },
            ],
            []);
        var ask = new OpcUaAsk("read", 100, 16, OpcUaAsk.None);
        var peers = new OpcUaPeers(context);
        yield return new Workload($"tags, {ask.TagsTitle}", [peers.ColdBridged(ask with { BridgeMaxAge = 200 })], []);
        yield return new Workload($"OPC UA, {ask.TagsTitle}", [peers.Cold(ask)], []);
    }

    protected override Task AddOwnAsync(
        ScenarioContext context, List<WorkloadReport> workloads, List<ReportTable> tables, CancellationToken cancellation)
    {
        for (int i = 0; i < workloads.Count; i++)
        {
            WorkloadReport workload = workloads[i];
            workloads[i] = workload with
            {
                Ratios = [.. workload.Contestants.SelectMany(
                    one => Targets.Select(target => RatioReport.ToTarget(target.Metric, target.AtLeast, one)))],
                NotMeasured = workload.Contestants.Count > 0 ? 0 : Targets.Length,
            };
        }

        return Task.CompletedTask;
    }
}
