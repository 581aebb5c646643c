namespace FastPort.Comparisons.Simulation;

/// <summary>What happens to a cluster now and then, and how long it takes until every id is where a session is.</summary>
internal sealed class Events(Cluster cluster, Traffic traffic)
{
    private const double Second = 1e6;
    private const double FirstDelay = 0.1 * Second;

    private readonly Agenda _agenda = cluster.Agenda;
    private readonly double _lease = cluster.Settings.LeaseSeconds * Second;

    /// <summary>How long it took from the event until an id was claimed again; of a Redis that was lost, all ids of a node.</summary>
    public Latencies Healed { get; } = new();

    /// <summary>
    /// A node is killed. Its clients connect again at once. Until its lease has ended, another node asks it in vain whether it still has
    /// the id, and refuses the client when it has found out; the client comes again with its first delay.
    /// </summary>
    public void Kill(SimulatedNode victim)
    {
        double now = _agenda.Now;
        long ids = victim.Ids;
        victim.IsUp = false;
        victim.Ids = 0;
        cluster.Missing += ids;

        // It has renewed its lease within the last third of it; the others find out when they renew theirs.
        double ended = now + (_lease * (1 - (cluster.Random.NextDouble() / 3)));
        double[] noticed = [.. cluster.Nodes.Select(_ => ended + (cluster.Random.NextDouble() * _lease / 3))];
        _agenda.At(ended, () => cluster.Version++);
        for (long i = 0; i < ids; i++)
        {
            SimulatedNode node = cluster.Other(victim);
            _agenda.After(cluster.Random.NextDouble() * 5e4, () => traffic.Claim(node, () =>
            {
                node.LinkTo(victim).Add(new Entry(60, 0));
                SimulatedNode next = cluster.Other(victim);
                double again = Math.Max(noticed[node.Number], _agenda.Now) + (FirstDelay * (0.75 + (cluster.Random.NextDouble() / 2)));
                _agenda.At(Math.Max(again, noticed[next.Number]), () => ClaimOfDead(next, now));
            }));
        }
    }

    /// <summary>
    /// A node is restarted: its clients claim their ids elsewhere, where each claim asks it, and has to be made twice. It is back two
    /// seconds later, as another one.
    /// </summary>
    public void Restart(SimulatedNode node)
    {
        double now = _agenda.Now;
        long ids = node.Ids;
        node.Ids = 0;
        for (long i = 0; i < ids; i++)
        {
            SimulatedNode next = cluster.Other(node);
            _agenda.After(cluster.Random.NextDouble() * 5e4, () => traffic.Claim(next, () => Ask(node, next, () => Grant(next, now))));
        }

        _agenda.After(Second, () =>
        {
            cluster.Version++;
            node.IsUp = false;
        });
        _agenda.After(3 * Second, () =>
        {
            cluster.Version++;
            node.IsUp = true;
            ExchangeAll(node, both: true);
        });
    }

    /// <summary>
    /// Redis is lost and is back a second later, empty. Each node takes its lease again, exchanges what it wants with the others, and sets
    /// the keys of all its ids. A lease that is renewed too late is not lost here.
    /// </summary>
    public void LoseRedis()
    {
        double now = _agenda.Now;
        foreach (SimulatedNode node in cluster.Nodes)
        {
            node.IsValid = false;
            _agenda.After(Second + (cluster.Random.NextDouble() * Second / 10), () =>
            {
                cluster.Version++;
                cluster.Renew(node, () =>
                {
                    ExchangeAll(node, both: false);
                    traffic.Keep(node, node.Ids, () =>
                    {
                        node.IsValid = true;
                        Healed.Add(_agenda.Now - now);
                    });
                });
            });
        }
    }

    private void Ask(SimulatedNode owner, SimulatedNode asking, Action answered) => asking.LinkTo(owner).Add(new Entry(60, 0)
    {
        Arrived = () => owner.LinkTo(asking).Add(new Entry(14, 0) { Arrived = answered }),
    });

    private void Grant(SimulatedNode node, double begun) => traffic.Claim(node, () =>
    {
        node.Ids++;
        Healed.Add(_agenda.Now - begun);
    });

    // The first attempt says who has the id, the lease is renewed to see that this one is dead, the second attempt takes the id.
    private void ClaimOfDead(SimulatedNode node, double begun) =>
        traffic.Claim(node, () => cluster.Renew(node, () =>
        {
            cluster.Missing--;
            Grant(node, begun);
        }));

    // With every other node; where each prefix has a node of its own, with those alone.
    private void ExchangeAll(SimulatedNode node, bool both)
    {
        int prefixes = cluster.Settings.HasRendezvous ? 1 : cluster.Settings.Prefixes;
        int nodes = cluster.Settings.HasRendezvous ? Math.Min(cluster.Settings.Prefixes + 1, cluster.Nodes.Length) : cluster.Nodes.Length;
        for (int i = 1; i < nodes; i++)
        {
            SimulatedNode other = cluster.Nodes[(node.Number + i) % cluster.Nodes.Length];
            if (other.IsUp)
            {
                traffic.ExchangeInterests(node, other, prefixes);
                if (both)
                {
                    traffic.ExchangeInterests(other, node, prefixes);
                }
            }
        }
    }
}
