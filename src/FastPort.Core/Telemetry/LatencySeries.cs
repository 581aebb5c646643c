
namespace FastPort.Telemetry;

/// <summary>
/// Records the latencies of one message type, one session or one operation. Get the series once from <see cref="LatencyStats"/> and keep
/// it. Thread-safe; recording allocates nothing after the warm-up.
/// </summary>
public sealed class LatencySeries
{
    private readonly LatencyStats _stats;
    private readonly IReadOnlyList<LatencyMetric> _metrics;
    private readonly HistogramStripes _histograms;
    private readonly RecentSamples? _samples;
    private long _errors;

    // Guards the fields below: the end of a session and a report of all sessions can run at the same time.
    private readonly Lock _gate = new();
    private long _errorsAtCut;
    private long _errorsAtStart;
    private long _intervalStart;
    private long _lifetimeStart;

    /// <param name="stats">The statistics of the series.</param>
    /// <param name="scope">
    /// A message type, a session or an operation. There can be many sessions, each recorded by one thread at a time: they have coarse
    /// histograms and one stripe.
    /// </param>
    /// <param name="key">The message type, the session id, or 0 for an operation.</param>
    /// <param name="name">The name shown.</param>
    /// <param name="samples">Keeps the individual samples; null for none.</param>
    internal LatencySeries(LatencyStats stats, LatencyScope scope, ulong key, string name, RecentSamples? samples)
    {
        _stats = stats;
        Scope = scope;
        Key = key;
        Name = name;
        _samples = samples is { Capacity: > 0 } ? samples : null;
        _metrics = scope == LatencyScope.Operation ? LatencyMetric.Operation : LatencyMetric.Of(stats.Role);
        _histograms = scope == LatencyScope.Session
            ? new HistogramStripes(_metrics.Count, stripes: 1, LatencyBuckets.Coarse)
            : new HistogramStripes(_metrics.Count, stripes: 0);
        _lifetimeStart = _intervalStart = stats.Time.GetTimestamp();
    }

    /// <summary>The scope of the series: a message type, a session or an operation.</summary>
    internal LatencyScope Scope { get; }

    /// <summary>The message type, or the session id; 0 for an operation.</summary>
    public ulong Key { get; }

    /// <summary>The name shown: the message type's name, its number if it has no name, the session id, or the operation's name.</summary>
    public string Name { get; }

    /// <summary>Records a reply with a timing block; the network time is the round trip minus the server time.</summary>
    /// <param name="roundTrip">
    /// From the request passed to the transport until the reply is decoded, in nanoseconds of the client's clock.
    /// </param>
    /// <param name="serverTime"><c>sent - received</c> of the reply's timing block, in nanoseconds of the server's clock.</param>
    /// <param name="timestamp">
    /// The moment of the reply as a timestamp of <see cref="LatencyStats.Time"/>. Defaults to 0: the clock is read if necessary.
    /// </param>
    /// <exception cref="InvalidOperationException">The role is not <see cref="LatencyRole.Client"/>.</exception>
    public void RecordRoundTrip(long roundTrip, long serverTime, long timestamp = 0)
    {
        Require(LatencyMetric.Client);
        Record(roundTrip, serverTime, roundTrip - serverTime, timestamp);
    }

    /// <summary>Records a reply without a timing block: only the round trip.</summary>
    /// <param name="roundTrip">
    /// From the request passed to the transport until the reply is decoded, in nanoseconds of the client's clock.
    /// </param>
    /// <exception cref="InvalidOperationException">The role is not <see cref="LatencyRole.Client"/>.</exception>
    public void RecordRoundTrip(long roundTrip)
    {
        Require(LatencyMetric.Client);
        RecordWhole(roundTrip);
        _samples?.Record(
            new LatencySample(_stats.Time.GetTimestamp(), (ushort)Key, roundTrip, LatencySample.NotMeasured, LatencySample.NotMeasured));
    }

    /// <summary>Records a handled message, in nanoseconds of the server's clock.</summary>
    /// <param name="decodeToSend">
    /// From the last byte of the request in memory until the reply is passed to the transport; for a one-way message until its handler has
    /// ended.
    /// </param>
    /// <param name="queue">From the last byte of the request in memory until the handler starts.</param>
    /// <param name="handler">From the handler's start to its end.</param>
    /// <param name="timestamp">
    /// The moment of the end as a timestamp of <see cref="LatencyStats.Time"/>. Defaults to 0: the clock is read if necessary.
    /// </param>
    /// <exception cref="InvalidOperationException">The role is not <see cref="LatencyRole.Server"/>.</exception>
    public void RecordHandled(long decodeToSend, long queue, long handler, long timestamp = 0)
    {
        Require(LatencyMetric.Server);
        Record(decodeToSend, queue, handler, timestamp);
    }

    /// <summary>Records messages that were received together and handled one after the other, with one access to the histograms.</summary>
    /// <param name="received">When the messages were in memory. All times are readings of the monotonic clock, in nanoseconds.</param>
    /// <param name="began">When the first handler began.</param>
    /// <param name="ends">When each handler ended, which is when the next one began.</param>
    internal void RecordHandled(long received, long began, ReadOnlySpan<long> ends)
    {
        Require(LatencyMetric.Server);
        var stripe = _histograms.Enter();
        try
        {
            var active = stripe.Active;
            active[0].RecordSince(received, ends);
            active[1].Record(began - received);
            active[1].RecordSince(received, ends[..^1]);
            active[2].RecordSteps(began, ends);
        }
        finally
        {
            stripe.Exit();
        }

        _samples?.RecordHandled((ushort)Key, received, began, ends);
    }

    /// <summary>Records a call of an operation, whether it succeeded or not.</summary>
    /// <param name="duration">From the call until its end, in nanoseconds.</param>
    /// <exception cref="InvalidOperationException">The series is not one of <see cref="LatencyStats.ForOperation"/>.</exception>
    public void RecordCall(long duration)
    {
        Require(LatencyMetric.Operation);
        RecordWhole(duration);
    }

    /// <summary>Counts a failed message or call. Its latency, if any, is recorded separately.</summary>
    public void RecordError() => Interlocked.Increment(ref _errors);

    /// <param name="cut">Whether a new interval begins.</param>
    /// <param name="now">The moment of the report.</param>
    /// <param name="since">
    /// Start of interval and lifetime. A type uses the start of the statistics, so that the rates of all types add up. Defaults to the
    /// start of the series.
    /// </param>
    internal LatencyScopeReport Report(bool cut, long now, (long Interval, long Lifetime)? since = null)
    {
        lock (_gate)
        {
            return ReportUnderGate(cut, now, since);
        }
    }

    internal void Restart()
    {
        lock (_gate)
        {
            _histograms.Reset();
            _lifetimeStart = _intervalStart = _stats.Time.GetTimestamp();
            _errorsAtStart = _errorsAtCut = Interlocked.Read(ref _errors);
        }
    }

    private LatencyScopeReport ReportUnderGate(bool cut, long now, (long Interval, long Lifetime)? since)
    {
        // A series may have begun after the measured time ended: it has no length then.
        var (intervalStart, lifetimeStart) = since ?? (_intervalStart, _lifetimeStart);
        var snapshots = cut ? _histograms.Cut() : _histograms.Read();
        var errors = Interlocked.Read(ref _errors);
        var reports = new LatencyMetricReport[snapshots.Length];
        for (var i = 0; i < reports.Length; i++)
        {
            reports[i] = new LatencyMetricReport(_metrics[i], snapshots[i].Interval, snapshots[i].Lifetime);
        }

        var report = new LatencyScopeReport
        {
            Scope = Scope,
            Key = Key,
            Name = Name,
            Interval = _stats.Time.GetElapsedTime(intervalStart, Math.Max(intervalStart, now)),
            Lifetime = _stats.Time.GetElapsedTime(lifetimeStart, Math.Max(lifetimeStart, now)),
            IntervalErrors = errors - _errorsAtCut,
            LifetimeErrors = errors - _errorsAtStart,
            Metrics = reports,
        };
        if (cut)
        {
            _intervalStart = now;
            _errorsAtCut = errors;
        }

        return report;
    }

    private void RecordWhole(long whole)
    {
        var stripe = _histograms.Enter();
        try
        {
            stripe.Active[0].Record(whole);
        }
        finally
        {
            stripe.Exit();
        }
    }

    private void Record(long whole, long firstPart, long secondPart, long timestamp)
    {
        var stripe = _histograms.Enter();
        try
        {
            var active = stripe.Active;
            active[0].Record(whole);
            active[1].Record(firstPart);
            active[2].Record(secondPart);
        }
        finally
        {
            stripe.Exit();
        }

        if (_samples is not null)
        {
            var at = timestamp == 0 ? _stats.Time.GetTimestamp() : timestamp;
            _samples.Record(new LatencySample(at, (ushort)Key, whole, firstPart, secondPart));
        }
    }

    private void Require(IReadOnlyList<LatencyMetric> metrics)
    {
        if (!ReferenceEquals(_metrics, metrics))
        {
            throw new InvalidOperationException(
                $"The series '{Name}' of this {LatencyText.RoleName(_stats.Role)} measures {Names(_metrics)}; {Names(metrics)} cannot be "
                + "recorded in it. Record round trips in a client, handled messages in a server, and calls in operations.");
        }
    }

    private static string Names(IReadOnlyList<LatencyMetric> metrics) => string.Join(", ", metrics.Select(static metric => metric.Name));
}
