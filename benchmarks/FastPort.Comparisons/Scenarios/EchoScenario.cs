using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>Typed Echo under load at several sizes, in lock-step, and with Queued handlers.</summary>
internal sealed class EchoScenario : IScenario
{
    private const int Connections = 32;
    private const int InFlight = 16;
    private const int SmallPayload = 64;

    private static readonly Dictionary<int, Target> ThroughputTargets = new()
    {
        [64] = Target.AtLeast(1.0),
        [1024] = Target.AtLeast(1.4),
        [8192] = Target.AtLeast(2.0),
    };

    public string Name => "echo";

    public string Description => "Typed Echo against a Kestrel connection handler: 32 connections x 16 in flight, lock-step, Queued against Inline.";

    public async Task<ScenarioReport> RunAsync(ScenarioContext context, CancellationToken cancellation)
    {
        var duel = new Duel(context);
        var reports = new List<WorkloadReport>();
        foreach (Workload workload in Workloads(context))
        {
            reports.Add(await duel.RunAsync(workload, cancellation));
        }

        return new ScenarioReport { Name = Name, Description = Description, Workloads = reports };
    }

    private static IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        Candidate subject = context.Candidates.Subject;
        Candidate kestrel = context.Candidates.Kestrel;
        foreach (int size in context.Options.Sizes)
        {
            yield return new Workload(
                new LoadShape($"{PayloadSize.Text(size)}, {Connections} x {InFlight}", Connections, InFlight, size),
                subject,
                kestrel,
                [new RatioQuestion(Metric.Throughput, ThroughputTargets.GetValueOrDefault(size)), new RatioQuestion(Metric.ServerCpuPerMessage)]);
        }

        yield return new Workload(
            new LoadShape($"{PayloadSize.Text(SmallPayload)}, lock-step, one core", 1, 1, SmallPayload) { OnServerCore = true },
            subject,
            kestrel,
            [new RatioQuestion(Metric.RoundTripP50, Target.AtMost(1.1)), new RatioQuestion(Metric.RoundTripP99)]);

        yield return new Workload(
            new LoadShape($"{PayloadSize.Text(SmallPayload)}, {Connections} x {InFlight}, Queued", Connections, InFlight, SmallPayload),
            context.Candidates.QueuedSubject,
            subject,
            [new RatioQuestion(Metric.Throughput, Target.AtLeast(0.5)), new RatioQuestion(Metric.ServerCpuPerMessage)]);
    }
}
