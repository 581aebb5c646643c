using FastPort.Telemetry;

namespace FastPort.Client.Load;

/// <summary>
/// The source load: the server streams one-way messages on every connection as fast as the connection takes them; the client counts them.
/// </summary>
internal sealed class SourceLoad : ILoad
{
    private readonly LoadSettings _settings;
    private readonly LoadErrors _errors;
    private readonly TimeProvider _time;
    private readonly SourceLane[] _lanes;
    private readonly LoadConnections _connections;

    public SourceLoad(LoadSettings settings, string server, LoadErrors errors, ConnectionWatch watch, TimeProvider time)
    {
        _settings = settings;
        _errors = errors;
        _time = time;
        int piece = OneWayBounds.StreamPiece(settings.Size, settings.Connections, settings.InFlight);
        _lanes = new SourceLane[settings.Connections];
        for (int i = 0; i < _lanes.Length; i++)
        {
            _lanes[i] = new SourceLane(settings.Size, settings.InFlight, piece, errors);
        }

        _connections = new LoadConnections(
            settings, server, settings.Size, watch, (number, session) => _lanes[number].OnConnected(session), static _ =>
                SourceLane.Handlers());
    }

    public long Messages => _lanes.Sum(static lane => lane.Received);

    public LatencySnapshot? RoundTrips => null;

    public int Connected => _connections.Connected;

    public async Task ConnectAsync(CancellationToken cancellationToken)
    {
        await _connections.ConnectAsync(cancellationToken).ConfigureAwait(false);
        _connections.RequireBody(_settings.Size);
    }

    public async Task<LoadMeasurement> RunAsync(Action warmedUp, CancellationToken interrupted)
    {
        foreach (SourceLane lane in _lanes)
        {
            lane.Start();
        }

        await LoadTimer.WaitAsync(_settings.WarmUp, _time, interrupted).ConfigureAwait(false);
        _errors.EndWarmUp();
        long before = Messages;
        DateTimeOffset started = _time.GetUtcNow();
        long from = _time.GetTimestamp();
        var timeline = new ThroughputTimeline(before, () => Messages, () => _errors.Total, _time);
        warmedUp();
        await LoadTimer.WaitAsync(_settings.Duration, _time, interrupted).ConfigureAwait(false);
        if (_connections.Disconnected().Count is var disconnected and not 0)
        {
            _errors.Add(LoadErrorKind.Disconnected, LoadConnections.NoSession, disconnected);
        }

        await DrainAsync().ConfigureAwait(false);

        // The ends of the streams end the measurement: the messages until then, divided by the time until then.
        var measured = new LoadMeasurement(started, _time.GetElapsedTime(from), Messages - before, null)
        {
            Reconnects = _connections.Lost,
            Throughput = timeline.End(),
            Interruptions = timeline.Interruptions,
            InterruptedTime = timeline.InterruptedTime,
        };
        foreach (SourceLane lane in _lanes)
        {
            lane.Verify();
        }

        return measured;
    }

    public ValueTask DisposeAsync() => _connections.DisposeAsync();

    private async Task DrainAsync()
    {
        if (await Lanes.DrainAsync(_lanes, _settings.DrainTimeout, _time).ConfigureAwait(false) is var unanswered and not 0)
        {
            _errors.Add(
                LoadErrorKind.Unanswered,
                $"Streams did not end within {_settings.DrainTimeout.TotalSeconds:0.###} s after the end of the run.", unanswered);
            _connections.Abort();
        }
    }
}
