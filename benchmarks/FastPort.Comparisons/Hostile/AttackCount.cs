namespace FastPort.Comparisons.Hostile;

/// <summary>What an attacker has done. Thread-safe.</summary>
internal sealed class AttackCount
{
    private long _attempts;
    private long _ended;
    private long _open;
    private long _mostOpen;
    private volatile string? _breach;

    /// <summary>How often it has begun.</summary>
    public long Attempts => Interlocked.Read(ref _attempts);

    /// <summary>How often the server ended it: a refusal, an error, a reset, a deadline.</summary>
    public long EndedByServer => Interlocked.Read(ref _ended);

    /// <summary>How many were under way at the same time at most.</summary>
    public long MostOpen => Interlocked.Read(ref _mostOpen);

    /// <summary>What the server should not have done; null where it did nothing of the kind.</summary>
    public string? Breach => _breach;

    public void Begin()
    {
        Interlocked.Increment(ref _attempts);
        long open = Interlocked.Increment(ref _open);
        long most = MostOpen;
        while (open > most && Interlocked.CompareExchange(ref _mostOpen, open, most) is var seen && seen != most)
        {
            most = seen;
        }
    }

    /// <summary>One attempt is over.</summary>
    public void End() => Interlocked.Decrement(ref _open);

    /// <summary>An attempt had success, or failed for no reason of the server's.</summary>
    public void Tell(string breach) => _breach ??= breach;

    /// <summary>The server has ended an attempt.</summary>
    public void Refuse() => Interlocked.Increment(ref _ended);
}
