using FastPort.Programs;
using FastPort.Telemetry;

namespace FastPort.Client.Load;

/// <summary>
/// The echo load. Closed loop: each slot of each connection sends its next request when it has its reply. Open loop
/// (<see cref="LoadSettings.Rate"/>): requests are due on a fixed schedule; a request without a free slot waits for one, and its latency
/// starts when it was due. Unsent messages at the start of the measured time are dropped: they were due in the warm-up.
/// </summary>
internal sealed class EchoLoad : ILoad
{
    private readonly LoadSettings _settings;
    private readonly LoadRecorder _recorder;
    private readonly TimeProvider _time;
    private readonly EchoPayload _payload;
    private readonly EchoLane[] _lanes;
    private readonly LoadConnections _connections;

    public EchoLoad(LoadSettings settings, string server, LoadRecorder recorder, ConnectionWatch watch, TimeProvider time)
    {
        _settings = settings;
        _recorder = recorder;
        _time = time;
        _payload = new EchoPayload(settings.Size);
        _lanes = new EchoLane[settings.Connections];
        for (int i = 0; i < _lanes.Length; i++)
        {
            SendSchedule? schedule = settings.Rate is { } rate ? new SendSchedule(rate, _lanes.Length, i) : null;
            _lanes[i] = new EchoLane(i, settings.InFlight, _payload, recorder, schedule);
        }

        _connections = new LoadConnections(
            settings, server, _payload.Length, watch, (number, session) => _lanes[number].OnConnected(session));
    }

    public long Messages => RoundTrips?.Count ?? 0;

    public LatencySnapshot? RoundTrips => _recorder.Stats.ReadTotals().All.Metrics[0].Lifetime;

    public int Connected => _connections.Connected;

    public async Task ConnectAsync(CancellationToken cancellationToken)
    {
        await _connections.ConnectAsync(cancellationToken).ConfigureAwait(false);
        if (_payload.Length > _connections.MaxBodyBytes)
        {
            throw new LoadFailedException(
                $"--size is {_settings.Size}; the server's frame limit allows 0 to "
                + $"{EchoPayload.LargestPayload(_connections.MaxBodyBytes)} bytes.", ExitCode.Usage);
        }
    }

    public async Task<LoadMeasurement> RunAsync(Action warmedUp, CancellationToken interrupted)
    {
        long begun = MonotonicClock.Nanoseconds;
        SendSchedule? schedule = _settings.Rate is { } rate ? new SendSchedule(rate, 1, 0) : null;
        schedule?.Begin(begun);
        using Pacer? pacer = schedule is null ? null : new Pacer(schedule, _lanes);
        foreach (EchoLane lane in _lanes)
        {
            lane.Start(begun);
        }

        pacer?.Start();
        await LoadTimer.WaitAsync(_settings.WarmUp, _time, interrupted).ConfigureAwait(false);
        long from = _recorder.Begin(schedule);
        foreach (EchoLane lane in _lanes)
        {
            lane.SkipBefore(from);
        }

        DateTimeOffset started = _time.GetUtcNow();
        warmedUp();
        await LoadTimer.WaitAsync(_settings.Duration, _time, interrupted).ConfigureAwait(false);
        long to = _recorder.End();
        foreach (int number in _connections.Disconnected())
        {
            _recorder.RecordError(LoadErrorKind.Disconnected, LoadConnections.NoSession, _recorder.ForConnection(number));
        }

        await DrainAsync().ConfigureAwait(false);
        LatencyReport report = _recorder.Stats.Read();
        long served = _recorder.Served(report.All.LifetimeCount);
        return new LoadMeasurement(started, TimeSpan.FromMicroseconds((to - from) / 1000.0), served, report)
        {
            Missed = schedule is not null ? _lanes.Sum(lane => lane.CountMissed(from, to)) : null,
            Reconnects = _connections.Lost,
            Interruptions = _recorder.Interruptions.Count,
            InterruptedTime = _recorder.Interruptions.Time,
        };
    }

    public ValueTask DisposeAsync() => _connections.DisposeAsync();

    private async Task DrainAsync()
    {
        if (await Lanes.DrainAsync(_lanes, _settings.DrainTimeout, _time).ConfigureAwait(false) is var unanswered and not 0)
        {
            _recorder.RecordError(
                LoadErrorKind.Unanswered, $"No reply came within {_settings.DrainTimeout.TotalSeconds:0.###} s after the end of the run.",
                null, unanswered);
            _connections.Abort();
        }
    }
}
