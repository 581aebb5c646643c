using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>Awaited calls through the client that a program has: FastPort's, gRPC's and StreamJsonRpc's.</summary>
internal sealed class ServicesScenario : ContestScenario
{
    private const int Size = 64;

    public override string Name => "services";

    public override string Description => "Awaited calls against gRPC and StreamJsonRpc: 32 connections x 16 callers, and one caller.";

    protected override string Method =>
        "Each library's own server and client with their defaults; a client is a process of its own each run, warmed as long as a server. A "
        + "caller awaits its reply, compares it with its request byte for byte, and calls again. gRPC: Grpc.AspNetCore and Grpc.Net.Client, "
        + "HTTP/2 without TLS, a channel per connection. StreamJsonRpc: MessagePack in length-prefixed messages on TCP.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.Throughput, Metric.RoundTripP50, Metric.RoundTripP99, Metric.ServerCpuPerMessage, Metric.ClientCpuPerMessage,
        Metric.ServerCpuShare, Metric.ClientCpuShare, Metric.OtherCpuShare,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        yield return Calls("unary, 64 B, 32 x 16 callers", 32, 16, Metric.Throughput, Target.AtLeast(20), context);
        yield return Calls("unary, 64 B, one caller", 1, 1, Metric.RoundTripP50, null, context);
    }

    private static Workload Calls(
        string title, int connections, int callers, Metric metric, Target? againstGrpc, ScenarioContext context)
    {
        CandidateCatalog candidates = context.Candidates;
        (Candidate Server, string Library)[] all =
        [
            (candidates.FastPortService, "fastport"), (candidates.Grpc, "grpc"), (candidates.StreamJsonRpc, "json-rpc"),
        ];
        string subject = candidates.FastPortService.Name;
        return new Workload(
            title,
            [.. all.Select(one => new ServerContestant(
                one.Server, new ServiceCallLoad(context.Bench, one.Library, connections, callers, Size), context)
            {
                LeadInSeconds = context.Options.WarmupSeconds,
            })],
            [
                new RatioQuestion(metric, subject, candidates.Grpc.Name, againstGrpc),
                new RatioQuestion(metric, subject, candidates.StreamJsonRpc.Name),
            ]);
    }
}
