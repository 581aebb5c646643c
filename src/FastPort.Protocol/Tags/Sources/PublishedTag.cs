using FastPort.Sessions;

namespace FastPort.Protocol.Tags.Sources;

/// <summary>A tag that a session has declared. Under the source's gate.</summary>
internal sealed class PublishedTag(string routingId, TagInfo info)
{
    /// <summary>Whose tag it is, on whichever session.</summary>
    public string RoutingId => routingId;

    public TagInfo Info { get; set; } = info;

    /// <summary>The session that has declared the tag the last time; null while there is none.</summary>
    public TagPublisher? Publisher { get; set; }
}

/// <summary>A session that publishes tags.</summary>
internal sealed class TagPublisher(Session session)
{
    public Session Session => session;

    /// <summary>Ends when the last write that was begun has been answered. Under the source's gate.</summary>
    public Task Writing { get; set; } = Task.CompletedTask;
}
