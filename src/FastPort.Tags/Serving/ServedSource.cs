using FastPort.Telemetry;
using Microsoft.Extensions.Logging;

namespace FastPort.Tags.Serving;

/// <summary>
/// A source with the server's state of it. <see cref="Gate"/> guards the tags' samples, the pending reads and writes, and the members of
/// feeds. It is taken before a subscription's gate, never while the source is called.
/// </summary>
internal sealed class ServedSource
{
    private readonly TagServerOptions _options;
    private readonly Dictionary<int, ServedTag> _tags = [];

    // Of the tags of which there are parts.
    private readonly Dictionary<int, TagWrites> _writesOfParts = [];

    // By device. Under the gate.
    private readonly Dictionary<string, SourceWriter> _writers = new(StringComparer.Ordinal);

    public ServedSource(ITagSource source, TagServerOptions options, ILogger logger, TimeProvider time, LatencyStats? latencies)
    {
        _options = options;
        Source = source;
        Logger = logger;
        Time = time;
        Telemetry = new SourceTelemetry(source.Name, latencies);
        Reader = new SourceReader(this, options);
        Feeds = new SourceFeeds(this);
        IsConnected = source.IsConnected;
        source.ConnectionChanged += OnConnectionChanged;
        OnConnectionChanged();
    }

    public ITagSource Source { get; }

    public ILogger Logger { get; }

    public TimeProvider Time { get; }

    public Lock Gate { get; } = new();

    public SourceReader Reader { get; }

    public SourceFeeds Feeds { get; }

    public SourceTelemetry Telemetry { get; }

    /// <summary>As last reported by the source. Under the gate.</summary>
    public bool IsConnected { get; private set; }

    public long Now => Time.GetTimestamp();

    /// <summary>The tag of a name that was resolved. Under the gate.</summary>
    public ServedTag? Find(int key) => _tags.GetValueOrDefault(key);

    /// <summary>Keeps a tag that was resolved the first time. Under the gate.</summary>
    public ServedTag Add(uint id, TagInfo info)
    {
        int whole = info.PartOf ?? info.Tag;
        TagWrites writes = _writesOfParts.GetValueOrDefault(whole) ?? Find(whole)?.Writes ?? new TagWrites();
        if (info.PartOf is not null)
        {
            _writesOfParts[whole] = writes;
        }

        if (!_writers.TryGetValue(info.Device, out SourceWriter? writer))
        {
            _writers.Add(info.Device, writer = new SourceWriter(this, _options));
        }

        var tag = new ServedTag(id, this, info, writes, writer);
        _tags.Add(tag.Key, tag);
        return tag;
    }

    /// <summary>
    /// Calls the source, at most for <see cref="TagServerOptions.SourceTimeout"/>. Returns whether the call was abandoned before it
    /// returned.
    /// </summary>
    /// <param name="call">The call.</param>
    /// <param name="operation">Its name for logs and reports.</param>
    /// <param name="needsConnection">Whether the source is called only while it is connected.</param>
    public async ValueTask<(TagStatus Status, bool IsAbandoned)> CallAsync(
        Func<CancellationToken, ValueTask<TagStatus>> call, string operation, bool needsConnection = true)
    {
        if (needsConnection && !Source.IsConnected)
        {
            return (TagStatus.BadNoCommunication, false);
        }

        long begun = Now;
        TagStatus status;
        bool isAbandoned = false;
        using var timeout = new CancellationTokenSource(_options.SourceTimeout, Time);
        Task<TagStatus>? calling = null;
        try
        {
            ValueTask<TagStatus> called = call(timeout.Token);
            status = called.IsCompleted ? await called.ConfigureAwait(false)
                : await (calling = called.AsTask()).WaitAsync(timeout.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException) when (timeout.IsCancellationRequested)
        {
            ServingLog.SourceTimedOut(Logger, Source.Name, operation, _options.SourceTimeout);
            status = TagStatus.BadTimeout;
            isAbandoned = calling is { IsCompleted: false };
        }
        catch (TagException e)
        {
            status = e.Status;
        }
        catch (Exception e)
        {
            ServingLog.SourceThrew(Logger, e, Source.Name, operation);
            status = TagStatus.BadInternalError;
        }

        TimeSpan time = Time.GetElapsedTime(begun);
        Telemetry.OnCalled(operation, time, status);
        return (status, isAbandoned);
    }

    /// <summary>
    /// Closes a feed of the source, at most for <see cref="TagServerOptions.SourceTimeout"/>. Its exceptions are logged: no caller waits
    /// longer for it, and other feeds are still closed.
    /// </summary>
    public async ValueTask CloseAsync(ITagFeed feed)
    {
        try
        {
            await feed.DisposeAsync().AsTask().WaitAsync(_options.SourceTimeout, Time).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            ServingLog.SourceTimedOut(Logger, Source.Name, "Close", _options.SourceTimeout);
        }
        catch (Exception e)
        {
            ServingLog.SourceThrew(Logger, e, Source.Name, "Close");
        }
    }

    /// <summary>Looks up names, even while the source is disconnected. If the status is not good, nothing is known about them.</summary>
    public async ValueTask<TagStatus> ResolveAsync(string[] names, TagInfo?[] infos)
    {
        (TagStatus status, _) = await CallAsync(
            async token =>
            {
                await Source.ResolveAsync(names, infos, token).ConfigureAwait(false);
                return TagStatus.Good;
            },
            "Resolve",
            needsConnection: false).ConfigureAwait(false);
        return status;
    }

    /// <summary>Asks the source for the current descriptions of tags. The known values stay if it does not answer.</summary>
    public async ValueTask RefreshAsync(ServedTag[] tags)
    {
        var infos = new TagInfo?[tags.Length];
        TagStatus status = await ResolveAsync([.. tags.Select(static tag => tag.Info.Name)], infos).ConfigureAwait(false);
        if (!status.IsGood)
        {
            return;
        }

        lock (Gate)
        {
            for (int i = 0; i < tags.Length; i++)
            {
                tags[i].Info = infos[i] is { } info && info.Tag == tags[i].Key ? info : tags[i].Info;
            }
        }
    }

    public void Stop() => Source.ConnectionChanged -= OnConnectionChanged;

    private void OnConnectionChanged()
    {
        bool isConnected;
        lock (Gate)
        {
            // Of two concurrent calls, the later one sees the current state.
            isConnected = Source.IsConnected;
            if (IsConnected == isConnected)
            {
                return;
            }

            IsConnected = isConnected;
        }

        if (isConnected)
        {
            ServingLog.SourceConnected(Logger, Source.Name);
        }
        else
        {
            Telemetry.OnLost();
            ServingLog.SourceLost(Logger, Source.Name);
        }

        Feeds.OnConnectionChanged(isConnected);
    }
}
