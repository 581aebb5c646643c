using FastPort.Telemetry;

namespace FastPort.Dashboard.Live;

/// <summary>
/// The latencies of one message type or operation in the last second and the last minute, from lifetime snapshots: intervals are cut by the
/// latency report alone. Used by one thread at a time.
/// </summary>
internal sealed class LatencyWindow
{
    private static readonly TimeSpan Length = TimeSpan.FromSeconds(60);

    private readonly Queue<(TimeSpan At, LatencySnapshot Snapshot)> _starts = new();
    private LatencySnapshot _last = LatencySnapshot.Empty;

    /// <param name="starts">
    /// When the window begins, and may begin later: like that of all messages, so that the rates of their types add up.
    /// </param>
    public LatencyWindow(IEnumerable<TimeSpan> starts)
    {
        foreach (TimeSpan start in starts)
        {
            _starts.Enqueue((start, LatencySnapshot.Empty));
        }
    }

    /// <summary>When the window begins, and when later ones may.</summary>
    public IEnumerable<TimeSpan> Starts => _starts.Select(static start => start.At);

    /// <summary>Adds the current figures. Returns those since the previous call; null if there are none.</summary>
    /// <param name="now">The time since the sampler's start.</param>
    /// <param name="lifetime">The current lifetime snapshot.</param>
    /// <param name="isStart">Whether a window may begin here: every ten seconds, so a minute is one of 60 to 70 seconds.</param>
    public LatencySnapshot? Add(TimeSpan now, LatencySnapshot lifetime, bool isStart)
    {
        if (isStart)
        {
            _starts.Enqueue((now, lifetime));
            while (_starts.Count > 1 && now - _starts.ElementAt(1).At >= Length)
            {
                _starts.Dequeue();
            }
        }

        LatencySnapshot? second = lifetime.Count == _last.Count ? null : lifetime.Since(_last);
        _last = lifetime;
        return second;
    }

    /// <summary>The figures of a series for the page.</summary>
    public LiveLatency Describe(TimeSpan now, LatencyScopeReport report)
    {
        (TimeSpan at, LatencySnapshot start) = _starts.Peek();
        return new LiveLatency(
            report.Name,
            report.LifetimeErrors,
            Quantiles(_last.Count == start.Count ? LatencySnapshot.Empty : _last.Since(start), (now - at).TotalSeconds),
            Quantiles(_last, report.Lifetime.TotalSeconds));
    }

    /// <summary>Nanoseconds as microseconds with three decimals, which is what the histograms distinguish.</summary>
    public static double Microseconds(long nanoseconds) => nanoseconds / 1000.0;

    private static LiveQuantiles Quantiles(LatencySnapshot snapshot, double seconds) => new(
        snapshot.Count,
        seconds > 0 ? Math.Round(snapshot.Count / seconds, 1) : 0,
        Microseconds(snapshot.P50),
        Microseconds(snapshot.P90),
        Microseconds(snapshot.P99),
        Microseconds(snapshot.P999),
        Microseconds(snapshot.Max));
}
