namespace FastPort.Tags.Serving;

/// <summary>A tag in a feed, and the subscribers to its changes. Under the source's gate.</summary>
internal sealed class FeedMember(SourceFeed feed, ServedTag tag)
{
    public SourceFeed Feed => feed;

    public ServedTag Tag => tag;

    public List<SubscriptionItem> Items { get; } = [];

    /// <summary>Whether the tag is fed even without subscribers.</summary>
    public bool IsPermanent { get; set; }

    /// <summary>Whether the source knows that the tag is wanted. Not while it has not been connected since, or has refused it.</summary>
    public bool IsAdded { get; set; }

    /// <summary>
    /// Whether a tag that is not added is retried even without a new connection: only its device is disconnected, or the source has refused
    /// or not answered the call, or ended the feed.
    /// </summary>
    public bool MustRetry { get; set; }

    /// <summary>Why the source has refused the tag, or ended the feed; good if it has not.</summary>
    public TagStatus Status { get; set; }

    /// <summary>Whether the feed has reported the tag since it was connected.</summary>
    public bool IsReported { get; set; }

    /// <summary>Whether its subscribers were notified that it could not be read.</summary>
    public bool IsUnread { get; set; }

    /// <summary>The age of a value that the feed confirms, in units of the timestamps.</summary>
    public long Age { get; set; }

    /// <summary>When the feed last confirmed the tag's value; <see cref="long.MinValue"/> if it does not.</summary>
    public long ConfirmedAt => IsReported && tag.Info.ReportsAllChanges && feed.ConfirmedAt != long.MinValue
        ? feed.ConfirmedAt - Age
        : long.MinValue;
}
