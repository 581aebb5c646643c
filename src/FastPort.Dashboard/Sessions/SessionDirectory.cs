namespace FastPort.Dashboard.Sessions;

/// <summary>
/// The latest snapshot of a server's sessions. It is taken on request, at most once a second, and shared by all. Thread-safe.
/// </summary>
internal sealed class SessionDirectory(FastPortServer server, TimeProvider time)
{
    // A little less than the second between two events of the stream; pages ask after each event.
    private static readonly TimeSpan MaxAge = TimeSpan.FromMilliseconds(900);

    // Rates are of the time between two snapshots. After a longer time without readers there is no rate.
    private static readonly TimeSpan MaxRateAge = TimeSpan.FromSeconds(10);

    // Held while a snapshot is taken: concurrent requests wait for it and share it.
    private readonly Lock _gate = new();
    private SessionSnapshot? _latest;

    public SessionSnapshot Read()
    {
        lock (_gate)
        {
            return _latest is { } latest && time.GetElapsedTime(latest.Taken) < MaxAge ? latest : _latest = Take(_latest);
        }
    }

    private SessionSnapshot Take(SessionSnapshot? latest)
    {
        long now = time.GetTimestamp();
        TimeSpan age = latest is null ? TimeSpan.MaxValue : time.GetElapsedTime(latest.Taken, now);
        Dictionary<long, SessionRow> before =
            latest is null || age > MaxRateAge ? [] : latest.Rows.ToDictionary(static row => row.Id);
        return new SessionSnapshot(
            [.. server.Sessions.Select(session => SessionRow.Of(session, before.GetValueOrDefault(session.Id), age.TotalSeconds))], now);
    }
}
