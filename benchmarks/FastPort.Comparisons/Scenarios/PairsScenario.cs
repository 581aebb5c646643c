using System.Globalization;
using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;
using PeerSupport;

namespace FastPort.Comparisons.Scenarios;

/// <summary>
/// This checkout against another one of FastPort, both built: the same rows of each in alternating runs. What a change gains or costs.
/// </summary>
internal sealed class PairsScenario : ContestScenario
{
    private const string Now = "now";
    private const string Before = "before";
    private const int Connections = 32;
    private const int InFlight = 16;

    public override string Name => "pairs";

    public override string Description => "This checkout against another one that is built too (--baseline): the rows that matter most.";

    protected override string Method =>
        "Each run has new processes. Servers of both are measured by this checkout's programs in C; one way and with OPC UA, both ends are "
        + "the checkout's own. The interval holds the true median with 95 % probability, whatever the distribution: it lies between two of "
        + "the ordered ratios. Every reply is compared with its request, byte for byte; of messages one way number, order and edges are "
        + "verified and both sides' counts compared. Every OPC UA value must be its tag's, of a generation that is not older than those "
        + "seen before, and less than a second old when it was asked for.";

    protected override IReadOnlyList<Metric> Columns { get; } =
        [Metric.Throughput, Metric.RoundTripP50, Metric.ServerCpuPerMessage, Metric.ClientCpuPerMessage, Metric.OtherCpuShare];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        using Workbench bench = Baseline(context);
        ScenarioContext before = context with
        {
            Bench = bench,
            Candidates = new CandidateCatalog(bench, context.Native, context.Options),
        };
        foreach (int size in (int[])[64, 8192])
        {
            var load = new EchoLoad(context.Bench, context.Native, Connections, InFlight, size);
            yield return Servers(
                $"typed Echo, {PayloadSize.Text(size)}, {Connections} x {InFlight}", load, Metric.Throughput, context, before);
        }

        yield return Servers(
            "lock-step, 64 B, one core",
            new LockStepLoad(context.Bench, context.Native, 64, spinning: false) { Cores = context.Bench.Pinning.Server },
            Metric.RoundTripP50,
            context,
            before);
        yield return OneWay("TCP", MessagingLink.Tcp, 64, context, before);
        yield return OneWay("Unix socket", MessagingLink.UnixSocket, 1024, context, before);
        yield return OneWay("in-process", MessagingLink.InProcess, 64, context, before);
        yield return OneWay("in-process", MessagingLink.InProcess, 65536, context, before);
        yield return OpcUaRead(context, before);
    }

    protected override async Task AddOwnAsync(
        ScenarioContext context, List<WorkloadReport> workloads, List<ReportTable> tables, CancellationToken cancellation)
    {
        using Workbench baseline = Baseline(context);
        string commit = await CommitReader.ReadAsync(baseline, cancellation);

        // A workload that failed has no ratio.
        tables.Add(
            new ReportTable(
                ["workload", $"speed, now / before ({commit}): median of pairs", "95 % interval", "pairs"],
                [.. workloads.Where(static workload => workload.Ratios.Count == 1).Select(Row)]));
    }

    private static Workbench Baseline(ScenarioContext context) => new(
        ProgramLocator.At(
            context.Options.Baseline
                ?? throw new ComparisonException("pairs needs --baseline, the folder of another checkout that is built."),
            context.Bench.Programs),
        context.Bench.Pinning);

    private static IReadOnlyList<string> Row(WorkloadReport workload)
    {
        IReadOnlyDictionary<string, double>[][] runs = [.. workload.Contestants.Select(static contestant => contestant.Runs.ToArray())];
        string? p50 = workload.Ratios[0].Metric == Metric.RoundTripP50.Title ? Metric.RoundTripP50.Key : null;
        double[] speeds = [.. runs[0].Zip(
            runs[1], (now, before) => p50 is null
                ? now[Metric.Throughput.Key] / before[Metric.Throughput.Key]
                : before[p50] / now[p50])];
        (double low, double high) = MedianInterval.Of(speeds);
        return
        [
            workload.Title, string.Create(CultureInfo.InvariantCulture, $"{Spread.Of(speeds).Median:N3}"),
            string.Create(CultureInfo.InvariantCulture, $"{low:N3} - {high:N3}"), Invariant.Text(speeds.Length),
        ];
    }

    private static Workload Servers(string title, ILoadProgram load, Metric metric, ScenarioContext now, ScenarioContext before) => new(
        title,
        [
            new ServerContestant(now.Candidates.FastPort with { Name = Now }, load, now),
            new ServerContestant(before.Candidates.FastPort with { Name = Before }, load, before),
        ],
        [new RatioQuestion(metric, Now, Before)])
    {
        HasNewProcesses = true,
    };

    // Both ends are OpcUaPeer as its checkout has built it, so all that is asked of the other checkout is this program's arguments.
    private static Workload OpcUaRead(ScenarioContext now, ScenarioContext before)
    {
        var ask = new OpcUaAsk("read", 2000, 1, OpcUaAsk.None);
        IReadOnlyList<int> core = now.Bench.Pinning.Server;
        return new Workload(
            "OPC UA, Read of 2,000 tags, one core",
            [new OpcUaPeers(now).Own(ask, core, core, Now), new OpcUaPeers(before).Own(ask, core, core, Before)],
            [new RatioQuestion(Metric.RoundTripP50, Now, Before)])
        {
            HasNewProcesses = true,
        };
    }

    private static Workload OneWay(string title, MessagingLink link, int size, ScenarioContext now, ScenarioContext before) => new(
        $"one way, {title}, {PayloadSize.Text(size)}",
        [
            new MessagingContestant(
                new MessagingPeers(now).FastPort(Now, link, size, lockStep: false, spinMicroseconds: null), size, lockStep: false, now),
            new MessagingContestant(
                new MessagingPeers(before).FastPort(Before, link, size, lockStep: false, spinMicroseconds: null), size, lockStep: false,
                before),
        ],
        [new RatioQuestion(Metric.Throughput, Now, Before)])
    {
        HasNewProcesses = true,
    };
}
