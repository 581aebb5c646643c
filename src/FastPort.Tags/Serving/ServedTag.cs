namespace FastPort.Tags.Serving;

/// <summary>A tag of a served source, with its last known sample. The source's gate guards all but the id, the owner and the key.</summary>
internal sealed class ServedTag(uint id, ServedSource owner, TagInfo info, TagWrites writes, SourceWriter writer)
{
    // The memory of a larger value is not kept for the next one: a source may have many tags.
    private const int MaxKeptBytes = 4096;

    private RawSample _last;

    // The feed that has reported the last sample; null for a read. Another feed's sample may be newer.
    private SourceFeed? _from;
    private bool _isInDoubt;

    // The value if it is not a number; null if it is.
    private TagSamples? _data;

    /// <summary>The handle. Another session may use it only after it has resolved the name too.</summary>
    public uint Id => id;

    public ServedSource Owner => owner;

    /// <summary>The source's number for the tag.</summary>
    public int Key { get; } = info.Tag;

    public TagInfo Info { get; set; } = info;

    /// <summary>Whether the source has reported anything about the tag's value.</summary>
    public bool IsKnown { get; private set; }

    /// <summary>When the last sample was confirmed; <see cref="long.MinValue"/> for never.</summary>
    public long ConfirmedAt { get; private set; } = long.MinValue;

    /// <summary>When the last Read that returned a sample was sent; <see cref="long.MinValue"/> for never.</summary>
    public long ReadAt { get; private set; } = long.MinValue;

    /// <summary>The last Read that was sent, and that waits to be sent, with the tag; null for none.</summary>
    public ReadBatch? Sent { get; set; }

    public ReadBatch? Unsent { get; set; }

    /// <summary>When a Read of the tag last failed, and why.</summary>
    public long FailedAt { get; set; } = long.MinValue;

    public TagStatus Failure { get; set; }

    /// <summary>Whether a Read that was sent after the last confirmation has failed.</summary>
    public bool HasFailed => FailedAt > ConfirmedAt;

    /// <summary>The feed that reports the tag's changes; null for none.</summary>
    public FeedMember? Fed { get; set; }

    /// <summary>Its writes; shared by the parts of an array and the whole.</summary>
    public TagWrites Writes => writes;

    /// <summary>Sends its writes; shared by the tags of its device.</summary>
    public SourceWriter Writer => writer;

    /// <summary>
    /// Whether the last sample answers a read that asks for one confirmed since a time. After a write only a Read that was sent later
    /// confirms again: a feed's reports may have been sampled before it.
    /// </summary>
    /// <param name="since">The time.</param>
    /// <param name="written">The time of the tag's last write before the read.</param>
    public bool IsFresh(long since, long written)
    {
        long confirmed = Math.Max(ConfirmedAt, Fed?.ConfirmedAt ?? long.MinValue);
        return IsKnown && !_isInDoubt && confirmed >= since && (written == long.MinValue || ReadAt > written);
    }

    /// <summary>Whether a Read has brought a sample that answers, although the tag may have been written in the meantime.</summary>
    /// <inheritdoc cref="IsFresh"/>
    public bool WasRead(long since, long written) => ReadAt >= since && ReadAt > written;

    /// <summary>
    /// Keeps a sample, unless the known one may be newer: reads and feeds overtake each other. Then source times decide, or without them
    /// the times of confirmation. Otherwise they do not: a device's clock may be set back.
    /// </summary>
    /// <param name="samples">The samples.</param>
    /// <param name="row">The tag's row.</param>
    /// <param name="confirmedAt">The time of confirmation: for a read, when it was sent.</param>
    /// <param name="feed">The feed that reports it; null for a read.</param>
    public void Keep(TagSamples samples, int row, long confirmedAt, SourceFeed? feed)
    {
        bool isNumber = samples.TryGetRaw(row, out RawSample sample);
        bool isLater = !IsKnown || (feed is null ? confirmedAt >= ConfirmedAt : feed == _from);
        bool isTimed = sample.SourceTime != 0;
        bool isNewer = isTimed ? sample.SourceTime >= _last.SourceTime : confirmedAt >= (feed is null ? ReadAt : ConfirmedAt);
        if (isLater || isNewer)
        {
            // A feed's reports since a read was sent may be older, for example from before a write, or newer: the next read decides.
            IsKnown = true;
            _isInDoubt = !isLater && !isTimed && feed is null;
            _from = feed;
            _last = sample;
            _data = isNumber ? null : _data?.Cleared(MaxKeptBytes) ?? new TagSamples();
            _data?.Add(samples, row);
        }
        else if (feed is not null)
        {
            // The next read finds out.
            _isInDoubt = true;
            return;
        }

        ConfirmedAt = Math.Max(ConfirmedAt, confirmedAt);
        ReadAt = feed is null ? Math.Max(ReadAt, confirmedAt) : ReadAt;
    }

    /// <summary>Adds the last sample to others. With a bad status if the source is not connected.</summary>
    public void AddTo(TagSamples samples)
    {
        if (!IsKnown)
        {
            samples.Add(TagSample.Bad(owner.IsConnected ? TagStatus.BadWaitingForInitialData : TagStatus.BadNoCommunication));
            return;
        }

        TagStatus status = owner.IsConnected ? new TagStatus(_last.Status) : TagStatus.BadNoCommunication;
        if (_last.IsNumber)
        {
            samples.Add(_last with { Status = status.Code });
        }
        else
        {
            samples.Add(_data!, 0, status);
        }
    }
}
