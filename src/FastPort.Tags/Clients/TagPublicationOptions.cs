namespace FastPort.Tags;

/// <summary>The tags of a source that a client publishes.</summary>
public sealed record TagPublicationOptions
{
    /// <summary>The names of the tags. Defaults to null: all tags that browsing finds.</summary>
    public IReadOnlyList<string>? Names { get; init; }

    /// <summary>
    /// How often the source is asked for changes; a source that reports each change at once ignores it. Defaults to 100 ms.
    /// </summary>
    public TimeSpan Interval { get; init; } = TimeSpan.FromMilliseconds(100);
}
