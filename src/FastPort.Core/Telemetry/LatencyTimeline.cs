
namespace FastPort.Telemetry;

/// <summary>A stretch of the measured time. Immutable.</summary>
/// <param name="Start">From the beginning of the measured time.</param>
/// <param name="Length">Its length.</param>
/// <param name="Errors">Failed messages.</param>
/// <param name="Latencies">The first latency of all messages, in coarse buckets; their count is the number of messages.</param>
internal sealed record LatencyColumn(TimeSpan Start, TimeSpan Length, long Errors, LatencySnapshot Latencies);

/// <summary>
/// The latencies over the measured time, in at most <see cref="MaxColumns"/> columns: when these are full, neighbors are merged, and
/// columns are twice as long from then on. Not thread-safe: <see cref="LatencyStats"/> guards it.
/// </summary>
/// <remarks>Memory: a column has about 4 KB, so 2.4 MB when full.</remarks>
internal sealed class LatencyTimeline
{
    /// <summary>Maximum number of columns. Even, because full columns are merged in pairs.</summary>
    internal const int MaxColumns = 600;

    private readonly LatencyHistogram _scratch = new(LatencyBuckets.Coarse);
    private readonly List<LatencyColumn> _columns = [];
    private LatencySnapshot _last = LatencySnapshot.Empty;
    private long _lastErrors;
    private TimeSpan _end;

    // Samples of a whole column, and those that the last column has.
    private int _samplesPerColumn = 1;
    private int _samples;

    /// <summary>Removes all columns: the measured time begins.</summary>
    internal void Clear()
    {
        _columns.Clear();
        _last = LatencySnapshot.Empty;
        _lastErrors = 0;
        _end = TimeSpan.Zero;
        _samplesPerColumn = 1;
        _samples = 0;
    }

    /// <summary>Adds the time since the last sample.</summary>
    /// <param name="now">Since the beginning of the measured time.</param>
    /// <param name="latencies">The first latency of all messages until now.</param>
    /// <param name="errors">The errors until now.</param>
    internal void Sample(TimeSpan now, LatencySnapshot latencies, long errors)
    {
        LatencyColumn since = Since(now, latencies, errors);
        if (FirstIsShort(since))
        {
            _columns[0] = Merge(_columns[0], since);
        }
        else if (_columns.Count > 0 && _samples < _samplesPerColumn)
        {
            _columns[^1] = Merge(_columns[^1], since);
            _samples++;
        }
        else
        {
            HalveIfFull();
            _columns.Add(since);
            _samples = 1;
        }

        (_last, _lastErrors, _end) = (latencies, errors, now);
    }

    /// <summary>The columns with the time since the last sample: a separate column, or if it is short a part of the last one.</summary>
    /// <inheritdoc cref="Sample"/>
    internal IReadOnlyList<LatencyColumn> Read(TimeSpan now, LatencySnapshot latencies, long errors)
    {
        LatencyColumn since = Since(now, latencies, errors);
        return _columns.Count > 0 && (since.Length < _columns[^1].Length / 4 || FirstIsShort(since))
            ? [.. _columns[..^1], Merge(_columns[^1], since)]
            : [.. _columns, since];
    }

    // The pace of samples does not restart with the measured time, so the first one may come at once. It is not a separate column.
    private bool FirstIsShort(LatencyColumn since) => _columns is [var first] && first.Length < since.Length / 4;

    private LatencyColumn Since(TimeSpan now, LatencySnapshot latencies, long errors)
    {
        _scratch.Reset();
        _scratch.Merge(latencies.Since(_last));
        return new LatencyColumn(_end, now - _end, errors - _lastErrors, _scratch.Snapshot());
    }

    private void HalveIfFull()
    {
        if (_columns.Count < MaxColumns)
        {
            return;
        }

        for (var i = 0; i < MaxColumns / 2; i++)
        {
            _columns[i] = Merge(_columns[2 * i], _columns[(2 * i) + 1]);
        }

        _columns.RemoveRange(MaxColumns / 2, MaxColumns / 2);
        _samplesPerColumn *= 2;
    }

    private LatencyColumn Merge(LatencyColumn a, LatencyColumn b)
    {
        _scratch.Reset();
        _scratch.Merge(a.Latencies);
        _scratch.Merge(b.Latencies);
        return new LatencyColumn(a.Start, a.Length + b.Length, a.Errors + b.Errors, _scratch.Snapshot());
    }
}
