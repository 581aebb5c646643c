namespace FastPort.Tags.Serving;

/// <summary>
/// A tag of a subscription. The member, and whether it has ended, are guarded by its source's gate, the rest by the subscription's.
/// </summary>
internal sealed class SubscriptionItem(ServedSubscription subscription, ServedTag tag)
{
    public ServedSubscription Subscription => subscription;

    public ServedTag Tag => tag;

    /// <summary>Whether the source reports the tag.</summary>
    public TagStatus Status { get; set; }

    public FeedMember? Member { get; set; }

    /// <summary>Whether the session may no longer read the tag: no more samples, even while the source still reports it.</summary>
    public bool IsEnded { get; set; }

    /// <summary>Samples that wait for an update, oldest first, with their size; the last one only, if there is no queue.</summary>
    public Queue<(TagSample Sample, long Bytes)> Waiting { get; } = new(1);

    /// <summary>Its places in the order of samples that wait.</summary>
    public int Places { get; set; }
}
