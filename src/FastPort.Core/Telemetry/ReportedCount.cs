
namespace FastPort.Telemetry;

/// <summary>A count of the application, or the ratio of two, as <see cref="LatencyStats.AddCount"/> describes them.</summary>
/// <remarks>The reports of the statistics are made one at a time: no two threads use an object at the same time.</remarks>
internal sealed class ReportedCount
{
    private readonly string _owner;
    private readonly string _name;
    private readonly Func<long> _count;
    private readonly Func<long>? _per;
    private CountIncrease _atCut;
    private CountIncrease _atStart;

    public ReportedCount(string owner, string name, Func<long> count, Func<long>? per)
    {
        _owner = owner;
        _name = name;
        _count = count;
        _per = per;
        Restart();
    }

    /// <summary>The counts of all, in the order in which they were added; those with the same owner and name as one.</summary>
    public static IReadOnlyList<CountReport> ReportAll(List<ReportedCount> counts, bool cut)
    {
        // All are read before any interval is cut: if one throws, the intervals of all continue.
        List<CountIncrease> now = counts.ConvertAll(static count => count.Read());
        return
        [
            .. counts.Select((count, i) => count.Report(now[i], cut)).GroupBy(static report => (report.Owner, report.Name)).Select(
                static same =>
                    same.Aggregate(static (a, b) => a with { Interval = a.Interval + b.Interval, Lifetime = a.Lifetime + b.Lifetime })),
        ];
    }

    /// <summary>Counts from now on.</summary>
    public void Restart() => _atStart = _atCut = Read();

    private CountReport Report(CountIncrease now, bool cut)
    {
        var report = new CountReport(_owner, _name, now - _atCut, now - _atStart);
        _atCut = cut ? now : _atCut;
        return report;
    }

    private CountIncrease Read() => new(_count(), _per?.Invoke());
}
