using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>Typed Echo against Kestrel, and Queued handlers against Inline ones.</summary>
internal sealed class EchoScenario : ContestScenario
{
    private const int Connections = 32;
    private const int InFlight = 16;
    private const int SmallPayload = 64;
    private const int LargePayload = 8192;

    private static readonly int[] Sizes = [64, 1024, 8192];

    private static readonly Dictionary<int, Target> ThroughputTargets = new()
    {
        [64] = Target.AtLeast(1.0),
        [1024] = Target.AtLeast(1.4),
        [8192] = Target.AtLeast(2.0),
    };

    public override string Name => "echo";

    public override string Description =>
        "Typed Echo against a Kestrel connection handler: 32 connections x 16 in flight, lock-step, Queued against Inline.";

    protected override string Method =>
        "One load client in C for all (benchmarks/Native/echo_load.c), which compares every reply with its request, byte for byte; in "
        + "lock-step it shares the server's core. The latency report, "
        + "with the server's part of each round trip, is that of FastPort.Client: a process of its own each run, warmed as long as a "
        + "server. FastPort's transport is the default, epoll; Kestrel hands completions to the thread pool by default. A FastPort message "
        + "is parsed and encoded by Google.Protobuf, its timing is recorded, and 136 B are allocated for it; Kestrel's handler sets one "
        + "bit.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.Throughput, Metric.ServerCpuPerMessage, Metric.ClientCpuPerMessage, Metric.RoundTripP50, Metric.RoundTripP99,
        Metric.ServerCpuShare, Metric.ClientCpuShare, Metric.OtherCpuShare, Metric.ServerPeakRss, Metric.ClientPeakRss,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        CandidateCatalog candidates = context.Candidates;
        Candidate fastPort = candidates.FastPort;
        Candidate kestrel = candidates.Kestrel;
        Candidate inline = candidates.KestrelInline;
        foreach (int size in context.Options.SizesOf(Sizes))
        {
            // Segments of large messages are what pacing holds up.
            Candidate? unchosen = size >= LargePayload ? candidates.FastPortSystemCongestion : null;
            yield return Duel(
                $"{PayloadSize.Text(size)}, {Connections} x {InFlight}",
                Load(context, size),
                fastPort,
                kestrel,
                unchosen is null ? [inline] : [inline, unchosen],
                context,
                (Metric.Throughput, ThroughputTargets.GetValueOrDefault(size)),
                (Metric.ServerCpuPerMessage, null));
        }

        yield return Duel(
            $"{PayloadSize.Text(SmallPayload)}, lock-step, one core",
            new EchoLoad(context.Bench, context.Native, 1, 1, SmallPayload) { Cores = context.Bench.Pinning.Server },
            fastPort,
            kestrel,
            [inline],
            context,
            (Metric.RoundTripP50, Target.AtMost(1.1)),
            (Metric.RoundTripP99, null));

        yield return Duel(
            $"{PayloadSize.Text(SmallPayload)}, {Connections} x {InFlight}, Queued",
            Load(context, SmallPayload),
            candidates.FastPortQueued,
            fastPort,
            [],
            context,
            (Metric.Throughput, Target.AtLeast(0.5)),
            (Metric.ServerCpuPerMessage, null));
    }

    protected override async Task AddOwnAsync(
        ScenarioContext context, List<WorkloadReport> workloads, List<ReportTable> tables, CancellationToken cancellation)
    {
        string title = $"{PayloadSize.Text(SmallPayload)}, {Connections} x {InFlight}";
        var run = new LatencyReportRun(context.Candidates.FastPort, Connections, InFlight, SmallPayload, context);
        var notes = new List<string>();
        var failures = new List<string>();
        if (run.Missing() is { } missing)
        {
            (context.Options.MissingIsError ? failures : notes).Add($"skipped: {missing}");
        }
        else
        {
            try
            {
                tables.Add(await run.RunAsync(title, cancellation));
            }
            catch (ComparisonException exception)
            {
                failures.Add(exception.Message);
            }
        }

        if (notes.Count + failures.Count > 0)
        {
            workloads.Add(new WorkloadReport
            {
                Title = $"{title}, latency report",
                Contestants = [],
                Ratios = [],
                Notes = notes,
                Failures = failures,
            });
        }
    }

    private static EchoLoad Load(ScenarioContext context, int size) => new(context.Bench, context.Native, Connections, InFlight, size);

    // Of the others nothing is asked: the ratios to them are taken by the first question.
    private static Workload Duel(
        string title, ILoadProgram load, Candidate subject, Candidate reference, IReadOnlyList<Candidate> others, ScenarioContext context,
        params (Metric Metric, Target? Target)[] questions)
    {
        IContestant[] contestants = [
            .. others.Prepend(reference).Prepend(subject).Select(candidate => new ServerContestant(candidate, load, context))];
        RatioQuestion[] ratios =
        [
            .. questions.Select(question => new RatioQuestion(question.Metric, subject.Name, reference.Name, question.Target)),
            .. others.Select(other => new RatioQuestion(questions[0].Metric, subject.Name, other.Name)),
        ];
        return new Workload(title, contestants, ratios) { HasOneClient = true };
    }
}
