namespace FastPort.Tags.Clients;

/// <summary>What a client publishes of a source.</summary>
public sealed record TagPublicationOptions
{
    /// <summary>The names of the tags. Defaults to null: all that browsing finds.</summary>
    public IReadOnlyList<string>? Names { get; init; }

    /// <summary>How often the source is asked for changes; one that reports each change at once ignores it. Defaults to 100 ms.</summary>
    public TimeSpan Interval { get; init; } = TimeSpan.FromMilliseconds(100);
}
