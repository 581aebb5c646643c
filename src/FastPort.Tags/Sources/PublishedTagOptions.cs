namespace FastPort.Tags;

/// <summary>Limits of a <see cref="PublishedTagSource"/>. Not changed after it was created.</summary>
public sealed class PublishedTagOptions
{
    /// <summary>Maximum number of tags of all publishers together. They stay when their publisher has gone. Defaults to 100,000.</summary>
    public int MaxTags { get; set; } = 100_000;

    /// <summary>Maximum number of tags of one routing id. Defaults to 10,000.</summary>
    public int MaxTagsPerPublisher { get; set; } = 10_000;

    /// <summary>Maximum number of characters of a tag's name. Defaults to 512.</summary>
    public int MaxNameLength { get; set; } = 512;

    /// <summary>Maximum number of characters of a tag's unit, and of its description. Defaults to 1,024.</summary>
    public int MaxTextLength { get; set; } = 1024;

    /// <summary>
    /// Maximum size of the values of all publishers' tags together, in bytes of memory: a string takes two for each character, and about 24
    /// in addition. A value for which there is no room is <see cref="TagStatus.BadResponseTooLarge"/>. Defaults to 256 MiB.
    /// </summary>
    public long MaxValueBytes { get; set; } = 256 * 1024 * 1024;

    /// <summary>As <see cref="MaxValueBytes"/>, for the tags of one routing id. Defaults to 64 MiB.</summary>
    public long MaxValueBytesPerPublisher { get; set; } = 64 * 1024 * 1024;

    /// <summary>
    /// Time in which a publisher must answer a write; after it the status is <see cref="TagStatus.BadTimeout"/>. Keep it short: one request
    /// of an OPC UA client for tags of several publishers has one answer, which a stuck publisher delays for this time. Defaults to 2 s.
    /// </summary>
    public TimeSpan WriteTimeout { get; set; } = TimeSpan.FromSeconds(2);
}
