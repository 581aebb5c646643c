using FastPort.Comparisons.Simulation;
using Xunit;

namespace FastPort.Comparisons.Tests.Simulation;

public sealed class ClusterTests
{
    private static readonly SimulationSettings Settings = new()
    {
        Nodes = 10,
        Ids = 20_000,
        RelaysPerSecond = 5000,
        SessionSeconds = 60,
        KeepSeconds = 20,
    };

    [Fact]
    public void The_same_seed_gives_the_same_results_and_another_one_others()
    {
        Assert.Equal(Figures(Settings), Figures(Settings));
        Assert.NotEqual(Figures(Settings), Figures(Settings with { Seed = 2 }));
    }

    [Fact]
    public void Every_relay_and_claim_is_answered_once_and_ids_stay_as_many()
    {
        var cluster = new Cluster(Settings);
        new Traffic(cluster).Begin();
        Observation seen = Observation.Run(cluster, 2);
        Counters counters = seen.Counters;

        // What is under way at the end is a part of a millisecond's.
        Assert.InRange(counters.RelaysSent, 9500, 10_500);
        Assert.InRange(counters.RelaysSent - counters.RelaysFailed - counters.Relays.Count, 0, 50);
        Assert.InRange(counters.ClaimsSent - counters.Claims.Count, 0, 10);
        Assert.Equal(Settings.Ids, cluster.Nodes.Sum(static node => node.Ids) + counters.ClaimsSent - counters.Claims.Count);
    }

    [Fact]
    public void A_killed_nodes_ids_are_all_back_after_its_lease_and_not_before()
    {
        (Cluster cluster, Events events) = Begin();
        long ids = cluster.Nodes[0].Ids;
        events.Kill(cluster.Nodes[0]);
        Observation.Run(cluster, 2 * Settings.LeaseSeconds);

        Assert.Equal(ids, events.Healed.Count);
        Assert.Equal(0, cluster.Missing);
        Assert.InRange(events.Healed.At(0), Settings.LeaseSeconds * 2 / 3 * 1e6, events.Healed.Max);
        Assert.InRange(events.Healed.Max, 0, ((Settings.LeaseSeconds * 4 / 3) + 0.5) * 1e6);
        Assert.True(cluster.Counters.RelaysFailed > 0);
    }

    [Fact]
    public void A_restarted_nodes_ids_are_claimed_elsewhere_at_once()
    {
        (Cluster cluster, Events events) = Begin();
        long ids = cluster.Nodes[0].Ids;
        events.Restart(cluster.Nodes[0]);
        Observation.Run(cluster, 5);

        Assert.Equal(ids, events.Healed.Count);
        Assert.InRange(events.Healed.Max, 0, 1e6);
    }

    [Fact]
    public void After_Redis_was_lost_claiming_again_takes_what_the_keys_cost()
    {
        (Cluster cluster, Events events) = Begin();
        events.LoseRedis();
        Observation.Run(cluster, 5);

        Assert.Equal(Settings.Nodes, events.Healed.Count);
        double atLeast = 1e6 + (Settings.Ids * Settings.Costs.Keep);
        Assert.InRange(events.Healed.Max, atLeast, atLeast * 1.5);
        Assert.True(cluster.Counters.RelaysFailed > 0);
    }

    [Fact]
    public void Plain_channels_of_a_cluster_load_every_server_and_sharded_ones_do_not()
    {
        double one = Busiest(1, sharded: false), plain = Busiest(4, sharded: false), sharded = Busiest(4, sharded: true);

        Assert.True(sharded < one / 2);
        Assert.True(plain > sharded * 1.3);

        static double Busiest(int shards, bool sharded)
        {
            var cluster = new Cluster(Settings with { Shards = shards, HasShardedChannels = sharded, KeepSeconds = 1e6 });
            new Traffic(cluster).Begin();
            return Observation.Run(cluster, 1).Busiest;
        }
    }

    [Fact]
    public void A_batch_holds_more_the_more_relays_are_in_flight()
    {
        var costs = new UnitCosts();
        double few = TwoNodes.Run(costs, 1, 1, 0.05).Counters.BatchSize;
        double many = TwoNodes.Run(costs, 16, 16, 0.05).Counters.BatchSize;

        // One relay, and the confirmation with the seen: 1.5 entries.
        Assert.Equal(1.5, few, 0.01);
        Assert.True(many > 10);
    }

    private static (Cluster Cluster, Events Events) Begin()
    {
        var cluster = new Cluster(Settings with { SessionSeconds = 1e6, KeepSeconds = 1e6 });
        var traffic = new Traffic(cluster);
        traffic.Begin();
        Observation.Run(cluster, 0.1);
        return (cluster, new Events(cluster, traffic));
    }

    private static (int, double, double, double) Figures(SimulationSettings settings)
    {
        var cluster = new Cluster(settings);
        new Traffic(cluster).Begin();
        Observation seen = Observation.Run(cluster, 0.5);
        return (seen.Counters.Relays.Count, seen.Counters.Relays.Mean, seen.Counters.Claims.Mean, seen.Busiest);
    }
}
