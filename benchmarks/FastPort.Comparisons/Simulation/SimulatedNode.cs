namespace FastPort.Comparisons.Simulation;

/// <summary>A node: its cores, its connections to Redis, its links, the ids of its sessions.</summary>
internal sealed class SimulatedNode
{
    private readonly Dictionary<int, NodeLink> _links = [];
    private readonly WorkThread _sender = new();
    private readonly WorkThread _reader = new();
    private readonly WorkThread _receiver = new();

    public SimulatedNode(Cluster network, int number, Processor processor, int shards)
    {
        Network = network;
        Number = number;
        Processor = processor;
        Connections = [.. Enumerable.Range(0, shards).Select(static _ => new RedisConnection())];
    }

    public Cluster Network { get; }

    public int Number { get; }

    public Processor Processor { get; }

    /// <summary>To each server of Redis.</summary>
    public RedisConnection[] Connections { get; }

    /// <summary>On which its batches arrive.</summary>
    public RedisConnection Subscription { get; } = new();

    public bool IsUp { get; set; } = true;

    /// <summary>Whether it has claimed its ids again after a loss.</summary>
    public bool IsValid { get; set; } = true;

    public long Ids { get; set; }

    /// <summary>The list of nodes that it knows.</summary>
    public long Version { get; set; }

    public NodeLink LinkTo(SimulatedNode other) =>
        _links.TryGetValue(other.Number, out NodeLink? link) ? link : _links[other.Number] = new NodeLink(this, other);

    /// <summary>The thread that serves the sessions.</summary>
    public WorkThread Loop { get; } = new();

    /// <summary>A thread of the pool makes and publishes batches, and goes on when Redis has answered.</summary>
    public void InSender(Action done) => Processor.Run(_sender, Network.Costs.ThreadChange, done);

    /// <summary>One thread reads what comes from Redis, another one handles it.</summary>
    public void InReceiver(double cost, Action done) =>
        Processor.Run(
            _reader, Network.Costs.ThreadChange, () => Processor.Run(_receiver, Network.Costs.ThreadChange + cost, done));
}
