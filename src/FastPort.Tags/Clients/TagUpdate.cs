namespace FastPort.Tags;

/// <summary>The changes since the previous update.</summary>
/// <param name="Tags">For each row, the index of its tag in <see cref="TagSubscription.Tags"/>; one tag may have several rows.</param>
/// <param name="Samples">A row for each change, in the order of the changes of a tag.</param>
/// <param name="Dropped">
/// Samples that the server has dropped since the previous update, because they came faster than they were received.
/// </param>
public sealed record TagUpdate(IReadOnlyList<int> Tags, TagSamples Samples, long Dropped);

/// <summary>A sample of a tag in a subscription.</summary>
/// <param name="Name">The tag's name.</param>
/// <param name="Sample">The sample.</param>
public readonly record struct TagChange(string Name, TagSample Sample);

/// <summary>How a subscription reports changes.</summary>
public sealed record TagSubscriptionOptions
{
    /// <summary>Minimum time between updates; zero for the server's default. Defaults to zero.</summary>
    public TimeSpan Interval { get; init; }

    /// <summary>
    /// Samples of a tag that may wait for an update; when there are more, the oldest is dropped and counted. 1 keeps only the latest one,
    /// and counts nothing. Defaults to 1.
    /// </summary>
    public int QueueSize { get; init; } = 1;
}
