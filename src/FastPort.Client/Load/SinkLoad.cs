using FastPort.Telemetry;

namespace FastPort.Client.Load;

/// <summary>
/// The sink load: every connection sends one-way messages as fast as it takes them. Warm-up and measurement each end with a report of the
/// server on every connection; the result is the messages counted between the two reports, divided by the time between them.
/// </summary>
internal sealed class SinkLoad : ILoad
{
    private readonly LoadSettings _settings;
    private readonly LoadErrors _errors;
    private readonly TimeProvider _time;
    private readonly SinkLane[] _lanes;
    private readonly LoadConnections _connections;

    public SinkLoad(LoadSettings settings, string server, LoadErrors errors, ConnectionWatch watch, TimeProvider time)
    {
        _settings = settings;
        _errors = errors;
        _time = time;
        byte[] body = new byte[settings.Size];
        int batchMessages = OneWayBounds.BatchMessages(settings.Size, settings.Connections);
        _lanes = new SinkLane[settings.Connections];
        for (int i = 0; i < _lanes.Length; i++)
        {
            _lanes[i] = new SinkLane(body, batchMessages, errors);
        }

        _connections = new LoadConnections(settings, server, body.Length, watch, (number, session) => _lanes[number].OnConnected(session));
    }

    public long Messages => _lanes.Sum(static lane => lane.Sent);

    public LatencySnapshot? RoundTrips => null;

    public int Connected => _connections.Connected;

    public async Task ConnectAsync(CancellationToken cancellationToken)
    {
        await _connections.ConnectAsync(cancellationToken).ConfigureAwait(false);
        _connections.RequireBody(_settings.Size);
    }

    public async Task<LoadMeasurement> RunAsync(Action warmedUp, CancellationToken interrupted)
    {
        await SendForAsync(_settings.WarmUp, interrupted).ConfigureAwait(false);
        _errors.EndWarmUp();
        long before = _lanes.Sum(static lane => lane.Verified);
        DateTimeOffset started = _time.GetUtcNow();
        long from = _time.GetTimestamp();
        var timeline = new ThroughputTimeline(Messages, () => Messages, () => _errors.Total, _time);
        warmedUp();
        if (await SendForAsync(_settings.Duration, interrupted).ConfigureAwait(false) is var disconnected and not 0)
        {
            _errors.Add(LoadErrorKind.Disconnected, LoadConnections.NoSession, disconnected);
        }

        long messages = _lanes.Sum(static lane => lane.Verified) - before;
        return new LoadMeasurement(started, _time.GetElapsedTime(from), messages, null)
        {
            Reconnects = _connections.Lost,
            Throughput = timeline.End(),
            Interruptions = timeline.Interruptions,
            InterruptedTime = timeline.InterruptedTime,
        };
    }

    public ValueTask DisposeAsync() => _connections.DisposeAsync();

    // Returns how many connections had no session when the time was up.
    private async Task<int> SendForAsync(TimeSpan time, CancellationToken interrupted)
    {
        using var stop = new CancellationTokenSource();
        Task[] sending = Array.ConvertAll(_lanes, lane => Task.Run(() => lane.SendAsync(stop.Token), CancellationToken.None));
        await LoadTimer.WaitAsync(time, _time, interrupted).ConfigureAwait(false);
        int disconnected = _connections.Disconnected().Count;
        await stop.CancelAsync().ConfigureAwait(false);
        await Task.WhenAll(sending).ConfigureAwait(false);
        await Task.WhenAll(_lanes.Select(lane => lane.VerifyAsync(_settings.DrainTimeout))).ConfigureAwait(false);
        return disconnected;
    }
}
