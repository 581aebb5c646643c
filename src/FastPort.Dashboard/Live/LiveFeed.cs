using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Microsoft.Extensions.Logging;

namespace FastPort.Dashboard.Live;

/// <summary>
/// Takes the figures once a second, keeps the last minutes, and gives each second's bytes to all readers. One task samples; requests open
/// and close readers.
/// </summary>
internal sealed class LiveFeed(
    LiveSampler sampler, ServerDescription description, TimeProvider time, ILogger<DashboardServer> logger)
{
    /// <summary>Most readers at a time.</summary>
    public const int MaxReaders = 64;

    /// <summary>Seconds of history: ten minutes.</summary>
    public const int HistorySeconds = 600;

    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(1);

    private readonly CancellationTokenSource _stop = new();

    // Guards the fields below. Held for the time of adding to queues, and of serializing the history for a new reader.
    private readonly Lock _gate = new();
    private readonly List<EventReader> _readers = [];
    private readonly Queue<LivePoint> _history = new(HistorySeconds);
    private readonly Queue<LiveWarning> _warnings = new(RecentWarnings.Capacity);
    private LiveFigures? _latest;
    private long _dropped;
    private int _samples;
    private bool _ended;
    private Task _running = Task.CompletedTask;

    /// <summary>Number of readers.</summary>
    public int Readers
    {
        get
        {
            lock (_gate)
            {
                return _readers.Count;
            }
        }
    }

    /// <summary>Readers that were dropped because they were too slow.</summary>
    public long ReadersDropped => Volatile.Read(ref _dropped);

    /// <summary>Samples taken so far.</summary>
    public int Samples => Volatile.Read(ref _samples);

    public void Start() => _running = NoContext.Start(RunAsync);

    /// <summary>Sends the last figures and ends all streams.</summary>
    public async Task StopAsync()
    {
        await _stop.CancelAsync().ConfigureAwait(false);
        await _running.ConfigureAwait(false);
    }

    /// <summary>Opens a reader, whose first event is the history. Null if there are too many, or the server has stopped.</summary>
    /// <param name="drop">Called if the reader is too slow.</param>
    public EventReader? Open(Action drop)
    {
        var reader = new EventReader(drop);
        lock (_gate)
        {
            if (_ended || _readers.Count == MaxReaders)
            {
                return null;
            }

            LiveHistory history = description.Describe(_history.ToArray(), _warnings.ToArray());
            reader.TryAdd(Event("history", history, DashboardJson.Default.LiveHistory));
            if (_latest is { } latest)
            {
                // Its warnings are in the history.
                reader.TryAdd(Event("figures", latest with { Warnings = [] }, DashboardJson.Default.LiveFigures));
            }

            _readers.Add(reader);
        }

        return reader;
    }

    public void Close(EventReader reader)
    {
        lock (_gate)
        {
            _readers.Remove(reader);
        }
    }

    private async Task RunAsync()
    {
        using var timer = new PeriodicTimer(Interval, time);
        try
        {
            do
            {
                Sample();
            }
            while (await timer.WaitForNextTickAsync(_stop.Token).ConfigureAwait(false));
        }
        catch (OperationCanceledException) when (_stop.IsCancellationRequested)
        {
            // StopAsync.
        }

        Sample();
        lock (_gate)
        {
            _ended = true;
            _readers.ForEach(static reader => reader.Complete());
        }
    }

    private void Sample()
    {
        try
        {
            LiveFigures figures = sampler.Take(ReadersDropped);
            lock (_gate)
            {
                Add(figures);
                if (_readers.Count != 0)
                {
                    Send(Event("figures", figures, DashboardJson.Default.LiveFigures));
                }
            }
        }
        catch (Exception e)
        {
            // A backplane may throw although it must not. The next second retries.
            DashboardLog.SampleFailed(logger, e);
        }
    }

    private void Add(LiveFigures figures)
    {
        _latest = figures;
        if (_history.Count == HistorySeconds)
        {
            _history.Dequeue();
        }

        _history.Enqueue(figures.Point);
        foreach (LiveWarning warning in figures.Warnings)
        {
            if (_warnings.Count == RecentWarnings.Capacity)
            {
                _warnings.Dequeue();
            }

            _warnings.Enqueue(warning);
        }

        Volatile.Write(ref _samples, _samples + 1);
    }

    private void Send(byte[] bytes)
    {
        for (int i = _readers.Count - 1; i >= 0; i--)
        {
            if (!_readers[i].TryAdd(bytes))
            {
                Volatile.Write(ref _dropped, _dropped + 1);
                _readers.RemoveAt(i);
            }
        }
    }

    // One event of the stream: the JSON has no line breaks.
    private static byte[] Event<T>(string name, T value, JsonTypeInfo<T> type) =>
        Encoding.UTF8.GetBytes($"event: {name}\ndata: {JsonSerializer.Serialize(value, type)}\n\n");
}
