namespace FastPort.Comparisons.Simulation;

/// <summary>The nodes and the servers of Redis, and what is said between them.</summary>
internal sealed class Cluster
{
    private const int ScriptBytes = 170;
    private const int ListedBytes = 45;

    private readonly RedisConnection[,] _bus;

    /// <param name="settings">How many there are.</param>
    /// <param name="shared">The cores that everybody shares; null if each node and each server of Redis has its own.</param>
    /// <param name="agenda">What the shared cores go by; null for an agenda of its own.</param>
    public Cluster(SimulationSettings settings, Processor? shared = null, Agenda? agenda = null)
    {
        Settings = settings;
        Costs = settings.Costs;
        Agenda = agenda ?? new Agenda();
        Random = new Random(settings.Seed);
        Shards = [
            .. Enumerable.Range(0, settings.Shards).Select(
                _ => new RedisShard(Agenda, Costs, shared ?? new Processor(Agenda, 1, Costs.Wake)))];
        Nodes = [
            .. Enumerable.Range(0, settings.Nodes).Select(
                i => new SimulatedNode(this, i, shared ?? new Processor(Agenda, Costs.NodeCores, Costs.Wake), settings.Shards))];
        _bus = new RedisConnection[settings.Shards, settings.Shards];
        for (int i = 0; i < settings.Shards * settings.Shards; i++)
        {
            _bus[i / settings.Shards, i % settings.Shards] = new RedisConnection { IsBus = true };
        }

        for (int i = 0; i < settings.Nodes; i++)
        {
            Nodes[i].Ids = (settings.Ids / settings.Nodes) + (i < settings.Ids % settings.Nodes ? 1 : 0);
        }
    }

    public SimulationSettings Settings { get; }

    public UnitCosts Costs { get; }

    public Agenda Agenda { get; }

    public Random Random { get; }

    public RedisShard[] Shards { get; }

    public SimulatedNode[] Nodes { get; }

    public Counters Counters { get; } = new();

    /// <summary>Changes with the list of nodes.</summary>
    public long Version { get; set; }

    /// <summary>Ids that no node has at the moment: those of a node that was killed.</summary>
    public long Missing { get; set; }

    /// <summary>The time until the next of events that come by chance, so many a second.</summary>
    public double NextAfter(double perSecond) => -Math.Log(1 - Random.NextDouble()) * 1e6 / perSecond;

    /// <summary>Any node that runs, but this one.</summary>
    public SimulatedNode Other(SimulatedNode node)
    {
        while (true)
        {
            SimulatedNode other = Nodes[Random.Next(Nodes.Length)];
            if (other != node && other.IsUp)
            {
                return other;
            }
        }
    }

    /// <summary>Publishes a batch on the channel of a node.</summary>
    public void Publish(SimulatedNode from, SimulatedNode to, int bytes, Action delivered, Action answered)
    {
        int shard = to.Number % Shards.Length;
        double cost = Costs.Publish + (bytes * Costs.PublishKib / 1024);
        bool passesOn = Shards.Length > 1 && !Settings.HasShardedChannels;
        Send(from, shard, new RedisCommand(cost + (passesOn ? Costs.ClusterBus * (Shards.Length - 1) : 0), bytes + 60)
        {
            Subscriber = to.IsUp ? to.Subscription : null,
            Delivered = delivered,
            Done = () =>
            {
                answered();
                for (int other = 0; passesOn && other < Shards.Length; other++)
                {
                    if (other != shard)
                    {
                        Shards[other].Submit(_bus[shard, other], new RedisCommand(Costs.ClusterBus, bytes + 60));
                    }
                }
            },
        });
    }

    /// <summary>Commands on keys of ids: the key's hash says which server has it.</summary>
    public void OnId(SimulatedNode node, double cost, Action? done) =>
        Send(node, Random.Next(Shards.Length), new RedisCommand(cost, ScriptBytes) { Done = done });

    /// <summary>Commands on so many ids at once, as they are set again: done when all servers have answered.</summary>
    public void OnIds(SimulatedNode node, double cost, int count, Action done)
    {
        // What Redis reads at once is less than a node sends.
        const int AtOnce = 64;
        int left = 0;
        for (int shard = 0; shard < Shards.Length; shard++)
        {
            int share = (count / Shards.Length) + (shard < count % Shards.Length ? 1 : 0);
            for (; share > 0; share -= AtOnce)
            {
                int some = Math.Min(AtOnce, share);
                left++;
                Send(node, shard, new RedisCommand(cost * some, ScriptBytes * some, some) { Done = Answered });
            }
        }

        void Answered()
        {
            if (--left == 0)
            {
                done();
            }
        }
    }

    /// <summary>Renews the lease of a node; the list comes with it if it has changed.</summary>
    public void Renew(SimulatedNode node, Action done)
    {
        double sent = Agenda.Now;
        bool hasList = node.Version != Version;
        node.Version = Version;
        Send(node, 0, new RedisCommand(
            Costs.Renew + (hasList ? Costs.ListedNode * Nodes.Length : 0), ScriptBytes + (hasList ? ListedBytes * Nodes.Length : 0))
        {
            Done = () =>
            {
                Counters.Renewals.Add(Agenda.Now - sent);
                done();
            },
        });
    }

    private void Send(SimulatedNode node, int shard, RedisCommand command) =>
        Agenda.After(Costs.Network, () => Shards[shard].Submit(node.Connections[shard], command));
}
