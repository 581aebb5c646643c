using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>The TypeScript client in Node.js against npm ws and socket.io, each with its own server.</summary>
internal sealed class TypeScriptScenario : ContestScenario
{
    private const int InFlight = 32;
    private const int PayloadBytes = 64;

    public override string Name => "typescript";

    public override string Description =>
        "The TypeScript client in Node.js against npm ws with JSON and socket.io: one connection x 32 callers.";

    protected override string Method =>
        "Each client on one core against its own server on the other (benchmarks/TypeScriptPeer); a client is a process of its own each "
        + "run. A caller awaits its reply, compares it with its request, and calls again. FastPort: a method of a service, echo of "
        + "FastPort.Server, a Protocol Buffers message with 64 bytes; over WebSocket, that of npm ws. Bytes: client.request with messages "
        + "encoded before, without Protocol Buffers in the client. ws, JSON: messages { id, payload } with a text of 64 characters and a "
        + "server of npm ws, which answers each. socket.io: emitWithAck with the same text, WebSocket alone, and its server.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.Throughput, Metric.ClientCpuPerMessage, Metric.ServerCpuPerMessage, Metric.RoundTripP50, Metric.RoundTripP99,
        Metric.ClientCpuShare, Metric.ServerCpuShare, Metric.ClientPeakRss,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        CandidateCatalog candidates = context.Candidates;
        Candidate webSocket = candidates.FastPortWebSocket;
        Candidate tcp = candidates.FastPort with { Name = "FastPort, TCP" };
        Candidate webSocketBytes = webSocket with { Name = "FastPort, WebSocket, bytes" };
        Candidate tcpBytes = tcp with { Name = "FastPort, TCP, bytes" };
        Candidate ws = candidates.NodeServer("ws, JSON", "ws");
        Candidate socketIo = candidates.NodeServer("socket.io", "socket.io");
        (Candidate Server, string Library)[] all =
        [
            (webSocket, "fastport"), (ws, "ws"), (socketIo, "socket.io"), (tcp, "fastport"), (webSocketBytes, "fastport-bytes"),
            (tcpBytes, "fastport-bytes"),
        ];
        yield return new Workload(
            $"{PayloadSize.Text(PayloadBytes)}, 1 x {InFlight}",
            [.. all.Select(one => new ServerContestant(
                one.Server, new TypeScriptLoad(context.Bench, one.Library, InFlight, PayloadBytes), context)
            {
                LeadInSeconds = context.Options.WarmupSeconds,
            })],
            [
                new RatioQuestion(Metric.Throughput, webSocket.Name, ws.Name, Target.AtLeast(1)),
                new RatioQuestion(Metric.Throughput, webSocket.Name, socketIo.Name, Target.AtLeast(2)),
                new RatioQuestion(Metric.Throughput, tcp.Name, webSocket.Name, Target.AtLeast(1)),
                new RatioQuestion(Metric.Throughput, webSocketBytes.Name, ws.Name),
                new RatioQuestion(Metric.Throughput, webSocketBytes.Name, socketIo.Name),
                new RatioQuestion(Metric.Throughput, tcpBytes.Name, webSocketBytes.Name),
                new RatioQuestion(Metric.ClientCpuPerMessage, webSocket.Name, ws.Name),
            ]);
    }
}
