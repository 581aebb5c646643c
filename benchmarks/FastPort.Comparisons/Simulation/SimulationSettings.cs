namespace FastPort.Comparisons.Simulation;

/// <summary>How many nodes there are, and what their sessions do.</summary>
internal sealed record SimulationSettings
{
    public int Nodes { get; init; } = 1000;

    public long Ids { get; init; } = 10_000_000;

    /// <summary>Servers of Redis; more than one is a cluster.</summary>
    public int Shards { get; init; } = 1;

    /// <summary>Whether a publication stays on the server of its channel, rather than goes to every server of the cluster.</summary>
    public bool HasShardedChannels { get; init; }

    /// <summary>Confirmed relays from node to node a second, in all.</summary>
    public double RelaysPerSecond { get; init; } = 10_000;

    /// <summary>How long a session lives: at its end its id is given up and, by the next one at another node, claimed.</summary>
    public double SessionSeconds { get; init; } = 3600;

    /// <summary>Publications of topics a second, in all.</summary>
    public double PublicationsPerSecond { get; init; } = 100;

    /// <summary>Nodes that want a topic.</summary>
    public int InterestedNodes { get; init; } = 10;

    /// <summary>Topics that are published; each belongs to one node where there is a rendezvous.</summary>
    public int Topics { get; init; } = 100;

    /// <summary>Whether publications of a topic go to the topic's own node, which sends them to those that want them.</summary>
    public bool HasRendezvous { get; init; }

    /// <summary>Targets that a session sends to, again and again.</summary>
    public int Contacts { get; init; } = 10;

    /// <summary>Bytes of a message, and of an id.</summary>
    public int MessageBytes { get; init; } = 64;

    public int IdLength { get; init; } = 20;

    /// <summary>Prefixes that a node wants.</summary>
    public int Prefixes { get; init; } = 100;

    public double LeaseSeconds { get; init; } = 5;

    /// <summary>In how many seconds each claim is set again: some of them each second.</summary>
    public double KeepSeconds { get; init; } = 200;

    public int Seed { get; init; } = 1;

    public UnitCosts Costs { get; init; } = new();
}
