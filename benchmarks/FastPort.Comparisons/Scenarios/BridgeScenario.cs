using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>The same requests directly and through the bridge, and what the bridge makes of many sessions that ask the same.</summary>
internal sealed class BridgeScenario : ContestScenario
{
    private const int Many = 16;
    private const int CachedAge = 200;
    private const string SharingTitle = "64 sessions, the same 100 tags 100 times a second, at most 10 ms old";

    private static readonly OpcUaAsk[] Asks =
    [
        .. from ask in (OpcUaAsk[])
           [
               new("read", 1, 1, OpcUaAsk.None), new("read", 100, 1, OpcUaAsk.None), new("read", 2000, 1, OpcUaAsk.None),
               new("read", 2000, 1, OpcUaAsk.None) { BridgeMaxAge = CachedAge },
               new("write", 1, 1, OpcUaAsk.None), new("write", 200, 1, OpcUaAsk.None),
           ]
           from outstanding in (int[])[1, Many]
           select ask with { Outstanding = outstanding },
    ];

    // What a short run sees of every kind.
    private static readonly OpcUaAsk[] QuickAsks =
    [
        new("read", 100, Many, OpcUaAsk.None), new("read", 2000, 1, OpcUaAsk.None) { BridgeMaxAge = CachedAge },
        new("write", 200, Many, OpcUaAsk.None),
    ];

    // The load must be there for its limits to mean something: one request in twenty may be missed.
    private static readonly (Metric Metric, Target Limit)[] SharingLimits =
    [
        (Metric.Throughput, Target.AtLeast(6080)), (Metric.SourceReads, Target.AtMost(110)), (Metric.OldestValue, Target.AtMost(10)),
    ];

    public override string Name => "bridge";

    public override string Description =>
        "Read and Write through the bridge, against the OPC UA client alone; and many sessions of the bridge that read the same tags.";

    // Three processes on one core are slower to have their code compiled.
    public override ScenarioDefaults Defaults { get; } = ScenarioDefaults.Usual with { WarmupSeconds = 12 };

    protected override string Method =>
        "2,000 tags, half Int32, 800 Double, 200 String; while they are read, all change four times a second. Every value that is read "
        + "must be its tag's, of a generation that is not older than those seen before, and less than a second old when it was asked for, "
        + "through the bridge five. What was written is read back after each run. A message is a request with its response. "
        + "The bridge asks the server for each value, but where values may be 200 ms old: there a group is published every 50 ms, and "
        + "values come from the cache. With one "
        + "request outstanding all processes share a core, else server and bridge have one and the client the other. All writers of 200 "
        + "tags write the same ones. Of the 64 sessions one after the other is due, evenly spread; the server counts how often each tag is "
        + "read. All values of an answer must be those of one Read, whose time at the server is subtracted from the time of the request: "
        + "that is their age.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.Throughput, Metric.Tags, Metric.RoundTripP50, Metric.RoundTripP99, Metric.ServerCpuPerMessage, Metric.BridgeCpuPerMessage,
        Metric.ClientCpuPerMessage, Metric.ServerCpuShare, Metric.BridgeCpuShare, Metric.ClientCpuShare, Metric.ServerAllocated,
        Metric.ClientAllocated, Metric.SourceReads, Metric.OldestValue, Metric.MissedRequests, Metric.OtherCpuShare,
    ];

    /// <summary>What is asked of sessions that read the same; nothing where they were not measured.</summary>
    public static IEnumerable<RatioReport> SharingLimitsOf(IReadOnlyList<ContestantReport> contestants) =>
        SharingLimits.SelectMany(limit => RatioReport.Limit(limit.Metric, limit.Limit, OpcUaPeers.FastPortBridged, contestants));

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        var peers = new OpcUaPeers(context);
        CpuPinning pinning = context.Bench.Pinning;
        foreach (OpcUaAsk ask in context.Options.Quick ? QuickAsks : Asks)
        {
            IReadOnlyList<int> client = ask.Outstanding == 1 ? pinning.Server : pinning.Client;
            yield return new Workload(
                ask.BridgeMaxAge == 0 ? ask.TagsTitle : $"{ask.TagsTitle}, at most {ask.BridgeMaxAge} ms old",
                [peers.Own(ask, pinning.Server, client), peers.Bridged(ask, pinning.Server, client)],
                [
                    .. from metric in (Metric[])[Metric.Throughput, Metric.RoundTripP50, Metric.RoundTripP99]
                       select new RatioQuestion(metric, OpcUaPeers.FastPortBridged, OpcUaPeers.FastPort),
                ]);
        }

        yield return new Workload(SharingTitle, [peers.Sharing()], []);
    }

    protected override Task AddOwnAsync(
        ScenarioContext context, List<WorkloadReport> workloads, List<ReportTable> tables, CancellationToken cancellation)
    {
        tables.Add(AddedLatency.Of(workloads));
        int sharing = workloads.FindIndex(static workload => workload.Title == SharingTitle);
        if (sharing >= 0)
        {
            workloads[sharing] = workloads[sharing] with
            {
                Ratios = [.. SharingLimitsOf(workloads[sharing].Contestants)],
            };
        }

        return Task.CompletedTask;
    }
}
