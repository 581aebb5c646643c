namespace FastPort.Tags.Sources;

/// <summary>A feed of changes from a source. The server calls one member at a time.</summary>
public interface ITagFeed : IAsyncDisposable
{
    /// <summary>How often the source reports changes.</summary>
    TimeSpan Interval { get; }

    /// <summary>
    /// Whether each report, also an empty one, confirms the values of all tags of the feed: true unless changes are left out, as by a
    /// deadband.
    /// </summary>
    bool ConfirmsValues { get; }

    /// <summary>
    /// Completes, with a reason, when the feed has ended by itself and reports nothing any more: the server closes it and opens another
    /// one. Null for a feed that lives until it is closed.
    /// </summary>
    Task<TagStatus>? Ended => null;

    /// <summary>
    /// How old the value of a tag may be that a report without a change of it confirms. Asked for when the tag has been added. Zero by
    /// default: the source looks at the tag at least as often as it reports.
    /// </summary>
    /// <param name="tag">The tag.</param>
    TimeSpan AgeOf(int tag) => TimeSpan.Zero;

    /// <summary>Adds tags. The present value of each is reported soon.</summary>
    /// <param name="tags">The tags.</param>
    /// <param name="statuses">
    /// Receives for each whether it will be reported. A tag with a bad status is added again when the source is connected again; one with
    /// <see cref="TagStatus.BadNoCommunication"/> or <see cref="TagStatus.BadNodeIdUnknown"/> also without that, in growing steps up to
    /// 30 s.
    /// </param>
    /// <param name="cancellationToken">The server no longer waits.</param>
    /// <exception cref="TagException">
    /// None counts as added; the exception says why. The server adds them again, in growing steps up to 30 s.
    /// </exception>
    ValueTask AddAsync(IReadOnlyList<int> tags, Memory<TagStatus> statuses, CancellationToken cancellationToken);

    /// <summary>Removes tags.</summary>
    /// <param name="tags">The tags.</param>
    /// <param name="cancellationToken">The server no longer waits.</param>
    ValueTask RemoveAsync(IReadOnlyList<int> tags, CancellationToken cancellationToken);
}

/// <summary>Receives what a feed reports. Calls do not overlap, and return soon.</summary>
public interface ITagFeedListener
{
    /// <summary>Values have changed; or nothing has, and the feed is alive.</summary>
    /// <param name="tags">The tags, in the order of their changes; one may come several times. Empty if nothing has changed.</param>
    /// <param name="samples">A row for each tag. The source's own again after the call.</param>
    void OnChanges(ReadOnlySpan<int> tags, TagSamples samples);

    /// <summary>As the other one, of a feed that knows the values only as they were some time ago.</summary>
    /// <param name="tags">The tags, in the order of their changes.</param>
    /// <param name="samples">A row for each tag. The source's own again after the call.</param>
    /// <param name="age">
    /// For how long it is not known whether there were changes: of a feed that reads, the time since its read was sent. Listeners that do
    /// not keep ages need not implement it.
    /// </param>
    void OnChanges(ReadOnlySpan<int> tags, TagSamples samples, TimeSpan age) => OnChanges(tags, samples);

    /// <summary>
    /// Changes may have been lost: what was reported says nothing about the values of now. The server reads them. Listeners that do not
    /// keep values need not implement it.
    /// </summary>
    void OnValuesLost()
    {
    }

    /// <summary>
    /// The source has tags now that it did not have. The server adds those that the feed has refused again at once, instead of at its next
    /// step. May come from any thread, and while another member runs. Listeners that add no tags need not implement it.
    /// </summary>
    void OnTagsAppeared()
    {
    }
}
