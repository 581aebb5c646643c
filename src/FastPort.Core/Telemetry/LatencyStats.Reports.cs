
namespace FastPort.Telemetry;

/// <content>How reports are created.</content>
public sealed partial class LatencyStats
{
    private LatencyReport ReportWithSessions(bool cut)
    {
        lock (_sessionReaders)
        {
            // Before anything is cut: the application's functions may throw.
            IReadOnlyList<CountReport> counts;
            lock (_readers)
            {
                counts = ReportedCount.ReportAll(_counts, cut);
            }

            var sessions = Reports(_sessions.Values, cut, Now, since: null);
            long leftOut = _ended.AddTo(sessions, cut);
            sessions.Sort(
                static (a, b) => b.LifetimeCount.CompareTo(a.LifetimeCount) is var order and not 0 ? order : a.Key.CompareTo(b.Key));
            LatencyRecentReport? recent = RecentReport();
            lock (_readers)
            {
                LatencyReport report = Report(cut, counts, sessions, leftOut, recent);
                report.Timeline = _timeline.Read(report.All.Lifetime, report.All.Metrics[0].Lifetime, report.All.LifetimeErrors);
                return report;
            }
        }
    }

    // The caller holds _readers.
    private LatencyReport Report(
        bool cut,
        IReadOnlyList<CountReport> counts,
        IReadOnlyList<LatencyScopeReport> sessions,
        long sessionsLeftOut = 0,
        LatencyRecentReport? recent = null)
    {
        var now = Now;
        var types = Reports(_types.Values, cut, now, (_intervalStart, _lifetimeStart));
        types.Sort(static (a, b) => a.Key.CompareTo(b.Key));
        var operations = Reports(_operations.Values, cut, now, (_intervalStart, _lifetimeStart));
        operations.Sort(static (a, b) => string.CompareOrdinal(a.Name, b.Name));
        DateTimeOffset taken = Time.GetUtcNow();
        return new LatencyReport
        {
            Role = Role,
            Started = Started,
            MeasuringSince = _measuringSince,
            Taken = taken,
            MeasuredUntil = taken - Time.GetElapsedTime(now, Time.GetTimestamp()),
            ProcessId = Environment.ProcessId,
            All = OverAll(types, cut, now),
            Types = types,
            Operations = operations,
            Sessions = sessions,
            SessionsLeftOut = sessionsLeftOut,
            Counts = counts,
            Recent = recent,
        };
    }

    private static void Restart(ICollection<LatencySeries> series)
    {
        foreach (LatencySeries one in series)
        {
            one.Restart();
        }
    }

    private static bool IsWorthTelling(LatencyScopeReport report) => report.LifetimeCount > 0 || report.LifetimeErrors > 0;

    private static List<LatencyScopeReport> Reports(
        ICollection<LatencySeries> series, bool cut, long now, (long Interval, long Lifetime)? since)
    {
        var reports = new List<LatencyScopeReport>(series.Count);
        foreach (var one in series)
        {
            var report = one.Report(cut, now, since);
            if (IsWorthTelling(report))
            {
                reports.Add(report);
            }
        }

        return reports;
    }

    private LatencyScopeReport OverAll(List<LatencyScopeReport> types, bool cut, long now)
    {
        var errors = Interlocked.Read(ref _otherErrors);
        var intervalErrors = errors - _otherErrorsAtCut;
        var lifetimeErrors = errors - _otherErrorsAtStart;
        foreach (var type in types)
        {
            intervalErrors += type.IntervalErrors;
            lifetimeErrors += type.LifetimeErrors;
        }

        var metrics = LatencyMetric.Of(Role);
        var merged = new LatencyMetricReport[metrics.Count];
        for (var i = 0; i < merged.Length; i++)
        {
            merged[i] = new LatencyMetricReport(
                metrics[i],
                Merge(types.ConvertAll(type => type.Metrics[i].Interval)),
                Merge(types.ConvertAll(type => type.Metrics[i].Lifetime)));
        }

        var report = new LatencyScopeReport
        {
            Scope = LatencyScope.All,
            Key = 0,
            Name = NameOfAll,
            Interval = Time.GetElapsedTime(_intervalStart, now),
            Lifetime = Time.GetElapsedTime(_lifetimeStart, now),
            IntervalErrors = intervalErrors,
            LifetimeErrors = lifetimeErrors,
            Metrics = merged,
        };
        if (cut)
        {
            _intervalStart = now;
            _otherErrorsAtCut = errors;
        }

        return report;
    }

    private LatencySnapshot Merge(List<LatencySnapshot> snapshots)
    {
        if (snapshots.Count == 1)
        {
            return snapshots[0];
        }

        _merged.Reset();
        foreach (var snapshot in snapshots)
        {
            _merged.Merge(snapshot);
        }

        return _merged.Snapshot();
    }

    private LatencyRecentReport? RecentReport()
    {
        var samples = RecentSamples.ToArray();
        if (samples.Length == 0)
        {
            return null;
        }

        var withParts = Array.FindAll(samples, static sample => sample.HasParts);
        return new LatencyRecentReport
        {
            Count = samples.Length,
            Window = Time.GetElapsedTime(samples[0].Timestamp, samples[^1].Timestamp),
            Metrics =
            [
                Exact(samples, static sample => sample.Whole),
                Exact(withParts, static sample => sample.FirstPart),
                Exact(withParts, static sample => sample.SecondPart),
            ],
        };
    }

    private static LatencySummary Exact(LatencySample[] samples, Converter<LatencySample, long> part)
    {
        var values = Array.ConvertAll(samples, part);
        Array.Sort(values);
        return LatencySummary.FromSorted(values);
    }
}
