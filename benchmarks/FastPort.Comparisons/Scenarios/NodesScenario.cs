using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>
/// Relays between two nodes against one publication a message through the same Redis, and what a backplane costs local ones.
/// </summary>
internal sealed class NodesScenario : ContestScenario
{
    private const int Senders = 16;
    private const int InFlight = 16;
    private const int SessionsPerSecond = 10_000;
    private const int Comers = 32;
    private const string Relays = "FastPort, two nodes";
    private const string Publications = "Redis, a publication a message";

    private static readonly int[] Sizes = [64, 1024];

    private static readonly Dictionary<int, Target> Targets = new()
    {
        [64] = Target.AtLeast(1.5),
        [1024] = Target.AtLeast(1.0),
    };

    public override string Name => "nodes";

    public override string Description =>
        "Acknowledged relays between two nodes against one publication a message through the same Redis; local relays with a backplane "
        + "against the same without.";

    protected override string Method =>
        "redis-server, the nodes and the load share both cores. A relay is sent to the first node, delivered to a session of the second, "
        + "and answered; the next follows the answer. A publication is received by one subscriber, in the publisher's process, over a "
        + "connection of its own; the next follows its arrival. CPU of the servers includes Redis where it takes part. At the end of each "
        + "run as many relays as were answered must have come to their targets, in their length; a publication must be the next one, byte "
        + "for byte; sessions that come and go must be answered without an error.";

    protected override IReadOnlyList<Metric> Columns { get; } =
    [
        Metric.Throughput, Metric.ServerCpuPerMessage, Metric.ClientCpuPerMessage, Metric.RoundTripP50, Metric.RoundTripP99,
        Metric.RoundTripP999, Metric.RoundTripMax, Metric.ServerPeakRss,
    ];

    protected override IEnumerable<Workload> Workloads(ScenarioContext context)
    {
        foreach (int size in context.Options.SizesOf(Sizes))
        {
            yield return Duel(size, Senders, InFlight, Metric.Throughput, Targets.GetValueOrDefault(size), context);
        }

        foreach (int size in context.Options.SizesOf(Sizes))
        {
            yield return Duel(size, 1, 1, Metric.RoundTripP50, Target.AtMost(4.0), context);
        }

        var on = new NodesSetup("with a backplane", 1, Senders, InFlight, 64) { CountsRedis = false };
        var off = new NodesSetup("without", 1, Senders, InFlight, 64) { CountsRedis = false, HasBackplane = false };
        yield return new Workload(
            $"local relays, {PayloadSize.Text(64)}, {Senders} x {InFlight}",
            [new NodesContestant(on, context), new NodesContestant(off, context)],
            [new RatioQuestion(Metric.ServerCpuPerMessage, on.Name, off.Name, Target.AtMost(1.03))]);

        on = on with { Senders = Comers, Rate = SessionsPerSecond };
        off = off with { Senders = Comers, Rate = SessionsPerSecond };
        yield return new Workload(
            $"routing ids claimed and released, {SessionsPerSecond:N0}/s",
            [new NodesContestant(on, context), new NodesContestant(off, context)],
            [new RatioQuestion(Metric.RoundTripP999, on.Name, off.Name, null)]);
    }

    private static Workload Duel(int size, int senders, int inFlight, Metric metric, Target? target, ScenarioContext context)
    {
        string title = inFlight == 1 ? "one at a time" : $"{senders} x {inFlight}";
        return new Workload(
            $"relays between nodes, {PayloadSize.Text(size)}, {title}",
            [
                new NodesContestant(new NodesSetup(Relays, 2, senders, inFlight, size), context),
                new NodesContestant(new NodesSetup(Publications, 0, senders, inFlight, size), context),
            ],
            [new RatioQuestion(metric, Relays, Publications, target)]);
    }
}
