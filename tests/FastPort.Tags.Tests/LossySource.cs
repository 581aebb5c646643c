using System.Collections.Concurrent;

namespace FastPort.Tags.Tests;

/// <summary>
/// A source that is away when the test says so, and whose feeds report and end as it says. Tag "3" is tag number 3; a read brings what
/// <see cref="Values"/> has of it.
/// </summary>
internal sealed class LossySource : ITagSource
{
    private bool _isConnected = true;
    private int _reads;
    private int _opens;

    public event Action? ConnectionChanged;

    public string Name => "lossy";

    public bool IsConnected => Volatile.Read(ref _isConnected);

    public ConcurrentDictionary<int, int> Values { get; } = [];

    /// <summary>Why feeds cannot be opened; null if they can.</summary>
    public TagException? OpenFailure { get; set; }

    /// <summary>Why feeds take no tags; null if they do.</summary>
    public TagException? AddFailure { get; set; }

    /// <summary>Why feeds do not report a tag; good, or none, if they do.</summary>
    public ConcurrentDictionary<int, TagStatus> Refusals { get; } = [];

    /// <summary>Number of feeds that were asked for.</summary>
    public int Opens => Volatile.Read(ref _opens);

    /// <summary>Whether somebody wants to know of the connection.</summary>
    public bool IsObserved => ConnectionChanged is not null;

    /// <summary>Called with the number of each read before it looks at the values.</summary>
    public Func<int, Task> Reading { get; set; } = static _ => Task.CompletedTask;

    /// <summary>Closing a feed waits for it.</summary>
    public Task Closing { get; set; } = Task.CompletedTask;

    /// <summary>Number of reads so far.</summary>
    public int Reads => Volatile.Read(ref _reads);

    /// <summary>The feeds that were opened.</summary>
    public ConcurrentQueue<Feed> Feeds { get; } = [];

    public void SetConnected(bool isConnected)
    {
        Volatile.Write(ref _isConnected, isConnected);
        ConnectionChanged?.Invoke();
    }

    public ValueTask ResolveAsync(IReadOnlyList<string> names, Memory<TagInfo?> tags, CancellationToken cancellationToken)
    {
        for (int i = 0; i < names.Count; i++)
        {
            tags.Span[i] = new TagInfo(int.Parse(names[i], System.Globalization.CultureInfo.InvariantCulture), names[i]);
        }

        return ValueTask.CompletedTask;
    }

    public async ValueTask<TagStatus> ReadAsync(IReadOnlyList<int> tags, TagSamples samples, CancellationToken cancellationToken)
    {
        await Reading(Interlocked.Increment(ref _reads));
        foreach (int tag in tags)
        {
            samples.Add(Values.GetValueOrDefault(tag));
        }

        return TagStatus.Good;
    }

    public ValueTask<TagStatus> WriteAsync(
        IReadOnlyList<int> tags, TagSamples values, Memory<TagStatus> statuses, CancellationToken cancellationToken) =>
        new(TagStatus.BadServiceUnsupported);

    public ValueTask<ITagFeed> OpenFeedAsync(TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken)
    {
        Interlocked.Increment(ref _opens);
        if (OpenFailure is { } failure)
        {
            throw failure;
        }

        var feed = new Feed(this, interval, listener);
        Feeds.Enqueue(feed);
        return new(feed);
    }

    public ValueTask<TagStatus> BrowseAsync(string path, IList<TagBrowseNode> nodes, CancellationToken cancellationToken) =>
        new(TagStatus.BadNodeIdUnknown);

    public ValueTask<TagStatus> CallAsync(string method, TagSamples inputs, TagSamples outputs, CancellationToken cancellationToken) =>
        new(TagStatus.BadMethodInvalid);

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    internal sealed class Feed(LossySource source, TimeSpan interval, ITagFeedListener listener) : ITagFeed
    {
        private readonly TaskCompletionSource<TagStatus> _ended = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TimeSpan Interval => interval;

        public bool ConfirmsValues => true;

        public Task<TagStatus> Ended => _ended.Task;

        /// <summary>The tags that it has now.</summary>
        public ConcurrentDictionary<int, bool> Tags { get; } = [];

        /// <summary>The tags of each call that adds some.</summary>
        public ConcurrentQueue<int[]> Asked { get; } = [];

        public bool IsDisposed { get; private set; }

        public ITagFeedListener Listener => listener;

        public void Report(int tag, int value)
        {
            var samples = new TagSamples();
            samples.Add(value);
            listener.OnChanges([tag], samples);
        }

        public void End(TagStatus reason) => _ended.TrySetResult(reason);

        public void Fail() => _ended.TrySetException(new InvalidOperationException("on purpose"));

        public ValueTask AddAsync(IReadOnlyList<int> tags, Memory<TagStatus> statuses, CancellationToken cancellationToken)
        {
            Asked.Enqueue([.. tags.Order()]);
            if (source.AddFailure is { } failure)
            {
                throw failure;
            }

            for (int i = 0; i < tags.Count; i++)
            {
                statuses.Span[i] = source.Refusals.GetValueOrDefault(tags[i]);
                _ = statuses.Span[i].IsBad || Tags.TryAdd(tags[i], true);
            }

            return ValueTask.CompletedTask;
        }

        public ValueTask RemoveAsync(IReadOnlyList<int> tags, CancellationToken cancellationToken)
        {
            foreach (int tag in tags)
            {
                Tags.TryRemove(tag, out _);
            }

            return ValueTask.CompletedTask;
        }

        public ValueTask DisposeAsync()
        {
            IsDisposed = true;
            return new(source.Closing);
        }
    }
}
