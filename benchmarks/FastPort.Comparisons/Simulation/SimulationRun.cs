using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Simulation;

/// <summary>Simulates everything that the report shows.</summary>
/// <param name="settings">What was asked for.</param>
/// <param name="isQuick">Whether it is only to be seen that everything runs.</param>
/// <param name="progress">Takes a line for each step.</param>
internal sealed class SimulationRun(SimulationSettings settings, bool isQuick, Action<string> progress)
{
    // Senders, and relays in flight of each: the loads that unit costs of nodes were fitted to. What was measured: nodes-capacity.md.
    private static readonly (int Senders, int InFlight)[] Loads = [(1, 1), (4, 1), (4, 4), (16, 1), (16, 4), (16, 16)];

    /// <summary>Two nodes on one machine, to be held against what <c>nodes</c> measures.</summary>
    public ReportTable Validation() => SimulationTables.Validation(
        Loads.Select(load => (load.Senders, load.InFlight, TwoNodes.Run(settings.Costs, load.Senders, load.InFlight, isQuick ? 0.1 : 1))));

    /// <summary>A time in which nothing happens, and what happens now and then.</summary>
    public ReportTable Events()
    {
        double healing = 5 + (settings.Ids * settings.Costs.Keep * 1.2e-6);
        Event[] events =
        [
            new("steady state", 2, settings, static (_, _) => { }),
            new("a node is killed", settings.LeaseSeconds * 2, settings, static (events, cluster) => events.Kill(cluster.Nodes[0])),
            new("a node is restarted", 5, settings, static (events, cluster) => events.Restart(cluster.Nodes[0])),
            new("Redis is lost, and back empty", healing, settings, static (events, _) => events.LoseRedis()),
            new("the same, with a rendezvous", healing, settings with { HasRendezvous = true }, static (events, _) => events.LoseRedis()),
        ];
        progress("simulating: " + string.Join(", ", events.Select(static one => one.Name)));
        return SimulationTables.Events(events.AsParallel().AsOrdered().Select(static one => one.Run()).ToArray());
    }

    /// <summary>The highest rates, by nodes and servers of Redis; ten thousand ids for each node.</summary>
    public ReportTable Sweep()
    {
        int[] nodes = isQuick ? [10] : [10, 100, 1000];
        (int Shards, bool Sharded)[] shards = isQuick ? [(1, false), (3, true)]
            : [(1, false), (3, false), (3, true), (16, false), (16, true)];
        SimulationSettings[] cells =
        [
            .. nodes.SelectMany(count => shards.Select(one => settings with
            {
                Nodes = count,
                Ids = count * 10_000L,
                Shards = one.Shards,
                HasShardedChannels = one.Sharded,
            })),
        ];
        progress($"simulating: {cells.Length} searches for the highest rates");
        return SimulationTables.Sweep(cells.AsParallel().AsOrdered().Select(
            static cell => (cell, Capacity.Relays(cell), Capacity.Claims(cell))).ToArray());
    }

    /// <summary>Publications of topics that a tenth of the nodes want: to each of them, or to the topic's own node first.</summary>
    public ReportTable Rendezvous()
    {
        SimulationSettings[] cells = [
            settings with { InterestedNodes = Math.Max(1, settings.Nodes / 10) },
            settings with { InterestedNodes = Math.Max(1, settings.Nodes / 10), HasRendezvous = true }];
        progress("simulating: topics with a rendezvous");
        return SimulationTables.Rendezvous(
            cells.AsParallel().AsOrdered().Select(static cell => (cell, Capacity.Publications(cell))).ToArray());
    }
}

/// <summary>Something that happens to a cluster, and how long that is looked at.</summary>
internal sealed record Event(string Name, double Seconds, SimulationSettings Settings, Action<Events, Cluster> Begin)
{
    private const double WarmupSeconds = 0.5;

    public EventResult Run()
    {
        var cluster = new Cluster(Settings);
        var traffic = new Traffic(cluster);
        traffic.Begin();
        cluster.Agenda.RunUntil(WarmupSeconds * 1e6);
        var events = new Events(cluster, traffic);
        Begin(events, cluster);
        return new EventResult(Name, Observation.Run(cluster, Seconds), events.Healed);
    }
}

/// <summary>What happened, what the cluster did meanwhile, how long each id (of a lost Redis: each node) took to be back.</summary>
internal sealed record EventResult(string Name, Observation Seen, Latencies Healed);
