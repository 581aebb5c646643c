using FastPort.Sessions;

namespace FastPort.Protocol.Tags.Sources;

/// <summary>A tag that a session has declared. Under the source's gate.</summary>
internal sealed class PublishedTag(string routingId, TagInfo info)
{
    /// <summary>The publisher, whichever session it has.</summary>
    public string RoutingId => routingId;

    public TagInfo Info { get; set; } = info;

    /// <summary>The session that has declared the tag the last time; null while the publisher is gone.</summary>
    public Session? Session { get; set; }
}
