using FastPort.Telemetry;
using Microsoft.Extensions.Logging;

namespace FastPort.Dashboard.Live;

/// <summary>Reads the latencies and counts of a server once a second. Used by one thread at a time.</summary>
internal sealed class LatencySampler(LatencyStats stats, ILogger<DashboardServer> logger)
{
    // Message types are few, but a program may have thousands: charts and history have the first 24, and the total.
    private const int MaxSeries = 25;

    // Snapshots that begin a window are this far apart. Each holds some KB.
    private static readonly TimeSpan Step = TimeSpan.FromSeconds(10);

    private readonly Dictionary<string, LatencyWindow> _windows = new(StringComparer.Ordinal);
    private readonly Dictionary<string, LatencyWindow> _operations = new(StringComparer.Ordinal);
    private readonly Dictionary<(string, string), long> _counts = [];
    private readonly List<string> _series = [];
    private TimeSpan _stepped;
    private bool _countsFail;

    /// <summary>Names of the series, all messages first, in the order in which they first had messages.</summary>
    public IReadOnlyList<string> Series => _series;

    /// <summary>Reads all message types. Returns the tables' rows and the points of the charts.</summary>
    public (IReadOnlyList<LiveLatency> Types, IReadOnlyList<LiveLatency> Operations, double[]?[] Points) Read(
        TimeSpan now, TimeSpan elapsed)
    {
        LatencyReport report = stats.ReadTotals();
        bool isStart = now - _stepped >= Step;
        _stepped = isStart ? now : _stepped;
        TimeSpan[] starts = _windows.TryGetValue(report.All.Name, out LatencyWindow? all) ? [.. all.Starts] : [now - elapsed];
        var points = new List<double[]?>();
        List<LiveLatency> types = [];
        foreach (LatencyScopeReport scope in (IEnumerable<LatencyScopeReport>)[report.All, .. report.Types])
        {
            if (_windows.Count == MaxSeries && !_windows.ContainsKey(scope.Name))
            {
                continue;
            }

            types.Add(Read(_windows, scope, out double[]? point));
            int index = _series.IndexOf(scope.Name);
            if (index < 0)
            {
                index = _series.Count;
                _series.Add(scope.Name);
            }

            while (points.Count <= index)
            {
                points.Add(null);
            }

            points[index] = point;
        }

        return (types, [.. report.Operations.Take(200).Select(one => Read(_operations, one, out _))], [.. points]);

        LiveLatency Read(Dictionary<string, LatencyWindow> windows, LatencyScopeReport scope, out double[]? point)
        {
            if (!windows.TryGetValue(scope.Name, out LatencyWindow? window))
            {
                windows[scope.Name] = window = new LatencyWindow(starts);
            }

            point = window.Add(now, scope.Metrics[0].Lifetime, isStart) is { } second && elapsed > TimeSpan.Zero
                ? [
                    Math.Round(second.Count / elapsed.TotalSeconds, 1),
                    LatencyWindow.Microseconds(second.P50),
                    LatencyWindow.Microseconds(second.P99),
                    LatencyWindow.Microseconds(second.Max),
                ]
                : null;
            return window.Describe(now, scope);
        }
    }

    /// <summary>Reads the counts of the application; none where one of its functions throws.</summary>
    public IReadOnlyList<LiveCount> ReadCounts(TimeSpan elapsed)
    {
        IReadOnlyList<ApplicationCount> now;
        try
        {
            now = stats.ReadCounts();
            _countsFail = false;
        }
        catch (Exception e)
        {
            if (!_countsFail)
            {
                _countsFail = true;
                DashboardLog.CountsFailed(logger, e);
            }

            // The next readable figures have no rates: their period is unknown.
            _counts.Clear();
            return [];
        }

        List<LiveCount> counts = [];
        foreach (ApplicationCount count in now.Take(2000))
        {
            if (count.Per is { } per)
            {
                double? ratio = per > 0 ? Math.Round((double)count.Count / per, 4) : null;
                counts.Add(new LiveCount(count.Owner, count.Name, count.Count, Rate: null, ratio));
                continue;
            }

            double? rate = _counts.TryGetValue((count.Owner, count.Name), out long before) && elapsed > TimeSpan.Zero
                ? Math.Round((count.Count - before) / elapsed.TotalSeconds, 1) : null;
            _counts[(count.Owner, count.Name)] = count.Count;
            counts.Add(new LiveCount(count.Owner, count.Name, count.Count, rate, null));
        }

        return counts;
    }
}
