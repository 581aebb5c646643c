
namespace FastPort.Telemetry;

/// <summary>
/// The last figures of the sessions that have ended since an interval was cut, for reports: of the last <see cref="Max"/>, and how many
/// ended before those. Thread-safe.
/// </summary>
internal sealed class EndedSessions
{
    /// <summary>Maximum number of sessions kept.</summary>
    internal const int Max = 1000;

    // For short times: sessions end on their loops, which must not wait for a report of thousands of sessions.
    private readonly Lock _gate = new();
    private readonly Queue<LatencyScopeReport> _ended = [];
    private long _leftOut;

    /// <summary>
    /// Keeps a session's figures; if there are too many, those that ended first are dropped. Without a cut, the latest matter.
    /// </summary>
    internal void Add(LatencyScopeReport last)
    {
        lock (_gate)
        {
            if (_ended.Count == Max)
            {
                _ended.Dequeue();
                _leftOut++;
            }

            _ended.Enqueue(last);
        }
    }

    /// <summary>Adds the ended sessions to the open ones of a report.</summary>
    /// <param name="sessions">
    /// The open ones. One that has ended since they were read is in both lists: its last messages are those of the next interval.
    /// </param>
    /// <param name="cut">Whether a new interval begins, whose reports have none of those added.</param>
    /// <returns>How many ended in the interval and are not kept.</returns>
    internal long AddTo(List<LatencyScopeReport> sessions, bool cut)
    {
        HashSet<ulong> known = [.. sessions.Select(static s => s.Key)];
        lock (_gate)
        {
            sessions.AddRange(_ended.Where(s => !known.Contains(s.Key)));
            long leftOut = _leftOut;
            if (cut)
            {
                LatencyScopeReport[] next = [.. _ended.Where(s => known.Contains(s.Key))];
                ClearUnderGate();
                Array.ForEach(next, _ended.Enqueue);
            }

            return leftOut;
        }
    }

    internal void Clear()
    {
        lock (_gate)
        {
            ClearUnderGate();
        }
    }

    private void ClearUnderGate()
    {
        _ended.Clear();
        _leftOut = 0;
    }
}
