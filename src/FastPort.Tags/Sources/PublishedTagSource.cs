using System.Diagnostics;
using FastPort.Protocol;
using FastPort.Tags.Messages;
using FastPort.Tags.Sources;
using FastPort.Tags.Wire;

namespace FastPort.Tags;

/// <summary>
/// Tags that FastPort sessions publish: they declare them and push their values, and writes go to them. Register its messages with
/// <see cref="TagHandlers.MapPublishedTags"/>. A tag belongs to the routing id that first declared it. When that session has ended,
/// its tags stay, with the last values and <see cref="TagStatus.BadNoCommunication"/>, until a session of the same id declares them again.
/// Safe from any thread.
/// </summary>
public sealed partial class PublishedTagSource : ITagSource
{
    // The descriptions of the tags, and their values.
    private readonly MemoryTagSource _tags;
    private readonly TimeProvider _time;
    private readonly PublishedTagOptions _options;
    private readonly TagAuthorizer? _authorizer;

    // Guards the declared tags. Taken before the gate of the tags in memory, so that a session that has ended does not overwrite the values
    // of the next one.
    private readonly Lock _gate = new();

    // By the number that the tag has in memory; its handle is one more.
    private readonly List<PublishedTag> _published = [];

    private readonly Dictionary<Session, TagPublisher> _publishers = [];
    private readonly Dictionary<string, TagOwner> _owners = new(StringComparer.Ordinal);
    private long _valueBytes;

    // Counts the reviews: an answer of the authorizer that was given before one does not count after it.
    private int _reviews;

    /// <summary>Creates a source without tags.</summary>
    /// <param name="name">Name for logs and metrics. Defaults to "published".</param>
    /// <param name="options">Limits. Defaults to the default values.</param>
    /// <param name="time">The clock for timestamps. Defaults to the system's.</param>
    /// <param name="authorizer">Decides which session may publish which tags. Defaults to null: all may publish all.</param>
    public PublishedTagSource(
        string name = "published", PublishedTagOptions? options = null, TimeProvider? time = null, TagAuthorizer? authorizer = null)
    {
        _authorizer = authorizer;
        _time = time ?? TimeProvider.System;
        _options = options ?? new PublishedTagOptions();
        _tags = new MemoryTagSource(name, _time);
    }

    /// <summary>Never raised: publishers come and go, tag by tag.</summary>
    public event Action? ConnectionChanged
    {
        add { }
        remove { }
    }

    /// <summary>Raised when a tag was declared, for the first time or again, on any thread. A handler must not block.</summary>
    public event Action<TagInfo>? Declared;

    /// <inheritdoc/>
    public string Name => _tags.Name;

    /// <summary>True. The status of each tag shows whether its publisher is connected.</summary>
    public bool IsConnected => true;

    /// <inheritdoc/>
    public ValueTask ResolveAsync(IReadOnlyList<string> names, Memory<TagInfo?> tags, CancellationToken cancellationToken) =>
        _tags.ResolveAsync(names, tags, cancellationToken);

    /// <summary>Reads the last pushed values.</summary>
    /// <inheritdoc/>
    public ValueTask<TagStatus> ReadAsync(IReadOnlyList<int> tags, TagSamples samples, CancellationToken cancellationToken) =>
        _tags.ReadAsync(tags, samples, cancellationToken);

    /// <inheritdoc/>
    public ValueTask<ITagFeed> OpenFeedAsync(TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken) =>
        new(OpenFeed(interval, listener));

    internal ITagFeed OpenFeed(TimeSpan interval, ITagFeedListener listener) => _tags.OpenFeed(interval, listener);

    /// <inheritdoc/>
    public ValueTask<TagStatus> BrowseAsync(string path, IList<TagBrowseNode> nodes, CancellationToken cancellationToken) =>
        _tags.BrowseAsync(path, nodes, cancellationToken);

    /// <summary>Publishers have no methods.</summary>
    /// <inheritdoc/>
    public ValueTask<TagStatus> CallAsync(string method, TagSamples inputs, TagSamples outputs, CancellationToken cancellationToken) =>
        new(TagStatus.BadMethodInvalid);

    /// <summary>
    /// Asks the authorizer again about every tag that a session publishes. A tag that its session may no longer publish keeps its last
    /// value with <see cref="TagStatus.BadNoCommunication"/>, and accepts none until the session may publish it again: then it gets the
    /// next pushed value. Call it after a change of permissions. Does nothing without an authorizer; an authorizer that throws allows
    /// nothing.
    /// </summary>
    /// <returns>The affected sessions and tags.</returns>
    public IReadOnlyList<(Session Session, string Name)> ReviewAccess()
    {
        if (_authorizer is null)
        {
            return [];
        }

        lock (_gate)
        {
            _reviews++;
        }

        // The authorizer is asked again about tags declared from now on. The gate is held for a few tags at a time, and the authorizer is
        // asked without it: the loops of the publishers take it for each push.
        List<(Session Session, string Name)> ended = [];
        for (int first = 0; ; first += TagsAtATime)
        {
            List<(int Tag, Session Session, string Name)> published = [];
            int reviews;
            do
            {
                published.Clear();
                lock (_gate)
                {
                    if (first >= _published.Count)
                    {
                        return ended;
                    }

                    reviews = _reviews;
                    for (int i = first; i < Math.Min(first + TagsAtATime, _published.Count); i++)
                    {
                        if (_published[i].Publisher is { } publisher)
                        {
                            published.Add((i, publisher.Session, _tags.InfoOf(i).Name));
                        }
                    }
                }
            }
            while (!TryReview(published, [.. published.Select(one => MayPublish(one.Session, one.Name))], reviews, ended));
        }
    }

    // False if there was another review since the rights were checked: they are checked again.
    private bool TryReview(
        List<(int Tag, Session Session, string Name)> published,
        bool[] allowed,
        int reviews,
        List<(Session Session, string Name)> ended)
    {
        List<int> forbidden = [];
        lock (_gate)
        {
            if (_reviews != reviews)
            {
                return false;
            }

            for (int i = 0; i < allowed.Length; i++)
            {
                (int number, Session session, string name) = published[i];
                PublishedTag tag = _published[number];
                if (tag.Publisher?.Session != session)
                {
                    continue;
                }

                if (!allowed[i] && !tag.IsForbidden)
                {
                    forbidden.Add(number);
                    ended.Add((session, name));
                }

                tag.IsForbidden = !allowed[i];
            }

            _tags.SetStatus([.. forbidden], TagStatus.BadNoCommunication);
        }

        return true;
    }

    // An authorizer that throws allows nothing: one tag's must not keep the rights to the others.
    private bool MayPublish(Session session, string name)
    {
        try
        {
            return _authorizer!(session, TagAccess.Publish, name, isAttempt: false);
        }
        catch (Exception)
        {
            return false;
        }
    }

    /// <summary>Ends all feeds.</summary>
    public ValueTask DisposeAsync() => _tags.DisposeAsync();

    internal void Map(MessageHandlers handlers)
    {
        handlers.MapQueued<DeclareTags, DeclaredTags>(
            TagMessageType.Declare, DeclareTags.Parser, (request, context) => new(Declare(context.Session, request)));

        // On the loop, which also handles replies: the values that a publisher has pushed before it answers a write are there before the
        // answer is, unless requests of the publisher wait for a place here. One at a time, in their order.
        handlers.MapInline(TagMessageType.Push, Push, "PushTags");
    }

    private void Push(ref InlineRequest request)
    {
        var message = new TagRequestMessage();
        if (!Contiguous.Read(request.Body, message.TryReadWrite))
        {
            request.Fail(
                ErrorCode.MalformedBody,
                "The body is not a PushTags message with a row for each handle, or a number is beyond the range of its type.");
            return;
        }

        var statuses = new TagStatus[message.Handles.Length];
        Push(request.Session, message.Handles, message.Samples, statuses);
        request.Reply(new WrittenTagsBody(statuses));
    }

    private void Push(Session session, ReadOnlySpan<uint> handles, TagSamples samples, Span<TagStatus> statuses)
    {
        List<int> tags = new(handles.Length);
        var taken = new TagSamples();
        DateTime now = _time.GetUtcNow().UtcDateTime;
        lock (_gate)
        {
            for (int i = 0; i < handles.Length; i++)
            {
                if (Find(session, handles[i]) is not { } tag)
                {
                    statuses[i] = TagStatus.BadHandleInvalid;
                    continue;
                }

                if (tag.IsForbidden)
                {
                    statuses[i] = TagStatus.BadUserAccessDenied;
                    continue;
                }

                int number = (int)handles[i] - 1;
                TagSample sample = samples[i];
                if (sample.Value.IsNull && sample.Status == TagStatus.BadNoCommunication)
                {
                    // The last value stays, as when the publisher has gone.
                    sample = sample with { Value = _tags.ValueOf(number) };
                }

                // All readers see that a value was refused. No value is of any type.
                statuses[i] = !sample.Value.IsNull
                        && !_tags.InfoOf(number).Accepts(sample.Value.Encoding, sample.Value.DimensionCount) ? TagStatus.BadTypeMismatch
                    : !TryHold(tag, sample.Value) ? TagStatus.BadResponseTooLarge
                    : TagStatus.Good;
                if (!statuses[i].IsGood)
                {
                    TryHold(tag, default);
                    sample = sample with { Value = default, Status = statuses[i] };
                }

                tags.Add(number);
                taken.Add(sample with { SourceTime = sample.SourceTime == default ? now : sample.SourceTime, ServerTime = now });
            }

            _tags.Set([.. tags], taken);
        }
    }

    // Under the gate: whether there is room for a tag's new value in place of the old one.
    private bool TryHold(PublishedTag tag, in TagValue value)
    {
        Debug.Assert(_gate.IsHeldByCurrentThread);
        long size = value.IsNull ? 0 : sizeof(ulong) + value.ReferenceBytes;
        long more = size - tag.ValueBytes;
        if (more > 0
            && (_valueBytes + more > _options.MaxValueBytes || tag.Owner.ValueBytes + more > _options.MaxValueBytesPerPublisher))
        {
            return false;
        }

        tag.ValueBytes = size;
        tag.Owner.ValueBytes += more;
        _valueBytes += more;
        return true;
    }

    // The tag of a handle that the session has declared; null for others.
    private PublishedTag? Find(Session session, uint handle)
    {
        PublishedTag? tag = handle - 1 < (uint)_published.Count ? _published[(int)handle - 1] : null;
        return tag?.Publisher?.Session == session ? tag : null;
    }

    private async Task EndWithAsync(TagPublisher publisher)
    {
        // Not on the caller's stack, which has not declared anything yet.
        await publisher.Session.Closed.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        lock (_gate)
        {
            // Tags that are still declared on the session belong to another publisher, which ends at once.
            _publishers.Remove(publisher.Session);
        }

        for (int first = 0; ; first += TagsAtATime)
        {
            lock (_gate)
            {
                int count = Math.Min(TagsAtATime, _published.Count - first);
                if (count <= 0)
                {
                    return;
                }

                int[] lost = [.. Enumerable.Range(first, count).Where(tag => _published[tag].Publisher == publisher)];
                Array.ForEach(lost, tag => _published[tag].Publisher = null);
                _tags.SetStatus(lost, TagStatus.BadNoCommunication);
            }
        }
    }
}
