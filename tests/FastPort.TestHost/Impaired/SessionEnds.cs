namespace FastPort.TestHost.Impaired;

/// <summary>Counts the sessions that have ended, by their heartbeats or otherwise. Thread-safe.</summary>
internal sealed class SessionEnds
{
    private readonly CountSignal _ended = new();
    private int _byHeartbeat;

    public int Count => _ended.Count;

    public int ByHeartbeat => Volatile.Read(ref _byHeartbeat);

    public void Add(CloseReason reason)
    {
        if (reason.Kind == CloseKind.HeartbeatTimeout)
        {
            Interlocked.Increment(ref _byHeartbeat);
        }

        _ended.Add();
    }

    /// <summary>Completes when so many have ended.</summary>
    public Task WhenAsync(int count) => _ended.WhenAsync(count);
}
