using System.Globalization;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>
/// Reads and writes of one OPC UA session at a fixed time. Most of it is waiting, after which caches and cores are cold: that is what it
/// measures.
/// </summary>
internal sealed class OpcUaReadWriteScenario : IScenario
{
    private static readonly (Metric Metric, Target Limit)[] Limits =
    [
        (TickMetric.Missed, Target.AtMost(0)), (TickMetric.Errors, Target.AtMost(0)), (TickMetric.DriftP95, Target.AtMost(500)),
        (TickMetric.CpuAverage, Target.AtMost(2)), (TickMetric.RssMax, Target.AtMost(100)), (TickMetric.RssGrowth, Target.AtMost(10)),
    ];

    public string Name => "opcua-readwrite";

    public string Description =>
        "One OPC UA session, a tick of 100 ms: at each a Read of 2,000 tags, at every tenth a Write of 200 tags after it.";

    /// <summary>The first repetition is warm-up, and ten ticks are a second.</summary>
    public ScenarioDefaults Defaults { get; } = new(60, 1, 3, 2) { FewestRepetitions = 2 };

    public async Task<ScenarioReport> RunAsync(ScenarioContext context, CancellationToken cancellation)
    {
        Workload workload = WorkloadOf(context);
        var workloads = new List<WorkloadReport>();
        if (context.Options.Selects(workload.Title))
        {
            workloads.Add(WithLimits(await new OneByOne(context.Options, context.Progress).RunAsync(workload, cancellation)));
        }

        return ReportOf(workloads, context);
    }

    private static Workload WorkloadOf(ScenarioContext context) => new(
        "None",
        [.. new TickPeers(context).All.Select(candidate => new TickContestant(candidate, context))],
        [
            new(TickMetric.ReadP50, OpcUaPeers.FastPort, OpcUaPeers.NodeClient, Target.AtMost(0.2)),
            new(TickMetric.ReadP99, OpcUaPeers.FastPort, OpcUaPeers.NodeClient, Target.AtMost(0.3)),
            new(TickMetric.WriteP50, OpcUaPeers.FastPort, OpcUaPeers.NodeClient),
            new(TickMetric.ReadP50, OpcUaPeers.FastPortBridged, OpcUaPeers.FastPort, Target.AtMost(2.2)),
            new(TickMetric.ReadP50, TickPeers.CachingBridge, OpcUaPeers.FastPort, Target.AtMost(1.2)),
        ]);

    // What is asked of FastPort alone. A wrong answer is a failure, too, whoever gave it.
    private static WorkloadReport WithLimits(WorkloadReport report) => report with
    {
        NotMeasured = report.NotMeasured + (report.Contestants.Any(static one => one.Name == OpcUaPeers.FastPort) ? 0 : Limits.Length),
        Ratios =
        [
            .. report.Ratios,
            .. Limits.SelectMany(limit => RatioReport.Limit(limit.Metric, limit.Limit, OpcUaPeers.FastPort, report.Contestants)),
        ],
        Failures =
        [
            .. report.Failures,
            .. report.Contestants.Where(static one => one.Figures[TickMetric.Errors.Key].Max > 0)
                .Select(static one => $"{one.Name}: a tick's requests failed or were answered wrongly, see the column errors"),
        ],
    };

    private ScenarioReport ReportOf(IReadOnlyList<WorkloadReport> workloads, ScenarioContext context) => new()
    {
        Name = Name,
        Description = Description,
        Method = string.Create(
            CultureInfo.InvariantCulture,
            $"{context.Options.Repetitions} repetitions of {context.Options.Seconds} s, of which the first does not count, nor the first "
            + $"twentieth of the others' ticks; one candidate after the other, server and client a process each")
            + (context.Bench.Pinning.IsPinned ? " on a core each. " : ", nothing pinned. ")
            + "The tick is held to absolute time; one that finds the requests of the one before under way is missed. Every value read must "
            + "be the one that the tag had at first or was written last. Medians of the repetitions, but the largest of them for max and "
            + "RSS, and the sum of missed ticks and errors; limits hold in each repetition. CPU and memory are the client process's, "
            + "sampled once a second; RSS growth is that above the first repetition's maximum.",
        Columns = [],
        Workloads = [.. workloads],
        Tables = [TickTable.Of(workloads)],
    };
}
