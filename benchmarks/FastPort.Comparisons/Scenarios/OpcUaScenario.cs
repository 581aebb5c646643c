using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>OPC UA: FastPort's client and server against node-opcua's, and against what the engine and the machine can do.</summary>
internal sealed class OpcUaScenario : ContestScenario
{
    private const int Many = 16;
    private const string RawLockStep = "epoll raw (C), 1 x 16, 80 B";
    private const string RawLoaded = "epoll raw (C), 32 x 16, 64 B";
    private const string EchoMany = "typed Echo, 1 x 16";
    private const string EchoOne = "typed Echo, 64 B, one in flight";

    // A payload that makes a frame of 80 bytes, about what a Read of one tag takes.
    private const int Payload80 = 66;

    // The machine that the absolute targets were set on.
    private const double TargetMachineMessages = 2.1e6;
    private const int SmallPayload = 64;

    private static readonly (string Operation, int Count)[] Tags =
        [("read", 1), ("read", 100), ("read", 2000), ("write", 1), ("write", 200)];

    private static readonly OpcUaItems Items = new(
        Sessions: 1000, Count: 100_000, Together: 200, EveryMilliseconds: 20, PublishingMilliseconds: 500);

    private static readonly int[] Packages = [1 << 10, 1 << 20, 100 << 20];

    public override string Name => "opcua";

    public override string Description =>
        "OPC UA: Read, Write and GetPackage by FastPort's client and server against node-opcua's, without security and with "
        + "Basic256Sha256, signed and encrypted.";

    protected override string Method =>
        "2,000 tags, half Int32, 800 Double, 200 String; all change four times a second. Every value that is read must be its tag's, of a "
        + "generation that is not older than those seen before, and less than a second old when it was asked for (of node-opcua's server, "
        + "which changes late while it is busy, half a minute). What was written is read back after each run. A message is a request with "
        + "its response. With one request outstanding both ends share a core, else they have a core each; packages are fetched one after "
        + "the other, with a core each. Of monitored items a message is a change, and the round trip is the time from the change to its "
        + "arrival, at most 500 ms of publishing interval included; every item sees each change once.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.Throughput, Metric.Tags, Metric.Mebibits, Metric.RoundTripP50, Metric.RoundTripP99, Metric.ServerCpuPerMessage,
        Metric.ClientCpuPerMessage, Metric.ServerAllocated, Metric.ClientAllocated, Metric.ServerCpuShare, Metric.ClientCpuShare,
        Metric.OtherCpuShare, Metric.ServerPeakRss, Metric.ClientPeakRss,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        var security = new OpcUaSecurityCost(context);
        if (context.Options.Quick)
        {
            yield return OfTags(new OpcUaAsk("read", 1, Many, OpcUaAsk.None), context);
            yield return security.Workload;
            yield break;
        }

        foreach (string policy in (string[])[OpcUaAsk.None, OpcUaAsk.Secure])
        {
            foreach ((string operation, int count) in Tags)
            {
                yield return OfTags(new OpcUaAsk(operation, count, 1, policy), context);
                yield return OfTags(new OpcUaAsk(operation, count, Many, policy), context);
            }

            foreach (int bytes in Packages)
            {
                yield return OfPackages(new OpcUaAsk("package", bytes, 1, policy), context);
            }
        }

        yield return OnOneCore(context);
        yield return Spinning(context);
        yield return new Workload(
            "1,000 sessions, 100,000 monitored items, a tenth changes each second",
            [new OpcUaPeers(context).Monitoring(Items, context.Bench.Pinning.Server, context.Bench.Pinning.Client)],
            []);
        yield return security.Workload;
    }

    protected override Task AddOwnAsync(
        ScenarioContext context, List<WorkloadReport> workloads, List<ReportTable> tables, CancellationToken cancellation)
    {
        OpcUaSecurityCost.AddRatio(workloads);
        return Task.CompletedTask;
    }

    private static Workload OfTags(OpcUaAsk ask, ScenarioContext context)
    {
        (IReadOnlyList<int> server, IReadOnlyList<int> client) = ask.Outstanding == 1
            ? (context.Bench.Pinning.Server, context.Bench.Pinning.Server)
            : (context.Bench.Pinning.Server, context.Bench.Pinning.Client);
        var contestants = new List<IContestant>(Three(ask, server, client, context));
        double target = ask.Outstanding == 1 ? 3 : 5;
        List<RatioQuestion> questions =
        [
            new(Metric.Throughput, OpcUaPeers.FastPort, OpcUaPeers.NodeClient, Target.AtLeast(target)),
            new(Metric.Throughput, OpcUaPeers.FastPort, OpcUaPeers.NodeServer, Target.AtLeast(target)),
        ];
        switch (ask)
        {
            case ("read", 1, Many, OpcUaAsk.None):
                var raw = new EchoLoad(context.Bench, context.Native, connections: 1, Many, Payload80);
                contestants.Insert(1, new ServerContestant(context.Candidates.Raw(RawLockStep, RawWait.Sleep), raw, context));
                questions.Add(new(Metric.Throughput, OpcUaPeers.FastPort, RawLockStep, Target.AtLeast(0.9)));
                break;
            case ("read", 1, 1, OpcUaAsk.None):
                var echo = new EngineLockStepLoad(context.Bench, SmallPayload, spinMicroseconds: 0) { Cores = server };
                contestants.Insert(
                    1,
                    new ServerContestant(context.Candidates.FastPort with { Name = EchoOne }, echo, context)
                    {
                        // Its client is a new .NET process each time.
                        LeadInSeconds = context.Options.WarmupSeconds,
                    });
                questions.Add(new(Metric.RoundTripP50, OpcUaPeers.FastPort, EchoOne, Target.AtMost(1.3)));
                break;
            case ("read", 2000, Many, OpcUaAsk.None):
                AgainstTheMachine(Metric.Tags, 1, 10e6, contestants, questions, context);
                break;
            case ("write", 200, Many, OpcUaAsk.None):
                AgainstTheMachine(Metric.Tags, 1, 6e6, contestants, questions, context);
                break;
        }

        return new Workload(Title(ask), contestants, questions);
    }

    private static Workload OfPackages(OpcUaAsk ask, ScenarioContext context)
    {
        const double Mebi = 1 << 20;
        var contestants = new List<IContestant>(Three(ask, context.Bench.Pinning.Server, context.Bench.Pinning.Client, context));
        List<RatioQuestion> questions =
        [
            new(Metric.Mebibits, OpcUaPeers.FastPort, OpcUaPeers.NodeClient, Target.AtLeast(1)),
            new(Metric.Mebibits, OpcUaPeers.FastPort, OpcUaPeers.NodeServer, Target.AtLeast(3)),
        ];
        double megabits = ask switch { (_, 1 << 20, _, OpcUaAsk.None) => 15_000, (_, 100 << 20, _, OpcUaAsk.None) => 8_000, _ => 0 };
        if (megabits > 0)
        {
            AgainstTheMachine(Metric.Mebibits, SmallPayload * 8 / Mebi, megabits * 1e6 / Mebi, contestants, questions, context);
        }

        return new Workload(Title(ask), contestants, questions);
    }

    // Half of what the engine does with its own protocol where both ends share a core.
    private static Workload OnOneCore(ScenarioContext context)
    {
        IReadOnlyList<int> core = context.Bench.Pinning.Server;
        var ask = new OpcUaAsk("read", 1, Many, OpcUaAsk.None);
        var echo = new EngineLockStepLoad(context.Bench, Payload80, spinMicroseconds: 0) { Cores = core, InFlight = Many };
        return new Workload(
            $"{Title(ask)}, one core",
            [
                new OpcUaPeers(context).Own(ask, core, core),
                new ServerContestant(context.Candidates.FastPort with { Name = EchoMany }, echo, context)
                {
                    // Its client is a new .NET process each time.
                    LeadInSeconds = context.Options.WarmupSeconds,
                },
            ],
            [new(Metric.Throughput, OpcUaPeers.FastPort, EchoMany, Target.AtLeast(0.5))]);
    }

    private static Workload Spinning(ScenarioContext context)
    {
        var ask = new OpcUaAsk("read", 1, Many, OpcUaAsk.None) { SpinMicroseconds = CandidateCatalog.SpinMicroseconds };
        var contestants = new List<IContestant>
        {
            new OpcUaPeers(context).Own(ask, context.Bench.Pinning.Server, context.Bench.Pinning.Client),
        };
        var questions = new List<RatioQuestion>();
        AgainstTheMachine(Metric.Throughput, 1, 250e3, contestants, questions, context);
        return new Workload($"{Title(ask)}, both ends spinning", contestants, questions);
    }

    // An absolute target of another machine, as the ratio to what the raw loop does: that of this machine scales it.
    private static void AgainstTheMachine(
        Metric unit, double perMessage, double target, List<IContestant> contestants, List<RatioQuestion> questions,
        ScenarioContext context)
    {
        var load = new EchoLoad(context.Bench, context.Native, connections: 32, Many, SmallPayload);
        var raw = new ServerContestant(context.Candidates.Raw(RawLoaded, RawWait.Sleep), load, context);
        contestants.Insert(1, new ConvertedContestant(raw, unit, perMessage));
        questions.Add(new(unit, OpcUaPeers.FastPort, RawLoaded, Target.AtLeast(target / (TargetMachineMessages * perMessage))));
    }

    private static IContestant[] Three(OpcUaAsk ask, IReadOnlyList<int> server, IReadOnlyList<int> client, ScenarioContext context)
    {
        var peers = new OpcUaPeers(context);
        return [peers.Own(ask, server, client), peers.UnderNode(ask, server, client), peers.AgainstNode(ask, server, client)];
    }

    private static string Title(OpcUaAsk ask)
    {
        string what = ask.Operation == "package"
            ? $"GetPackage of {(ask.Count < 1 << 20 ? PayloadSize.Text(ask.Count) : $"{ask.Count >> 20} MiB")}"
            : ask.TagsTitle;
        return ask.Policy == OpcUaAsk.None ? what : $"{what}, SignAndEncrypt";
    }
}
