namespace FastPort.OpcUa.Client;

/// <summary>What a subscription is asked to do (OPC 10000-4, 5.14.2). Immutable. The server may revise intervals and counts.</summary>
public sealed record SubscriptionOptions
{
    /// <summary>How often the server sends what has changed; zero for as often as it can. Defaults to 1 s.</summary>
    public TimeSpan PublishingInterval { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>After this number of intervals without a change the server says that the subscription is alive. Defaults to 10.</summary>
    public uint KeepAliveCount { get; init; } = 10;

    /// <summary>
    /// After this number of intervals in which the client has not asked for messages, the server ends the subscription; at least three
    /// times <see cref="KeepAliveCount"/>. Defaults to 1,000.
    /// </summary>
    public uint LifetimeCount { get; init; } = 1000;

    /// <summary>Changes in a message at most; 0 for no limit. Defaults to 0.</summary>
    public uint MaxNotificationsPerPublish { get; init; }

    /// <summary>Whether the server sends changes. Defaults to true.</summary>
    public bool PublishingEnabled { get; init; } = true;

    /// <summary>Of several subscriptions the server serves those with a higher number first. Defaults to 0.</summary>
    public byte Priority { get; init; }

    /// <summary>The times that come with values. Defaults to both.</summary>
    public TimestampsToReturn Timestamps { get; init; } = TimestampsToReturn.Both;

    /// <summary>
    /// Changes that may wait for the reader, 1 or more. When so many wait, the client asks for no more messages, of none of its
    /// subscriptions, until the reader has caught up; the messages that it has already asked for still come. The server then fills the
    /// items' queues, and after <see cref="LifetimeCount"/> intervals it ends the subscription. Defaults to 10,000.
    /// </summary>
    public int Capacity { get; init; } = 10_000;
}
