using System.Diagnostics.CodeAnalysis;

namespace FastPort.Routing;

/// <summary>The subscriptions that a publication reaches. See <see cref="RoutingOptions.SharedTopics"/> for shared topics.</summary>
[Experimental("FASTPORT001")]
[Flags]
public enum TopicAudience
{
    /// <summary>Subscriptions made by peers, with Subscribe.</summary>
    Peers = 1,

    /// <summary>Subscriptions made by the server's program for sessions, with <see cref="ServerRouting.Subscribe"/>.</summary>
    Server = 2,

    /// <summary>All subscriptions: the audience of a shared topic.</summary>
    All = Peers | Server,
}
