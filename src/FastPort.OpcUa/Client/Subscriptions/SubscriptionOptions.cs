namespace FastPort.OpcUa.Client;

/// <summary>Options of a subscription (OPC 10000-4, 5.14.2). Immutable. The server may revise intervals and counts.</summary>
public sealed record SubscriptionOptions
{
    /// <summary>How often the server sends changes; zero for as often as it can. Defaults to 1 s.</summary>
    public TimeSpan PublishingInterval { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>After this number of intervals without a change, the server sends a keep-alive message. Defaults to 10.</summary>
    public uint KeepAliveCount { get; init; } = 10;

    /// <summary>
    /// After this number of intervals without a Publish request, the server ends the subscription; at least three times
    /// <see cref="KeepAliveCount"/>. Defaults to 1,000.
    /// </summary>
    public uint LifetimeCount { get; init; } = 1000;

    /// <summary>Maximum number of changes in a message; 0 for no limit. Defaults to 0.</summary>
    public uint MaxNotificationsPerPublish { get; init; }

    /// <summary>Whether the server sends changes. Defaults to true.</summary>
    public bool PublishingEnabled { get; init; } = true;

    /// <summary>The priority: the server serves subscriptions with a higher number first. Defaults to 0.</summary>
    public byte Priority { get; init; }

    /// <summary>The timestamps of values. Defaults to both.</summary>
    public TimestampsToReturn Timestamps { get; init; } = TimestampsToReturn.Both;

    /// <summary>
    /// Number of changes that may wait for the reader, 1 or more. At this number, the client requests no more messages, for any of its
    /// subscriptions, until the reader has caught up; messages that it has already requested still arrive. The server then fills the items'
    /// queues, and after <see cref="LifetimeCount"/> intervals it ends the subscription. Defaults to 10,000.
    /// </summary>
    public int Capacity { get; init; } = 10_000;
}
