namespace FastPort.Tags;

/// <summary>
/// A feed for sources that do not report changes: it reads its tags periodically, and reports those whose value or status has changed. Its
/// reads confirm all values, as of when they were sent. A read that takes too long is abandoned: its tags are
/// <see cref="TagStatus.BadTimeout"/> until the next read.
/// </summary>
public sealed class PolledTagFeed : ITagFeed
{
    private readonly ITagSource _source;
    private readonly ITagFeedListener _listener;
    private readonly TimeProvider _time;
    private readonly TimeSpan _readTimeout;
    private readonly CancellationTokenSource _end = new();
    private readonly PeriodicTimer _timer;
    private readonly Task _polling;

    // Replaced as a whole; each round uses one. A tag that is added again is a new one, whose value is reported.
    private volatile Polled[] _tags = [];

    /// <summary>Creates the feed and starts reading.</summary>
    /// <param name="source">The source to read.</param>
    /// <param name="interval">Time from one read to the next.</param>
    /// <param name="listener">Receives the changes.</param>
    /// <param name="time">The clock. Defaults to the system's.</param>
    /// <param name="readTimeout">Time for a read. Defaults to 10 s, as for the sources of a tag server.</param>
    /// <exception cref="ArgumentOutOfRangeException">The interval or the time for a read is less than a millisecond.</exception>
    public PolledTagFeed(
        ITagSource source, TimeSpan interval, ITagFeedListener listener, TimeProvider? time = null, TimeSpan? readTimeout = null)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(interval, TimeSpan.FromMilliseconds(1));
        _readTimeout = readTimeout ?? TimeSpan.FromSeconds(10);
        ArgumentOutOfRangeException.ThrowIfLessThan(_readTimeout, TimeSpan.FromMilliseconds(1), nameof(readTimeout));
        _source = source;
        _listener = listener;
        _time = time ?? TimeProvider.System;
        Interval = interval;
        _timer = new PeriodicTimer(interval, _time);
        _polling = NoContext.Start(PollAsync);
    }

    /// <inheritdoc/>
    public TimeSpan Interval { get; }

    /// <inheritdoc/>
    public bool ConfirmsValues => true;

    /// <inheritdoc/>
    public ValueTask AddAsync(IReadOnlyList<int> tags, Memory<TagStatus> statuses, CancellationToken cancellationToken)
    {
        HashSet<int> added = [.. tags];
        _tags = [.. _tags.Where(polled => !added.Contains(polled.Tag)), .. added.Select(static tag => new Polled(tag))];
        return ValueTask.CompletedTask;
    }

    /// <inheritdoc/>
    public ValueTask RemoveAsync(IReadOnlyList<int> tags, CancellationToken cancellationToken)
    {
        HashSet<int> removed = [.. tags];
        _tags = [.. _tags.Where(polled => !removed.Contains(polled.Tag))];
        return ValueTask.CompletedTask;
    }

    /// <summary>Stops reading.</summary>
    public async ValueTask DisposeAsync()
    {
        if (!_end.IsCancellationRequested)
        {
            await _end.CancelAsync().ConfigureAwait(false);
        }

        await _polling.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        _timer.Dispose();
        _end.Dispose();
    }

    // A read that fails as a whole gives every tag its status. Returns the samples: different ones than those given if the source may still
    // write to these.
    private async ValueTask<TagSamples> ReadAsync(int[] tags, TagSamples samples)
    {
        samples.Clear();
        TagStatus status;
        var limit = CancellationTokenSource.CreateLinkedTokenSource(_end.Token);
        try
        {
            ValueTask<TagStatus> reading = _source.ReadAsync(tags, samples, limit.Token);
            status = reading.IsCompleted ? await reading.ConfigureAwait(false)
                : await reading.AsTask().WaitAsync(_readTimeout, _time).ConfigureAwait(false);
            limit.Dispose();
        }
        catch (Exception e) when (!_end.IsCancellationRequested)
        {
            _ = GiveUpAsync(limit);
            status = TagStatus.BadInternalError;
            if (e is TimeoutException)
            {
                samples = new TagSamples();
                status = TagStatus.BadTimeout;
            }
        }

        if (status.IsGood && samples.Count == tags.Length)
        {
            return samples;
        }

        samples.Clear();
        for (int i = 0; i < tags.Length; i++)
        {
            samples.Add(TagSample.Bad(status.IsGood ? TagStatus.BadInternalError : status));
        }

        return samples;
    }

    /// <summary>
    /// Cancels a read, and disposes its token's source after that. Not to be awaited: callbacks that the source has registered may throw or
    /// block.
    /// </summary>
    internal static async Task GiveUpAsync(CancellationTokenSource limit)
    {
        await limit.CancelAsync().ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        limit.Dispose();
    }

    private async Task PollAsync()
    {
        var samples = new TagSamples();
        var changes = new TagSamples();
        List<int> changed = [];
        try
        {
            while (await _timer.WaitForNextTickAsync(_end.Token).ConfigureAwait(false))
            {
                Polled[] polled = _tags;
                if (polled.Length == 0)
                {
                    continue;
                }

                long sent = _time.GetTimestamp();
                samples = await ReadAsync(Array.ConvertAll(polled, static one => one.Tag), samples).ConfigureAwait(false);
                changes.Clear();
                changed.Clear();
                for (int i = 0; i < polled.Length; i++)
                {
                    (TagValue, TagStatus) now = (samples.GetValue(i), samples.GetStatus(i));
                    if (polled[i].Known != now)
                    {
                        polled[i].Known = now;
                        changed.Add(polled[i].Tag);
                        changes.Add(samples, i);
                    }
                }

                Tell(polled, changed, changes, _time.GetElapsedTime(sent));
            }
        }
        catch (Exception) when (_end.IsCancellationRequested)
        {
            // The feed is closed: no caller waits for an exception of the last read.
        }
    }

    // A listener that throws must not end the feed. Everything is reported to it again after the next read.
    private void Tell(Polled[] polled, List<int> changed, TagSamples changes, TimeSpan age)
    {
        try
        {
            _listener.OnChanges(changed.ToArray(), changes, age);
        }
        catch (Exception) when (!_end.IsCancellationRequested)
        {
            Array.ForEach(polled, static one => one.Known = null);
        }
    }

    // A tag with its last report; null for nothing yet. The report belongs to the task that polls.
    private sealed class Polled(int tag)
    {
        public int Tag => tag;

        public (TagValue Value, TagStatus Status)? Known { get; set; }
    }
}
