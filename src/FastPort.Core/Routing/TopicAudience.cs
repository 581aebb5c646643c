namespace FastPort.Routing;

/// <summary>Whose subscriptions a publication reaches. See <see cref="RoutingOptions.SharedTopics"/> for what is shared.</summary>
[Flags]
public enum TopicAudience
{
    /// <summary>The subscriptions that peers have made themselves, with Subscribe.</summary>
    Peers = 1,

    /// <summary>The subscriptions that the server's program has made for sessions, with <see cref="ServerRouting.Subscribe"/>.</summary>
    Server = 2,

    /// <summary>All subscriptions: what a topic that is shared is published to.</summary>
    All = Peers | Server,
}
