namespace FastPort.Tags.Tests;

/// <summary>A table in memory whose lookups and feeds do what the test says.</summary>
internal sealed class FaultySource : ITagSource
{
    public event Action? ConnectionChanged;

    /// <summary>The table.</summary>
    public MemoryTagSource Tags { get; } = new();

    public string Name => "faulty";

    public bool IsConnected => true;

    /// <summary>What the next lookup throws.</summary>
    public Exception? LookupFailure { get; set; }

    /// <summary>Called before a lookup.</summary>
    public Func<Task> Resolving { get; set; } = static () => Task.CompletedTask;

    /// <summary>Whether the feed reports nothing, as one that is read once in an hour.</summary>
    public bool IsSilent { get; set; }

    /// <summary>The tags that the feed refuses.</summary>
    public HashSet<int> Refused { get; } = [];

    /// <summary>Called when a feed is opened.</summary>
    public Action OpeningFeed { get; init; } = static () => { };

    /// <summary>Opening a feed waits for it.</summary>
    public Task Opening { get; set; } = Task.CompletedTask;

    /// <summary>Completes when a feed is being opened.</summary>
    public TaskCompletionSource IsOpening { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Called when a feed has tags and has reported their values, before it says so.</summary>
    public Func<Task> Adding { get; set; } = static () => Task.CompletedTask;

    /// <summary>Called when tags are removed from a feed.</summary>
    public Func<Task> Removing { get; set; } = static () => Task.CompletedTask;

    /// <summary>What a feed throws when it is closed.</summary>
    public Exception? CloseFailure { get; set; }

    /// <summary>Called when a feed is closed.</summary>
    public Func<Task> Closing { get; set; } = static () => Task.CompletedTask;

    /// <summary>Number of feeds that are open.</summary>
    public int Feeds { get; private set; }

    /// <summary>Whether somebody wants to know of the connection.</summary>
    public bool IsObserved => ConnectionChanged is not null;

    public async ValueTask ResolveAsync(IReadOnlyList<string> names, Memory<TagInfo?> tags, CancellationToken cancellationToken)
    {
        await Resolving();
        if (LookupFailure is { } failure)
        {
            LookupFailure = null;
            throw failure;
        }

        await Tags.ResolveAsync(names, tags, cancellationToken);
    }

    public ValueTask<TagStatus> ReadAsync(IReadOnlyList<int> tags, TagSamples samples, CancellationToken cancellationToken) =>
        Tags.ReadAsync(tags, samples, cancellationToken);

    public ValueTask<TagStatus> WriteAsync(
        IReadOnlyList<int> tags, TagSamples values, Memory<TagStatus> statuses, CancellationToken cancellationToken) =>
        Tags.WriteAsync(tags, values, statuses, cancellationToken);

    public async ValueTask<ITagFeed> OpenFeedAsync(TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken)
    {
        OpeningFeed();
        IsOpening.TrySetResult();
        await Opening.WaitAsync(Loopback.Soon, CancellationToken.None);
        Feeds++;
        return new Feed(this, IsSilent ? null : await Tags.OpenFeedAsync(interval, listener, cancellationToken));
    }

    public ValueTask<TagStatus> BrowseAsync(string path, IList<TagBrowseNode> nodes, CancellationToken cancellationToken) =>
        Tags.BrowseAsync(path, nodes, cancellationToken);

    public ValueTask<TagStatus> CallAsync(string method, TagSamples inputs, TagSamples outputs, CancellationToken cancellationToken) =>
        new(TagStatus.BadMethodInvalid);

    public ValueTask DisposeAsync() => Tags.DisposeAsync();

    private sealed class Feed(FaultySource source, ITagFeed? inner) : ITagFeed
    {
        public TimeSpan Interval => TimeSpan.Zero;

        public bool ConfirmsValues => false;

        public async ValueTask AddAsync(IReadOnlyList<int> tags, Memory<TagStatus> statuses, CancellationToken cancellationToken)
        {
            int[] accepted = [.. tags.Where(tag => !source.Refused.Contains(tag))];
            for (int i = 0; i < tags.Count; i++)
            {
                statuses.Span[i] = accepted.Contains(tags[i]) ? TagStatus.Good : TagStatus.BadTooManyOperations;
            }

            if (inner is not null)
            {
                await inner.AddAsync(accepted, new TagStatus[accepted.Length], cancellationToken);
            }

            await source.Adding();
        }

        public ValueTask RemoveAsync(IReadOnlyList<int> tags, CancellationToken cancellationToken) => new(source.Removing());

        public async ValueTask DisposeAsync()
        {
            source.Feeds--;
            if (inner is not null)
            {
                await inner.DisposeAsync();
            }

            await source.Closing();
            if (source.CloseFailure is { } failure)
            {
                throw failure;
            }
        }
    }
}
