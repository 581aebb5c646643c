namespace FastPort;

/// <summary>A node, as another node knows it at one moment; counts begin at the other node's start. Immutable.</summary>
/// <param name="Name">The node's name.</param>
public sealed record NodeInfo(string Name)
{
    /// <summary>Whether it is the node that reports.</summary>
    public bool IsSelf { get; init; }

    /// <summary>The rest of the lease of the node that reports; zero without a lease, null for other nodes.</summary>
    public TimeSpan? LeaseLeft { get; init; }

    /// <summary>Whether both nodes can read each other's batches. Defaults to true.</summary>
    public bool IsCompatible { get; init; } = true;

    /// <summary>
    /// The time from sending a batch to the node until the node confirmed it: of the last batch, or of an earlier one that has waited
    /// longer. Null if none was sent.
    /// </summary>
    public TimeSpan? Lag { get; init; }

    /// <summary>Bytes that wait to be sent to the node, or to be confirmed by it.</summary>
    public long QueuedBytes { get; init; }

    /// <summary>Relays sent to the node.</summary>
    public long RelaysSent { get; init; }

    /// <summary>Batches sent to the node; a batch with only confirmations counts too.</summary>
    public long BatchesSent { get; init; }

    /// <summary>Bytes of the batches sent to the node.</summary>
    public long BatchBytesSent { get; init; }
}
