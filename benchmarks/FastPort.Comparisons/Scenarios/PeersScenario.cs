using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>
/// FastPort between its peers and its limits: Kestrel, the runtime's sockets with nothing on them, and the raw loop in C that does nothing
/// but echo bytes.
/// </summary>
internal sealed class PeersScenario : ContestScenario
{
    private const int Connections = 32;
    private const int InFlight = 16;
    private const int SmallPayload = 64;

    private const string Raw = "epoll raw (C)";
    private const string RawBlocking = "recv raw (C), a thread per connection";
    private const string RawSpinning = "epoll raw (C), spinning";
    private const string RawBothEnds = "sockets raw (C), both ends spinning";
    private const string FastPortBothEnds = "FastPort, both ends spinning";

    private static readonly int[] Sizes = [64, 1024, 8192, 65536];

    private static readonly Dictionary<int, double> AgainstRaw = new() { [64] = 0.6, [1024] = 0.6, [8192] = 0.7, [65536] = 0.7 };
    private static readonly Dictionary<int, double> AgainstKestrel = new() { [64] = 1.4, [1024] = 2, [8192] = 2.5, [65536] = 1.8 };
    private static readonly Dictionary<int, double> CpuAgainstKestrel = new() { [64] = 0.72, [1024] = 0.5, [8192] = 0.4 };

    public override string Name => "peers";

    public override string Description =>
        "Echo between peers and limits: a Kestrel handler and FastPort serve frames; SocketAsyncEventArgs and the epoll loop in C only "
        + "send back the bytes they received.";

    protected override string Method =>
        "The raw candidates know no frames: their replies are the requests' very bytes, where the others set the Reply bit; the client "
        + "compares either with what was sent, byte for byte. Under load all are driven by one client in C "
        + "(benchmarks/Native/echo_load.c), in lock-step by a raw client (lock_step.c), except for FastPort on both ends. On one core "
        + "nobody spins and the client sleeps in recv.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.Throughput, Metric.ServerCpuPerMessage, Metric.ClientCpuPerMessage, Metric.RoundTripP50, Metric.RoundTripP99,
        Metric.ServerCpuShare, Metric.ClientCpuShare, Metric.OtherCpuShare, Metric.ServerPeakRss, Metric.ClientPeakRss,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        foreach (int size in context.Options.SizesOf(Sizes))
        {
            yield return UnderLoad(size, context);
        }

        yield return OnOneCore(context);
        yield return ServerSpinning(context);
        yield return BothEndsSpinning(unixSocket: false, 1.6, context);
        yield return BothEndsSpinning(unixSocket: true, 2.1, context);
    }

    private static Workload UnderLoad(int size, ScenarioContext context)
    {
        CandidateCatalog candidates = context.Candidates;
        (string fastPort, string kestrel) = (candidates.FastPort.Name, candidates.Kestrel.Name);
        return Create(
            $"{PayloadSize.Text(size)}, {Connections} x {InFlight}",
            new EchoLoad(context.Bench, context.Native, Connections, InFlight, size),
            context,
            [
                // Those with a target side by side.
                candidates.Raw(Raw, RawWait.Sleep), candidates.FastPort, candidates.Kestrel, candidates.FastPortSockets,
                candidates.KestrelInline, candidates.SocketEvents, candidates.SocketEventsInline, .. candidates.Others,
            ],
            [
                new RatioQuestion(Metric.Throughput, fastPort, Raw, AtLeast(AgainstRaw, size)),
                new RatioQuestion(Metric.Throughput, fastPort, kestrel, AtLeast(AgainstKestrel, size)),
                new RatioQuestion(
                    Metric.ServerCpuPerMessage, fastPort, kestrel, CpuAgainstKestrel.TryGetValue(size, out double cpu)
                        ? Target.AtMost(cpu)
                        : null),
                new RatioQuestion(Metric.Throughput, candidates.FastPortSockets.Name, kestrel),
                new RatioQuestion(Metric.Throughput, fastPort, candidates.KestrelInline.Name),
                new RatioQuestion(Metric.Throughput, fastPort, candidates.SocketEventsInline.Name),
                .. candidates.Others.Select(other => new RatioQuestion(Metric.Throughput, fastPort, other.Name)),
            ]);
    }

    private static Workload OnOneCore(ScenarioContext context)
    {
        CandidateCatalog candidates = context.Candidates;
        (string fastPort, string kestrel) = (candidates.FastPort.Name, candidates.Kestrel.Name);
        return Create(
            $"{PayloadSize.Text(SmallPayload)}, lock-step, one core, nobody spins",
            new LockStepLoad(context.Bench, context.Native, SmallPayload, spinning: false) { Cores = context.Bench.Pinning.Server },
            context,
            [
                // In pairs of a percent's difference it matters what else the machine does meanwhile: those with a target side by side.
                candidates.Raw(Raw, RawWait.Sleep), candidates.FastPort, candidates.Kestrel,
                candidates.Raw(RawBlocking, RawWait.Block), candidates.FastPortSockets, candidates.SocketEvents,
                candidates.SocketEventsInline, candidates.KestrelInline, .. candidates.Others,
            ],
            [
                new RatioQuestion(Metric.RoundTripP50, fastPort, Raw, Target.AtMost(1.25)),
                new RatioQuestion(Metric.RoundTripP50, fastPort, kestrel, Target.AtMost(0.8)),
                new RatioQuestion(Metric.RoundTripP99, fastPort, kestrel, Target.AtMost(0.85)),

                new RatioQuestion(Metric.RoundTripP50, fastPort, candidates.KestrelInline.Name),
                .. candidates.Others.Select(other => new RatioQuestion(Metric.RoundTripP50, fastPort, other.Name)),

                // What is below these nobody can reach.
                new RatioQuestion(Metric.RoundTripP50, Raw, kestrel),
                new RatioQuestion(Metric.RoundTripP99, Raw, kestrel),
                new RatioQuestion(Metric.RoundTripP50, RawBlocking, kestrel),
                new RatioQuestion(Metric.RoundTripP99, RawBlocking, kestrel),
            ]);
    }

    private static Workload ServerSpinning(ScenarioContext context) => Create(
        $"{PayloadSize.Text(SmallPayload)}, lock-step, server spins, client sleeps",
        new LockStepLoad(context.Bench, context.Native, SmallPayload, spinning: false),
        context,
        [context.Candidates.FastPortSpinning, context.Candidates.SocketSpinning, context.Candidates.Raw(RawSpinning, RawWait.Epoll)],
        [new RatioQuestion(Metric.RoundTripP50, context.Candidates.FastPortSpinning.Name, RawSpinning, Target.AtMost(1.2))]);

    // FastPort's engine on both ends against two bare sockets that are read again and again: nobody can be faster.
    private static Workload BothEndsSpinning(bool unixSocket, double target, ScenarioContext context)
    {
        CandidateCatalog candidates = context.Candidates;
        Candidate fastPort = (unixSocket ? candidates.FastPortUnixSpinning : candidates.FastPortSpinning) with { Name = FastPortBothEnds };
        var engine = new EngineLockStepLoad(context.Bench, SmallPayload, CandidateCatalog.SpinMicroseconds);
        var raw = new LockStepLoad(context.Bench, context.Native, SmallPayload, spinning: true);
        return new Workload(
            $"{PayloadSize.Text(SmallPayload)}, lock-step, both ends spin, {(unixSocket ? "Unix socket" : "TCP")}",
            [
                // Its client is a new .NET process each time.
                new ServerContestant(fastPort, engine, context) { LeadInSeconds = context.Options.WarmupSeconds },
                new ServerContestant(candidates.Raw(RawBothEnds, RawWait.Recv, unixSocket), raw, context),
            ],
            [new RatioQuestion(Metric.RoundTripP50, FastPortBothEnds, RawBothEnds, Target.AtMost(target))]);
    }

    private static Workload Create(
        string title, ILoadProgram load, ScenarioContext context, IReadOnlyList<Candidate> candidates,
        IReadOnlyList<RatioQuestion> questions) =>
        new(title, [.. candidates.Select(candidate => new ServerContestant(candidate, load, context))], questions) { HasOneClient = true };

    private static Target? AtLeast(Dictionary<int, double> targets, int size) =>
        targets.TryGetValue(size, out double target) ? Target.AtLeast(target) : null;
}
