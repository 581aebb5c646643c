namespace FastPort.Tags;

/// <summary>A feed of changes from a source. The server calls one member at a time.</summary>
public interface ITagFeed : IAsyncDisposable
{
    /// <summary>How often the source reports changes.</summary>
    TimeSpan Interval { get; }

    /// <summary>
    /// Whether each report, even an empty one, confirms the values of all tags of the feed: true unless changes are left out, for example
    /// by a deadband.
    /// </summary>
    bool ConfirmsValues { get; }

    /// <summary>
    /// Completes, with a reason, when the feed has ended on its own and no longer reports anything: the server closes it and opens another
    /// one. Null for a feed that lives until it is closed.
    /// </summary>
    Task<TagStatus>? Ended => null;

    /// <summary>
    /// The maximum age of a tag's value when a report without a change of the tag confirms it. Read when the tag has been added. Defaults
    /// to zero: the source samples the tag at least as often as it reports.
    /// </summary>
    /// <param name="tag">The tag.</param>
    TimeSpan AgeOf(int tag) => TimeSpan.Zero;

    /// <summary>Adds tags. The current value of each is reported soon.</summary>
    /// <param name="tags">The tags.</param>
    /// <param name="statuses">
    /// Receives for each tag whether it will be reported. A tag with a bad status is added again when the source has reconnected; a tag
    /// with <see cref="TagStatus.BadNoCommunication"/> or <see cref="TagStatus.BadNodeIdUnknown"/> also without that, at growing intervals
    /// up to 30 s.
    /// </param>
    /// <param name="cancellationToken">Canceled when the server no longer waits.</param>
    /// <exception cref="TagException">
    /// No tag was added; the exception says why. The server adds them again, at growing intervals up to 30 s.
    /// </exception>
    ValueTask AddAsync(IReadOnlyList<int> tags, Memory<TagStatus> statuses, CancellationToken cancellationToken);

    /// <summary>Removes tags.</summary>
    /// <param name="tags">The tags.</param>
    /// <param name="cancellationToken">Canceled when the server no longer waits.</param>
    ValueTask RemoveAsync(IReadOnlyList<int> tags, CancellationToken cancellationToken);
}

/// <summary>Receives the reports of a feed. Calls do not overlap, and must return soon.</summary>
public interface ITagFeedListener
{
    /// <summary>Reports changed values, or with no tags that the feed is alive.</summary>
    /// <param name="tags">The tags, in the order of their changes; a tag may occur several times. Empty if nothing has changed.</param>
    /// <param name="samples">A row for each tag. The source may reuse it after the call.</param>
    void OnChanges(ReadOnlySpan<int> tags, TagSamples samples);

    /// <summary>As the other overload, for a feed that knows only the values of some time ago.</summary>
    /// <param name="tags">The tags, in the order of their changes.</param>
    /// <param name="samples">A row for each tag. The source may reuse it after the call.</param>
    /// <param name="age">
    /// The age of the values, during which there may have been unknown changes: for a feed that reads, the time since its read was sent.
    /// Listeners that do not keep ages need not implement this method.
    /// </param>
    void OnChanges(ReadOnlySpan<int> tags, TagSamples samples, TimeSpan age) => OnChanges(tags, samples);

    /// <summary>
    /// Changes may have been lost: the reported values may be out of date. The server reads the current values. Listeners that do not keep
    /// values need not implement this method.
    /// </summary>
    void OnValuesLost()
    {
    }

    /// <summary>
    /// The source has new tags. The server again adds those that the feed has refused, at once instead of at the next interval. May be
    /// called on any thread, and while another member runs. Listeners that add no tags need not implement this method.
    /// </summary>
    void OnTagsAppeared()
    {
    }
}
