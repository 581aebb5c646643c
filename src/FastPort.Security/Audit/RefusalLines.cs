namespace FastPort.Security.Audit;

/// <summary>
/// Decides which refused messages of a peer get a line of the audit log: the first few within a second. The others are counted, and one
/// line contains their number, a second after the first. Forbidden messages cost their sender nothing, so a peer must not fill the disk
/// with them. Thread-safe. <see cref="_gate"/> guards the table.
/// </summary>
internal sealed class RefusalLines : IDisposable
{
    /// <summary>Lines of one peer within a second.</summary>
    public const int PerSecond = 10;

    private static readonly TimeSpan Span = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private readonly Dictionary<object, (string Event, int Count)> _refused = [];
    private readonly Action<object, string, int> _more;
    private readonly ITimer _timer;

    /// <summary>Creates the table, which is empty when no peer was refused within the last second.</summary>
    /// <param name="time">Source of time.</param>
    /// <param name="more">
    /// Called with a peer, the event, and how many of its refusals got no line; one call at a time, must not block.
    /// </param>
    public RefusalLines(TimeProvider time, Action<object, string, int> more)
    {
        _more = more;
        _timer = NoContext.CreateTimer(
            time, static lines => ((RefusalLines)lines!).EndSecond(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    /// <summary>Counts a refusal; true if it gets a line.</summary>
    /// <param name="peer">The peer, found again by equality.</param>
    /// <param name="name">The event's name, the same for all of a server.</param>
    public bool TryEnter(object peer, string name)
    {
        lock (_gate)
        {
            if (_refused.Count == 0)
            {
                _timer.Change(Span, Timeout.InfiniteTimeSpan);
            }

            int count = _refused.GetValueOrDefault(peer).Count + 1;
            _refused[peer] = (name, count);
            return count <= PerSecond;
        }
    }

    /// <summary>The peer has ended: its counts are reported now.</summary>
    public void End(object peer)
    {
        lock (_gate)
        {
            if (_refused.Remove(peer, out (string Event, int Count) refused))
            {
                Tell(peer, refused.Event, refused.Count);
            }
        }
    }

    public void Dispose()
    {
        _timer.Dispose();
        EndSecond();
    }

    private void EndSecond()
    {
        lock (_gate)
        {
            foreach ((object peer, (string name, int count)) in _refused)
            {
                Tell(peer, name, count);
            }

            _refused.Clear();
        }
    }

    private void Tell(object peer, string name, int count)
    {
        if (count > PerSecond)
        {
            _more(peer, name, count - PerSecond);
        }
    }
}
