namespace FastPort.Protocol.Tags.Sources;

/// <summary>
/// A feed for sources that report no changes by themselves: it reads its tags again and again, and reports those whose value or status has
/// changed. Its reads confirm all values.
/// </summary>
public sealed class PolledTagFeed : ITagFeed
{
    private readonly ITagSource _source;
    private readonly ITagFeedListener _listener;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _end = new();
    private readonly Task _polling;

    // Replaced as a whole; each round uses one.
    private volatile int[] _tags = [];

    // Of the task that polls.
    private readonly Dictionary<int, (TagValue Value, TagStatus Status)> _known = [];

    /// <summary>Begins to read.</summary>
    /// <param name="source">The source that is read.</param>
    /// <param name="interval">Time from one read to the next.</param>
    /// <param name="listener">Receives the changes.</param>
    /// <param name="time">The clock. Defaults to the system's.</param>
    public PolledTagFeed(ITagSource source, TimeSpan interval, ITagFeedListener listener, TimeProvider? time = null)
    {
        _source = source;
        _listener = listener;
        _time = time ?? TimeProvider.System;
        Interval = interval;
        _polling = PollAsync();
    }

    /// <inheritdoc/>
    public TimeSpan Interval { get; }

    /// <inheritdoc/>
    public bool ConfirmsValues => true;

    /// <inheritdoc/>
    public ValueTask AddAsync(IReadOnlyList<int> tags, Memory<TagStatus> statuses, CancellationToken cancellationToken)
    {
        _tags = [.. _tags.Union(tags)];
        return ValueTask.CompletedTask;
    }

    /// <inheritdoc/>
    public ValueTask RemoveAsync(IReadOnlyList<int> tags, CancellationToken cancellationToken)
    {
        _tags = [.. _tags.Except(tags)];
        return ValueTask.CompletedTask;
    }

    /// <summary>Stops reading.</summary>
    public async ValueTask DisposeAsync()
    {
        await _end.CancelAsync().ConfigureAwait(false);
        await _polling.ConfigureAwait(false);
        _end.Dispose();
    }

    // A read that fails as a whole gives every tag its status.
    private async ValueTask ReadAsync(int[] tags, TagSamples samples)
    {
        samples.Clear();
        TagStatus status;
        try
        {
            status = await _source.ReadAsync(tags, samples, _end.Token).ConfigureAwait(false);
        }
        catch (Exception) when (!_end.IsCancellationRequested)
        {
            status = TagStatus.BadInternalError;
        }

        if (status.IsGood && samples.Count == tags.Length)
        {
            return;
        }

        samples.Clear();
        for (int i = 0; i < tags.Length; i++)
        {
            samples.Add(TagSample.Bad(status.IsGood ? TagStatus.BadInternalError : status));
        }
    }

    private async Task PollAsync()
    {
        using var timer = new PeriodicTimer(Interval, _time);
        var samples = new TagSamples();
        var changes = new TagSamples();
        List<int> changed = [];
        try
        {
            while (await timer.WaitForNextTickAsync(_end.Token).ConfigureAwait(false))
            {
                int[] tags = _tags;
                if (tags.Length == 0)
                {
                    continue;
                }

                await ReadAsync(tags, samples).ConfigureAwait(false);
                changes.Clear();
                changed.Clear();
                for (int i = 0; i < tags.Length; i++)
                {
                    (TagValue, TagStatus) now = (samples.GetValue(i), samples.GetStatus(i));
                    if (!_known.TryGetValue(tags[i], out (TagValue, TagStatus) before) || before != now)
                    {
                        _known[tags[i]] = now;
                        changed.Add(tags[i]);
                        changes.Add(samples, i);
                    }
                }

                foreach (int gone in _known.Keys.Except(tags).ToArray())
                {
                    // Added again, it is reported again.
                    _known.Remove(gone);
                }

                _listener.OnChanges(changed.ToArray(), changes);
            }
        }
        catch (OperationCanceledException) when (_end.IsCancellationRequested)
        {
            // The feed is closed.
        }
    }
}
