using FastPort.Telemetry.Histograms;
using FastPort.Telemetry.Reports;

namespace FastPort.Telemetry;

/// <summary>
/// The handle through which the latencies of one message type or one session are recorded. Get it once from <see cref="LatencyStats"/>
/// and keep it. Thread-safe; recording allocates nothing once warm.
/// </summary>
public sealed class LatencySeries
{
    private readonly LatencyStats _stats;
    private readonly HistogramStripes _histograms;
    private readonly RecentSamples? _samples;
    private long _errors;

    // Guards what follows: a session's end is reported beside the report of all.
    private readonly Lock _gate = new();
    private long _errorsAtCut;
    private long _errorsAtStart;
    private long _intervalStart;
    private long _lifetimeStart;

    /// <param name="stats">What it belongs to.</param>
    /// <param name="scope">
    /// A message type or a session. Sessions may be many, and one thread at a time records each: they are kept coarser and in one stripe.
    /// </param>
    /// <param name="key">The message type, or the session id.</param>
    /// <param name="name">The name shown.</param>
    /// <param name="samples">Where samples are kept one by one; null for nowhere.</param>
    internal LatencySeries(LatencyStats stats, LatencyScope scope, ulong key, string name, RecentSamples? samples)
    {
        _stats = stats;
        Scope = scope;
        Key = key;
        Name = name;
        _samples = samples is { Capacity: > 0 } ? samples : null;
        var width = LatencyMetric.Of(stats.Role).Count;
        _histograms = scope == LatencyScope.Session
            ? new HistogramStripes(width, stripes: 1, LatencyBuckets.Coarse)
            : new HistogramStripes(width, stripes: 0);
        _lifetimeStart = _intervalStart = stats.Time.GetTimestamp();
    }

    /// <summary>What the series belongs to: a message type or a session.</summary>
    public LatencyScope Scope { get; }

    /// <summary>The message type, or the session id.</summary>
    public ulong Key { get; }

    /// <summary>The name shown: the message type's name where one was given, else its number, or the session id.</summary>
    public string Name { get; }

    /// <summary>Records a reply that carried a timing block; the network time is the round trip less the server time.</summary>
    /// <param name="roundTrip">Request handed to the transport until reply decoded, nanoseconds of the client's clock.</param>
    /// <param name="serverTime"><c>sent - received</c> of the reply's timing block, nanoseconds of the server's clock.</param>
    /// <param name="timestamp">
    /// The moment of the reply as a timestamp of <see cref="LatencyStats.Time"/>. Defaults to 0: read when needed.
    /// </param>
    /// <exception cref="InvalidOperationException">The role is not <see cref="LatencyRole.Client"/>.</exception>
    public void RecordRoundTrip(long roundTrip, long serverTime, long timestamp = 0)
    {
        Require(LatencyRole.Client);
        Record(roundTrip, serverTime, roundTrip - serverTime, timestamp);
    }

    /// <summary>Records a reply without timing block: the round trip alone.</summary>
    /// <param name="roundTrip">Request handed to the transport until reply decoded, nanoseconds of the client's clock.</param>
    /// <exception cref="InvalidOperationException">The role is not <see cref="LatencyRole.Client"/>.</exception>
    public void RecordRoundTrip(long roundTrip)
    {
        Require(LatencyRole.Client);
        var stripe = _histograms.Enter();
        try
        {
            stripe.Active[0].Record(roundTrip);
        }
        finally
        {
            stripe.Exit();
        }

        _samples?.Record(
            new LatencySample(_stats.Time.GetTimestamp(), (ushort)Key, roundTrip, LatencySample.NotMeasured, LatencySample.NotMeasured));
    }

    /// <summary>Records a handled message, in nanoseconds of the server's clock.</summary>
    /// <param name="decodeToSend">
    /// Last byte of the request in memory until the reply is handed to the transport; of a one-way message: until its handler ended.
    /// </param>
    /// <param name="queue">Last byte of the request in memory until the handler starts.</param>
    /// <param name="handler">Handler's start until its end.</param>
    /// <param name="timestamp">
    /// The moment of the end as a timestamp of <see cref="LatencyStats.Time"/>. Defaults to 0: read when needed.
    /// </param>
    /// <exception cref="InvalidOperationException">The role is not <see cref="LatencyRole.Server"/>.</exception>
    public void RecordHandled(long decodeToSend, long queue, long handler, long timestamp = 0)
    {
        Require(LatencyRole.Server);
        if (_stats.Meter is { RecordsDurations: true } meter && Scope == LatencyScope.MessageType)
        {
            meter.RecordHandled(Name, decodeToSend, queue, handler);
        }

        Record(decodeToSend, queue, handler, timestamp);
    }

    /// <summary>Records messages that were received together and handled one after the other, with one visit to the histograms.</summary>
    /// <param name="received">When they were in memory. As all of these a reading of the monotonic clock, in nanoseconds.</param>
    /// <param name="began">When the first handler began.</param>
    /// <param name="ends">When each handler ended, which is when the next began.</param>
    internal void RecordHandled(long received, long began, ReadOnlySpan<long> ends)
    {
        Require(LatencyRole.Server);
        if (_stats.Meter is { RecordsDurations: true } meter && Scope == LatencyScope.MessageType)
        {
            var start = began;
            foreach (var end in ends)
            {
                meter.RecordHandled(Name, end - received, start - received, end - start);
                start = end;
            }
        }

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

    /// <summary>Counts a failed message. Its latency, if there is one, is recorded apart.</summary>
    public void RecordError() => Interlocked.Increment(ref _errors);

    /// <param name="cut">Whether a new interval begins.</param>
    /// <param name="now">The moment of the report.</param>
    /// <param name="since">
    /// Start of interval and lifetime, of the whole stats for a type: its rates then add up. Defaults to the series' own.
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
        var (intervalStart, lifetimeStart) = since ?? (_intervalStart, _lifetimeStart);
        var snapshots = cut ? _histograms.Cut() : _histograms.Read();
        var errors = Interlocked.Read(ref _errors);
        var metrics = LatencyMetric.Of(_stats.Role);
        var reports = new LatencyMetricReport[snapshots.Length];
        for (var i = 0; i < reports.Length; i++)
        {
            reports[i] = new LatencyMetricReport(metrics[i], snapshots[i].Interval, snapshots[i].Lifetime);
        }

        var report = new LatencyScopeReport
        {
            Scope = Scope,
            Key = Key,
            Name = Name,
            Interval = _stats.Time.GetElapsedTime(intervalStart, now),
            Lifetime = _stats.Time.GetElapsedTime(lifetimeStart, now),
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

    private void Require(LatencyRole role)
    {
        if (_stats.Role != role)
        {
            throw new InvalidOperationException(
                $"These latencies are measured in the role {role}; this LatencyStats has the role {_stats.Role}.");
        }
    }
}
