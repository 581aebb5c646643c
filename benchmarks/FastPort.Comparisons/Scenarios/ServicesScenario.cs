using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>Calls and streams through the client that a program has: FastPort's, gRPC's and StreamJsonRpc's.</summary>
internal sealed class ServicesScenario : ContestScenario
{
    private const int Size = 64;

    public override string Name => "services";

    public override string Description =>
        "Awaited calls and streams against gRPC and StreamJsonRpc: 32 connections x 16 callers, and one caller.";

    protected override string Method =>
        "Each library's own server and client with their defaults; a client is a process of its own each run, warmed as long as a server. "
        + "A caller awaits its reply, compares it with its request byte for byte, and calls again. Exchange: each caller has a stream both "
        + "ways and sends as fast as the library takes messages; each message comes back and is compared. Watch: each caller reads a "
        + "stream of the server. Methods: the load client in C of the scenario echo, in place of the library's. gRPC: Grpc.AspNetCore and "
        + "Grpc.Net.Client, HTTP/2 without TLS, a channel per connection. StreamJsonRpc: "
        + "MessagePack in length-prefixed messages on TCP.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.Throughput, Metric.RoundTripP50, Metric.RoundTripP99, Metric.ServerCpuPerMessage, Metric.ClientCpuPerMessage,
        Metric.ServerCpuShare, Metric.ClientCpuShare, Metric.OtherCpuShare,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        CandidateCatalog candidates = context.Candidates;
        (Candidate Server, string Library) fastPort = (candidates.FastPortService, "fastport");
        (Candidate Server, string Library) grpc = (candidates.Grpc, "grpc");
        (Candidate Server, string Library) jsonRpc = (candidates.StreamJsonRpc, "json-rpc");
        yield return Calls("unary", 32, 16, Metric.Throughput, Target.AtLeast(20), context, fastPort, grpc, jsonRpc);
        yield return Calls(
            "unary", 32, 16, Metric.Throughput, Target.AtLeast(0.98), context, fastPort,
            (fastPort.Server with { Name = "FastPort, by number" }, "fastport-by-number")) with
        {
            Title = $"unary, {PayloadSize.Text(Size)}, generated code to handlers and calls by number",
        };
        yield return Calls("unary", 1, 1, Metric.RoundTripP50, null, context, fastPort, grpc, jsonRpc);
        yield return Calls("exchange", 32, 16, Metric.Throughput, Target.AtLeast(8), context, fastPort, grpc);

        yield return Methods(context);

        // Alone: gRPC's client does not always end when it cancels hundreds of streams whose server sends as fast as it can.
        yield return Calls("watch", 32, 16, Metric.Throughput, null, context, fastPort);
    }

    // The load client in C, which takes little of the time: the servers are compared.
    private static Workload Methods(ScenarioContext context)
    {
        Candidate service = context.Candidates.FastPortService;
        Candidate inline = service with { Name = "FastPort, inline", MessageType = 0x1000 };
        Candidate begun = service with { Name = "FastPort, begun on the loop", MessageType = 0x1003 };
        Candidate queued = service with { Name = "FastPort, queued", MessageType = 0x1004 };
        var load = new EchoLoad(context.Bench, context.Native, 32, 16, Size);
        return new Workload(
            $"methods, {PayloadSize.Text(Size)}, 32 x 16",
            [.. new[] { inline, begun, queued }.Select(server => new ServerContestant(server, load, context))],
            [
                new RatioQuestion(Metric.Throughput, begun.Name, inline.Name, Target.AtLeast(0.7)),
                new RatioQuestion(Metric.Throughput, queued.Name, inline.Name),
            ])
        {
            HasOneClient = true,
        };
    }

    // The first is compared with each of the others; the target is the one against the second.
    private static Workload Calls(
        string mode, int connections, int callers, Metric metric, Target? target, ScenarioContext context,
        params (Candidate Server, string Library)[] all) => new(
        $"{mode}, {PayloadSize.Text(Size)}, {connections} x {callers}",
        [.. all.Select(one => new ServerContestant(
            one.Server, new ServiceCallLoad(context.Bench, one.Library, mode, connections, callers, Size), context)
        {
            LeadInSeconds = context.Options.WarmupSeconds,
        })],
        [.. all.Skip(1).Select((other, i) =>
            new RatioQuestion(metric, all[0].Server.Name, other.Server.Name, i == 0 ? target : null))]);
}
