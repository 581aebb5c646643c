using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>WebSocket endpoints against TCP, ASP.NET Core's WebSockets middleware, and the runtime's WebSocket alone.</summary>
internal sealed class WebSocketScenario : ContestScenario
{
    private const int Connections = 32;
    private const int InFlight = 16;
    private const int SmallPayload = 64;
    private const int IdleConnections = 10_000;
    private const int QuickIdleConnections = 500;

    // As in the scenario idle.
    private const int HoldPeriods = 3;

    private static readonly int[] Sizes = [SmallPayload, 8192];

    public override string Name => "websocket";

    public override string Description =>
        "Echo over WebSocket against TCP, ASP.NET Core's WebSockets middleware and WebSocket.CreateFromStream; 10,000 idle connections.";

    protected override string Method =>
        "One load client in C for all (benchmarks/Native/echo_load.c); it masks each message with a key of its own and compares every "
        + "reply with its request, byte for byte. The frames that it sends together are one WebSocket message, as FastPort's clients "
        + "send them, except in the workload with a message for each frame. Every server parses each frame's Protocol Buffers message "
        + "and encodes it again; the handler of the others answers the frames of a receive with one SendAsync. CreateFromStream is the "
        + "runtime's WebSocket over its NetworkStream, without a web server. Inline: completions run on the threads that read the "
        + "sockets' events, as FastPort's handlers do. Idle connections are measured as in the scenario idle, with a fresh server for "
        + "each run.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.Throughput, Metric.ServerCpuPerMessage, Metric.ClientCpuPerMessage, Metric.RoundTripP50, Metric.RoundTripP99,
        Metric.ServerCpuShare, Metric.ClientCpuShare, Metric.OtherCpuShare, Metric.RssGrowth, Metric.RssPerConnection, Metric.RssBefore,
        Metric.IdleCpuShare,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        CandidateCatalog candidates = context.Candidates;
        Candidate fastPort = candidates.FastPortWebSocket;
        Candidate tcp = candidates.FastPort with { Name = "FastPort, TCP" };
        Candidate kestrel = candidates.KestrelWebSocket;
        Candidate fromStream = candidates.WebSocketFromStream;
        Candidate[] inline = [candidates.KestrelWebSocketInline, candidates.WebSocketFromStreamInline];
        foreach (int size in context.Options.SizesOf(Sizes))
        {
            bool isTargeted = size == SmallPayload;
            yield return Echo(
                $"{PayloadSize.Text(size)}, {Connections} x {InFlight}",
                Load(context, size),
                context,
                fastPort,
                (tcp, isTargeted ? Target.AtLeast(0.75) : null),
                (kestrel, isTargeted ? Target.AtLeast(3) : null),
                (fromStream, null),
                (inline[0], null),
                (inline[1], null));
        }

        yield return Echo(
            $"{PayloadSize.Text(SmallPayload)}, {Connections} x {InFlight}, a message for each frame",
            new EchoLoad(context.Bench, context.Native, Connections, InFlight, SmallPayload)
            {
                SingleMessages = true,
            },
            context,
            fastPort,
            (kestrel, Target.AtLeast(3)),
            (fromStream, null),
            (inline[0], null),
            (inline[1], null));

        int connections = context.Options.Quick ? QuickIdleConnections : IdleConnections;
        yield return new Workload(
            $"{connections:N0} connections",
            [.. new[] { fastPort, tcp, kestrel, fromStream }.Select(candidate =>
                new IdleContestant(candidate, connections, HoldPeriods * context.Options.Seconds, context.Native, context))],
            [
                new RatioQuestion(Metric.RssGrowth, fastPort.Name, tcp.Name, Target.AtMost(1.3)),
                new RatioQuestion(Metric.RssGrowth, fastPort.Name, kestrel.Name),
                new RatioQuestion(Metric.RssGrowth, fastPort.Name, fromStream.Name),
            ]);
    }

    private static EchoLoad Load(ScenarioContext context, int size) => new(context.Bench, context.Native, Connections, InFlight, size);

    private static Workload Echo(
        string title, ILoadProgram load, ScenarioContext context, Candidate subject, params (Candidate Server, Target? Target)[] others) =>
        new(
            title,
            [.. others.Select(static other => other.Server).Prepend(subject).Select(
                candidate => new ServerContestant(candidate, load, context))],
            [
                .. others.SelectMany(other => (RatioQuestion[])
                [
                    new RatioQuestion(Metric.Throughput, subject.Name, other.Server.Name, other.Target),
                    new RatioQuestion(Metric.ServerCpuPerMessage, subject.Name, other.Server.Name),
                ]),
            ])
        {
            HasOneClient = true,
        };
}
