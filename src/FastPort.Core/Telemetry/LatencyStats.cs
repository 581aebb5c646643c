using System.Collections.Concurrent;
using System.Globalization;

namespace FastPort.Telemetry;

/// <summary>
/// The latencies of one client or one server: over all messages, per message type, and per measured session; and the latencies of
/// operations and the counts that its application adds. All figures cover an interval and the lifetime. Thread-safe; it can be read while
/// it records.
/// </summary>
/// <remarks>
/// A message is recorded once, with its type; a read merges the types into the figures over all, so these cost nothing per message. Memory:
/// see <see cref="StripedLatencyHistogram"/>, three histograms per message type and per measured session, one per operation.
/// </remarks>
public sealed partial class LatencyStats
{
    private const string NameOfAll = "all";

    private readonly ConcurrentDictionary<ushort, LatencySeries> _types = new();
    private readonly ConcurrentDictionary<ulong, LatencySeries> _sessions = new();
    private readonly ConcurrentDictionary<string, LatencySeries> _operations = new(StringComparer.Ordinal);
    private readonly Func<ushort, string?>? _typeName;
    private long _otherErrors;

    // Guards _names: two types may have one name, and pages and metrics know a series by its name alone.
    private readonly Lock _naming = new();
    private readonly HashSet<string> _names = new(StringComparer.Ordinal) { NameOfAll };

    private readonly EndedSessions _ended = new();

    // Reports with sessions and restarts run one at a time, so that intervals follow one another. With many sessions that takes long:
    // readers of the totals do not wait for it. Taken before _readers.
    private readonly Lock _sessionReaders = new();

    // Guards the fields below.
    private readonly Lock _readers = new();
    private readonly LatencyHistogram _merged = new();
    private readonly List<ReportedCount> _counts = [];
    private readonly LatencyTimeline _timeline = new();
    private DateTimeOffset _measuringSince;
    private long _lifetimeStart;
    private long _intervalStart;
    private long _otherErrorsAtCut;
    private long _otherErrorsAtStart;

    // Reports end here at the latest. Written under _readers.
    private long _end = long.MaxValue;

    /// <summary>Creates the statistics; measuring begins.</summary>
    /// <param name="role">Which end this is.</param>
    /// <param name="maxSamplesInMemory">Recent samples kept individually, 0 to 10,000,000. Defaults to 0: none.</param>
    /// <param name="typeName">
    /// Returns the name of a message type, or null if it has none; called once per type. If another type already has the name, the type's
    /// number is appended. Defaults to null: no names.
    /// </param>
    /// <param name="time">The clock. Defaults to <see cref="TimeProvider.System"/>.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="maxSamplesInMemory"/> is out of range.</exception>
    public LatencyStats(LatencyRole role, int maxSamplesInMemory = 0, Func<ushort, string?>? typeName = null, TimeProvider? time = null)
    {
        Role = role;
        Time = time ?? TimeProvider.System;
        RecentSamples = new RecentSamples(maxSamplesInMemory);
        _typeName = typeName;
        Started = _measuringSince = Time.GetUtcNow();
        _lifetimeStart = _intervalStart = Time.GetTimestamp();
    }

    /// <summary>Which end this is.</summary>
    public LatencyRole Role { get; }

    /// <summary>The clock of start times, rates and sample timestamps.</summary>
    public TimeProvider Time { get; }

    /// <summary>When this object was created.</summary>
    public DateTimeOffset Started { get; }

    /// <summary>The most recent samples of all types.</summary>
    internal RecentSamples RecentSamples { get; }

    private long Now => Math.Min(Time.GetTimestamp(), Volatile.Read(ref _end));

    /// <summary>
    /// The series of a message type; always the same object for the same type. Call it only for known types: each costs memory.
    /// </summary>
    /// <param name="messageType">The message type.</param>
    public LatencySeries ForType(ushort messageType)
    {
        if (_types.TryGetValue(messageType, out LatencySeries? series))
        {
            return series;
        }

        lock (_naming)
        {
            return _types.GetOrAdd(
                messageType,
                static (type, stats) => new LatencySeries(
                    stats, LatencyScope.MessageType, type, stats.UniqueNameOf(type), stats.RecentSamples),
                this);
        }
    }

    /// <summary>
    /// The series of a session, in addition to the series of the message types; only the latter count in the figures over all. End it with
    /// <see cref="EndSession"/>.
    /// </summary>
    /// <param name="sessionId">The session id.</param>
    public LatencySeries ForSession(ulong sessionId) =>
        _sessions.GetOrAdd(
            sessionId,
            static (id, stats) => new LatencySeries(
                stats, LatencyScope.Session, id, id.ToString(CultureInfo.InvariantCulture), samples: null),
            this);

    /// <summary>
    /// The series of an operation of the application, for example the calls of a device; always the same object for the same name. Its
    /// calls do not count in the figures over all messages.
    /// </summary>
    /// <param name="name">The name shown. Call this only for names of a fixed set: each costs memory.</param>
    public LatencySeries ForOperation(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        return _operations.GetOrAdd(
            name,
            static (name, stats) => new LatencySeries(stats, LatencyScope.Operation, key: 0, name, samples: null),
            this);
    }

    /// <summary>
    /// Adds a count of the application to the reports, or the ratio of two counts, from now on. Tables have a row for each owner and a
    /// column for each name.
    /// </summary>
    /// <param name="owner">What the count belongs to, for example a device.</param>
    /// <param name="name">Its name in files, with underscores between words. Counts with the same owner and name are added up.</param>
    /// <param name="count">
    /// Returns the count, which never decreases. Called for each report, on any thread; it does not block or throw. Kept as long as this
    /// object.
    /// </param>
    /// <param name="per">
    /// Another such function: reports then show the growth of <paramref name="count"/> divided by the growth of this count. Defaults to
    /// null: the growth of the count.
    /// </param>
    public void AddCount(string owner, string name, Func<long> count, Func<long>? per = null)
    {
        ArgumentException.ThrowIfNullOrEmpty(owner);
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(count);
        lock (_readers)
        {
            _counts.Add(new ReportedCount(owner, name, count, per));
        }
    }

    /// <summary>
    /// Removes a session's series and returns its last figures. Reports contain the session until the next interval is cut (only the last
    /// 1,000 such sessions); the figures over all and per type keep its messages.
    /// </summary>
    /// <param name="sessionId">The session id.</param>
    /// <returns>The session's figures; null if the session was not measured.</returns>
    public LatencyScopeReport? EndSession(ulong sessionId)
    {
        if (!_sessions.TryRemove(sessionId, out var series))
        {
            return null;
        }

        // A cut: a report in progress that still has the series in its list does not count these messages a second time.
        var last = series.Report(cut: true, Now);
        if (IsWorthTelling(last))
        {
            _ended.Add(last);
        }

        return last;
    }

    /// <summary>Counts an error without a known message type.</summary>
    public void RecordError() => Interlocked.Increment(ref _otherErrors);

    /// <summary>
    /// Removes everything recorded so far, for example the warm-up: the measured time begins now. <see cref="StopMeasuring"/> ends it.
    /// </summary>
    public void StartMeasuring()
    {
        lock (_sessionReaders)
        {
            Restart(_sessions.Values);
            _ended.Clear();
            lock (_readers)
            {
                // The types last, close to the clock reading from which their rates are computed.
                Restart(_operations.Values);
                Restart(_types.Values);
                _counts.ForEach(static count => count.Restart());
                RecentSamples.Clear();
                _timeline.Clear();
                _measuringSince = Time.GetUtcNow();
                Volatile.Write(ref _end, long.MaxValue);
                _lifetimeStart = _intervalStart = Time.GetTimestamp();
                _otherErrorsAtStart = _otherErrorsAtCut = Interlocked.Read(ref _otherErrors);
            }
        }
    }

    /// <summary>
    /// Ends the measured time: what is recorded from now on, for example the last replies of a load, still counts, but the times of reports
    /// and the rates computed from them end here. <see cref="StartMeasuring"/> starts over.
    /// </summary>
    public void StopMeasuring()
    {
        lock (_readers)
        {
            Volatile.Write(ref _end, Now);
        }
    }

    /// <summary>
    /// The current figures; the interval continues. For readers other than the one that cuts intervals; see
    /// <see cref="LatencySnapshot.Since"/>.
    /// </summary>
    public LatencyReport Read() => ReportWithSessions(cut: false);

    /// <summary>
    /// The current figures over all, per type and per operation, without sessions, recent samples and the application's counts: the cost
    /// does not depend on the number of sessions, and no function of the application is called. For code that reads often.
    /// </summary>
    public LatencyReport ReadTotals()
    {
        lock (_readers)
        {
            return Report(cut: false, counts: [], sessions: []);
        }
    }

    /// <summary>Adds the time since the last call to <see cref="LatencyReport.Timeline"/>. For one caller, once a second.</summary>
    internal void SampleTimeline()
    {
        lock (_readers)
        {
            if (Now == _end)
            {
                return;
            }

            LatencyReport totals = Report(cut: false, counts: [], sessions: []);
            _timeline.Sample(totals.All.Lifetime, totals.All.Metrics[0].Lifetime, totals.All.LifetimeErrors);
        }
    }

    /// <summary>The current counts of the application, in the order in which they were added.</summary>
    public IReadOnlyList<ApplicationCount> ReadCounts()
    {
        lock (_readers)
        {
            return
            [
                .. ReportedCount.ReportAll(_counts, cut: false).Select(static count =>
                    new ApplicationCount(count.Owner, count.Name, count.Lifetime.Count, count.Lifetime.Per)),
            ];
        }
    }

    /// <summary>The current figures; a new interval begins. For one reader, normally <see cref="LatencyStatsWriter"/>.</summary>
    internal LatencyReport CutInterval() => ReportWithSessions(cut: true);

    // Called under _naming.
    private string UniqueNameOf(ushort type)
    {
        string number = string.Create(CultureInfo.InvariantCulture, $"0x{type:X4}");
        string name = _typeName?.Invoke(type) is { Length: > 0 } given ? given : number;
        while (!_names.Add(name))
        {
            name = $"{name} ({number})";
        }

        return name;
    }
}
