namespace FastPort.Protocol.Tags.Sources;

/// <summary>Limits of a <see cref="PublishedTagSource"/>. Not changed after it was created.</summary>
public sealed class PublishedTagOptions
{
    /// <summary>Tags of all publishers together, at most. They stay when their publisher has gone. Defaults to 100,000.</summary>
    public int MaxTags { get; set; } = 100_000;

    /// <summary>Characters of a tag's name, at most. Defaults to 512.</summary>
    public int MaxNameLength { get; set; } = 512;

    /// <summary>
    /// Time in which a publisher answers a write; after it the status is <see cref="TagStatus.BadTimeout"/>. Writes to several publishers
    /// that come together are answered together, so it is short. Defaults to 2 s.
    /// </summary>
    public TimeSpan WriteTimeout { get; set; } = TimeSpan.FromSeconds(2);
}
