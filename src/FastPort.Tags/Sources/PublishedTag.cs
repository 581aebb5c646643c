namespace FastPort.Tags.Sources;

/// <summary>The publisher of a tag; its description and value are in the table of tags in memory. Under the source's gate.</summary>
internal sealed class PublishedTag(TagOwner owner)
{
    /// <summary>Whose tag it is, on whichever session.</summary>
    public TagOwner Owner => owner;

    /// <summary>Size of its value in bytes of memory.</summary>
    public long ValueBytes { get; set; }

    /// <summary>The session that last declared the tag; null while there is none.</summary>
    public TagPublisher? Publisher { get; set; }

    /// <summary>Whether the publisher may no longer publish it, by the last review: it neither sets it nor receives its writes.</summary>
    public bool IsForbidden { get; set; }
}

/// <summary>A routing id that has declared tags, and their use of its limits. Under the source's gate.</summary>
internal sealed class TagOwner(string routingId)
{
    public string RoutingId => routingId;

    public int Tags { get; set; }

    /// <summary>Size of all their values in bytes of memory.</summary>
    public long ValueBytes { get; set; }
}

/// <summary>A session that publishes tags.</summary>
internal sealed class TagPublisher(Session session)
{
    public Session Session => session;

    /// <summary>Completes when the last started write has been answered. Under the source's gate.</summary>
    public Task Writing { get; set; } = Task.CompletedTask;
}
