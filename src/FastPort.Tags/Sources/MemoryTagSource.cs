using System.Diagnostics;

namespace FastPort.Tags;

/// <summary>
/// Tags in memory: a program adds them and sets their values; clients read, write and subscribe to them. A write must have the tag's type
/// and sets its value. Slashes in names form folders for browsing. Safe from any thread.
/// </summary>
public sealed partial class MemoryTagSource : ITagSource
{
    private readonly Lock _gate = new();
    private readonly TimeProvider _time;

    // Under the gate. A tag's number is its place.
    private readonly List<Entry> _entries = [];
    private readonly Dictionary<string, int> _places = new(StringComparer.Ordinal);
    private readonly Dictionary<string, Func<IReadOnlyList<TagValue>, IReadOnlyList<TagValue>>> _methods = new(StringComparer.Ordinal);
    private readonly List<Feed> _feeds = [];
    private readonly TagSamples _one = new();

    /// <summary>Creates a source without tags.</summary>
    /// <param name="name">Name for logs and metrics. Defaults to "memory".</param>
    /// <param name="time">The clock for timestamps. Defaults to the system's.</param>
    public MemoryTagSource(string name = "memory", TimeProvider? time = null)
    {
        Name = name;
        _time = time ?? TimeProvider.System;
    }

    /// <inheritdoc/>
    public event Action? ConnectionChanged;

    /// <summary>Raised after a client has written a tag, with its name and value. A handler must not block.</summary>
    public event Action<string, TagValue>? Written;

    /// <inheritdoc/>
    public string Name { get; }

    /// <summary>Whether the tags are available. A program that loses their device sets it to false. Defaults to true.</summary>
    public bool IsConnected
    {
        get;
        set
        {
            bool hasChanged = field != value;
            field = value;
            if (hasChanged)
            {
                ConnectionChanged?.Invoke();
            }
        }
    } = true;

    /// <summary>Adds a tag.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="value">Its value, which determines its type.</param>
    /// <param name="isWritable">Whether clients may write it. Defaults to false.</param>
    /// <exception cref="ArgumentException">There is a tag of this name.</exception>
    public void Add(string name, TagValue value, bool isWritable = false) => Add(new TagInfo(0, name)
    {
        Type = value.Type,
        Rank = !value.IsArray ? -1 : Math.Max(value.Dimensions.Length, 1),
        IsWritable = isWritable,
    }, value);

    /// <summary>Adds a tag.</summary>
    /// <param name="info">Its description. The source assigns its number.</param>
    /// <param name="value">Its value.</param>
    /// <exception cref="ArgumentException">There is a tag of this name.</exception>
    public void Add(TagInfo info, TagValue value) => Add(info, Sample(value, TagStatus.Good));

    /// <summary>Adds a method.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="method">Takes the inputs, returns the outputs. Must not block.</param>
    public void AddMethod(string name, Func<IReadOnlyList<TagValue>, IReadOnlyList<TagValue>> method)
    {
        lock (_gate)
        {
            _methods.Add(name, method);
        }
    }

    /// <summary>Sets a tag's value and reports it to subscribers.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="value">The value.</param>
    /// <param name="status">Its status. Defaults to good.</param>
    /// <exception cref="KeyNotFoundException">There is no tag of this name.</exception>
    public void Set(string name, TagValue value, TagStatus status = default)
    {
        lock (_gate)
        {
            if (!_places.TryGetValue(name, out int tag))
            {
                throw new KeyNotFoundException($"There is no tag '{name}'; add it first.");
            }

            Set(tag, Sample(value, status));
        }
    }

    /// <inheritdoc/>
    public ValueTask ResolveAsync(IReadOnlyList<string> names, Memory<TagInfo?> tags, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            for (int i = 0; i < names.Count; i++)
            {
                tags.Span[i] = Find(names[i]);
            }
        }

        return ValueTask.CompletedTask;
    }

    /// <inheritdoc/>
    public ValueTask<TagStatus> ReadAsync(IReadOnlyList<int> tags, TagSamples samples, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            foreach (int tag in tags)
            {
                samples.Add(_entries[tag].Sample with { ServerTime = _time.GetUtcNow().UtcDateTime });
            }
        }

        return new(TagStatus.Good);
    }

    /// <inheritdoc/>
    public ValueTask<TagStatus> WriteAsync(
        IReadOnlyList<int> tags, TagSamples values, Memory<TagStatus> statuses, CancellationToken cancellationToken)
    {
        List<(string Name, TagValue Value)> written = [];
        lock (_gate)
        {
            for (int i = 0; i < tags.Count; i++)
            {
                TagInfo info = _entries[tags[i]].Info;
                TagValue value = values.GetValue(i);
                statuses.Span[i] = !info.IsWritable ? TagStatus.BadNotWritable
                    : info.Accepts(value.Encoding, value.DimensionCount) ? TagStatus.Good
                    : TagStatus.BadTypeMismatch;
                if (statuses.Span[i].IsGood)
                {
                    Set(tags[i], Sample(value, TagStatus.Good));
                    written.Add((info.Name, value));
                }
            }
        }

        written.ForEach(one => Written?.Invoke(one.Name, one.Value));
        return new(TagStatus.Good);
    }

    /// <inheritdoc/>
    public ValueTask<ITagFeed> OpenFeedAsync(TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken) =>
        new(OpenFeed(interval, listener));

    internal ITagFeed OpenFeed(TimeSpan interval, ITagFeedListener listener)
    {
        var feed = new Feed(this, interval, listener);
        lock (_gate)
        {
            _feeds.Add(feed);
        }

        return feed;
    }

    /// <inheritdoc/>
    public ValueTask<TagStatus> BrowseAsync(string path, IList<TagBrowseNode> nodes, CancellationToken cancellationToken)
    {
        string[] tags;
        string[] methods;
        lock (_gate)
        {
            (tags, methods) = ([.. _places.Keys], [.. _methods.Keys]);
        }

        // Not under the gate, which reads and writes on loops take.
        return new(TagNameTree.Browse(path, tags, methods, nodes));
    }

    /// <inheritdoc/>
    public ValueTask<TagStatus> CallAsync(string method, TagSamples inputs, TagSamples outputs, CancellationToken cancellationToken)
    {
        Func<IReadOnlyList<TagValue>, IReadOnlyList<TagValue>>? called;
        lock (_gate)
        {
            if (!_methods.TryGetValue(method, out called))
            {
                return new(TagStatus.BadMethodInvalid);
            }
        }

        try
        {
            foreach (TagValue output in called([.. Enumerable.Range(0, inputs.Count).Select(inputs.GetValue)]))
            {
                outputs.Add(output);
            }
        }
        catch (TagException e)
        {
            return new(e.Status);
        }

        return new(TagStatus.Good);
    }

    /// <summary>Ends all feeds.</summary>
    public ValueTask DisposeAsync()
    {
        lock (_gate)
        {
            _feeds.Clear();
        }

        return ValueTask.CompletedTask;
    }

    /// <summary>Adds a tag with its first sample. Returns its description, with its number.</summary>
    internal TagInfo Add(TagInfo info, in TagSample sample)
    {
        ArgumentNullException.ThrowIfNull(info);
        lock (_gate)
        {
            if (!_places.TryAdd(info.Name, _entries.Count))
            {
                throw new ArgumentException($"A tag '{info.Name}' already exists; give another name.", nameof(info));
            }

            var entry = new Entry(info with { Tag = _entries.Count }, sample);
            _entries.Add(entry);
            return entry.Info;
        }
    }

    /// <summary>The description of the tag of a name; null if there is none.</summary>
    internal TagInfo? Find(string name)
    {
        lock (_gate)
        {
            return _places.TryGetValue(name, out int tag) ? _entries[tag].Info : null;
        }
    }

    /// <summary>What is known of a tag.</summary>
    internal TagInfo InfoOf(int tag)
    {
        lock (_gate)
        {
            return _entries[tag].Info;
        }
    }

    /// <summary>Replaces what is known of a tag.</summary>
    internal void Update(TagInfo info)
    {
        lock (_gate)
        {
            _entries[info.Tag] = _entries[info.Tag] with { Info = info };
        }
    }

    /// <summary>The value that a tag has.</summary>
    internal TagValue ValueOf(int tag)
    {
        lock (_gate)
        {
            return _entries[tag].Sample.Value;
        }
    }

    /// <summary>Changes the status of tags, which keep their values.</summary>
    internal void SetStatus(ReadOnlySpan<int> tags, TagStatus status)
    {
        var samples = new TagSamples();
        lock (_gate)
        {
            DateTime now = _time.GetUtcNow().UtcDateTime;
            foreach (int tag in tags)
            {
                samples.Add(_entries[tag].Sample with { Status = status, SourceTime = now, ServerTime = now });
            }

            Set(tags, samples);
        }
    }

    /// <summary>Sets tags' samples, a row for each; subscribers receive them together.</summary>
    internal void Set(ReadOnlySpan<int> tags, TagSamples samples)
    {
        // One after the other, so that changes are reported in their order.
        lock (_gate)
        {
            for (int i = 0; i < tags.Length; i++)
            {
                _entries[tags[i]] = _entries[tags[i]] with { Sample = samples[i] };
            }

            foreach (Feed feed in _feeds)
            {
                feed.Report(tags, samples);
            }
        }
    }

    private TagSample Sample(TagValue value, TagStatus status)
    {
        DateTime now = _time.GetUtcNow().UtcDateTime;
        return new TagSample(value, status, now, now);
    }

    // Under the gate.
    private void Set(int tag, in TagSample sample)
    {
        Debug.Assert(_gate.IsHeldByCurrentThread);
        _one.Clear();
        _one.Add(sample);
        Set([tag], _one);
    }

    private sealed record Entry(TagInfo Info, TagSample Sample);
}
