namespace FastPort.Tags.Sources;

/// <summary>Limits of a <see cref="PublishedTagSource"/>. Not changed after it was created.</summary>
public sealed class PublishedTagOptions
{
    /// <summary>Tags of all publishers together, at most. They stay when their publisher has gone. Defaults to 100,000.</summary>
    public int MaxTags { get; set; } = 100_000;

    /// <summary>Tags of one routing id, at most. Defaults to 10,000.</summary>
    public int MaxTagsPerPublisher { get; set; } = 10_000;

    /// <summary>Characters of a tag's name, at most. Defaults to 512.</summary>
    public int MaxNameLength { get; set; } = 512;

    /// <summary>Characters of a tag's unit, and of its description, at most. Defaults to 1,024.</summary>
    public int MaxTextLength { get; set; } = 1024;

    /// <summary>
    /// Size of the values of all publishers' tags together, at most, in bytes of memory: a text has two for each character, and about 24
    /// beside. A value for which there is no room is <see cref="TagStatus.BadResponseTooLarge"/>. Defaults to 256 MiB.
    /// </summary>
    public long MaxValueBytes { get; set; } = 256 * 1024 * 1024;

    /// <summary>As <see cref="MaxValueBytes"/>, for the tags of one routing id. Defaults to 64 MiB.</summary>
    public long MaxValueBytesPerPublisher { get; set; } = 64 * 1024 * 1024;

    /// <summary>
    /// Time in which a publisher answers a write; after it the status is <see cref="TagStatus.BadTimeout"/>. One request of an OPC UA
    /// client for tags of several publishers has one answer, so a publisher that is stuck delays that for this time: it is short. Defaults
    /// to 2 s.
    /// </summary>
    public TimeSpan WriteTimeout { get; set; } = TimeSpan.FromSeconds(2);
}
