namespace FastPort.Comparisons.Simulation;

/// <summary>
/// What things cost, in microseconds of one core unless said otherwise. Those of Redis are its CPU time a command when many come at once,
/// and were measured by <c>nodes-costs</c>; those of nodes by <c>nodes</c>; each says how.
/// </summary>
internal sealed record UnitCosts
{
    /// <summary>Redis reads from a connection, or writes to it: half of what a command costs more alone than many at a time.</summary>
    public double Visit { get; init; } = 1.7;

    /// <summary>A routing id is claimed.</summary>
    public double Claim { get; init; } = 10.1;

    /// <summary>A claim is set again.</summary>
    public double Keep { get; init; } = 6.6;

    /// <summary>A claim is given up.</summary>
    public double Release { get; init; } = 3.7;

    /// <summary>An id is looked up.</summary>
    public double LookUp { get; init; } = 1.4;

    /// <summary>A lease is renewed.</summary>
    public double Renew { get; init; } = 8.4;

    /// <summary>What a renewal costs more for each node of the list, if it returns the list.</summary>
    public double ListedNode { get; init; } = 0.27;

    /// <summary>A publication, without its bytes; one subscriber.</summary>
    public double Publish { get; init; } = 0.7;

    /// <summary>Each KiB of a publication.</summary>
    public double PublishKib { get; init; } = 0.36;

    /// <summary>
    /// A server of a cluster passes a publication on to another one: at each of the two. Three servers with <c>cluster-enabled yes</c>,
    /// <c>redis-benchmark -c 16 -P 128 publish</c> with 250 B at one, the CPU time of another.
    /// </summary>
    public double ClusterBus { get; init; } = 1.2;

    /// <summary>Bytes of memory at Redis for an id of some 15 characters.</summary>
    public double IdBytes { get; init; } = 187;

    /// <summary>A node learns that another one wants a prefix.</summary>
    public double Interest { get; init; } = 2.3;

    /// <summary>
    /// CPU time of both nodes for a relay, without its batch and its sockets: twice that of a local one (<c>nodes</c>, "local relays, 64 B,
    /// 16 x 16", the server's CPU a message).
    /// </summary>
    public double Relay { get; init; } = 2 * 1.06;

    /// <summary>
    /// A program reads from a socket and writes to it. This one and the next two were chosen together, to fit relays between two nodes with
    /// 1 to 256 in flight (<c>FastPortPeer relays</c>; the rows are in nodes-capacity.md). An echo alone costs a server 8 (<c>echo</c>).
    /// </summary>
    public double Socket { get; init; } = 6;

    /// <summary>A node hands a batch to another thread.</summary>
    public double ThreadChange { get; init; } = 5;

    /// <summary>A thread that slept begins to work.</summary>
    public double Wake { get; init; } = 3;

    /// <summary>The load's CPU time for a relay (<c>nodes</c>); only where the load shares the machine.</summary>
    public double Load { get; init; } = 0.95;

    /// <summary>Network, one way: assumed.</summary>
    public double Network { get; init; } = 50;

    /// <summary>Cores of a node: assumed.</summary>
    public int NodeCores { get; init; } = 4;
}
