using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Simulation;

namespace FastPort.Comparisons.Scenarios;

/// <summary>Many nodes, calculated: what Redis and the nodes do, from what things were measured to cost. Measures nothing.</summary>
internal sealed class NodesSimulationScenario : IScenario
{
    public string Name => "nodes-simulation";

    public string Description => "Many nodes with many ids, simulated from measured unit costs: latencies, what heals, where Redis ends.";

    public Task<ScenarioReport> RunAsync(ScenarioContext context, CancellationToken cancellation)
    {
        SimulationSettings settings = context.Options.Simulation;
        if (context.Options.Quick)
        {
            settings = settings with { Nodes = Math.Min(settings.Nodes, 20), Ids = Math.Min(settings.Ids, 100_000) };
        }

        var run = new SimulationRun(settings, context.Options.Quick, context.Progress);
        Func<ReportTable>[] parts = [run.Validation, run.Events, run.Sweep, run.Rendezvous];
        var tables = new List<ReportTable>();
        foreach (Func<ReportTable> part in parts)
        {
            cancellation.ThrowIfCancellationRequested();
            tables.Add(part());
        }

        string cluster = settings.Shards == 1 ? "one Redis"
            : $"{settings.Shards} servers of Redis with {(settings.HasShardedChannels ? "sharded" : "plain")} channels";
        return Task.FromResult(new ScenarioReport
        {
            Name = Name,
            Description = Description,
            Method = string.Join(
                ' ',
                FormattableString.Invariant($"Simulated, not measured. {settings.Nodes:N0} nodes of {settings.Costs.NodeCores} cores,"),
                FormattableString.Invariant($"{settings.Ids:N0} ids, {cluster}, {settings.RelaysPerSecond:N0} relays/s,"),
                FormattableString.Invariant($"{settings.PublicationsPerSecond:N0} publications/s of topics that"),
                FormattableString.Invariant($"{settings.InterestedNodes} nodes want, sessions of {settings.SessionSeconds:N0} s;"),
                FormattableString.Invariant($"{settings.Costs.Network:N0} us of network each way. Memory of the ids at Redis:"),
                FormattableString.Invariant($"{settings.Ids * settings.Costs.IdBytes / 1e9:N2} GB. The highest rates have a p99 within"),
                FormattableString.Invariant($"{Capacity.Bound / 1000:N0} ms, and 95 % of what has come is done.")),
            Columns = [],
            Workloads = [],
            Tables = tables,
        });
    }
}
