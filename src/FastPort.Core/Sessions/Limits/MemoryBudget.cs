namespace FastPort.Sessions.Limits;

/// <summary>
/// The bytes that unfinished frames and queued requests of all sessions may hold together, besides <see cref="FreeBytes"/> that each
/// session has for either. It is
/// told of large arrays and of steps of many bytes, not of messages. Thread-safe, without a lock.
/// </summary>
/// <param name="limit">Bytes in all.</param>
internal sealed class MemoryBudget(long limit)
{
    /// <summary>What a session may always use, and what is not counted.</summary>
    public const int FreeBytes = 64 * 1024;

    private long _used;

    /// <summary>Called by whoever finds the budget exceeded, on any thread. Must neither block nor throw.</summary>
    public Action? Exceeded { get; set; }

    /// <summary>Bytes taken and not given back.</summary>
    public long Used => Volatile.Read(ref _used);

    /// <summary>Bytes above the budget; 0 or less where it is kept.</summary>
    public long Excess => Used - limit;

    /// <summary>
    /// Takes bytes whether there are any left or not: for what cannot wait, as a receive. <see cref="Check"/> is called when it is known
    /// what they are for.
    /// </summary>
    public void Take(long bytes) => Interlocked.Add(ref _used, bytes);

    /// <summary>Has somebody look for memory where the budget is exceeded.</summary>
    public void Check()
    {
        if (Excess > 0)
        {
            Exceeded?.Invoke();
        }
    }

    /// <summary>Takes bytes if they are within the budget.</summary>
    public bool TryTake(long bytes)
    {
        if (Interlocked.Add(ref _used, bytes) <= limit)
        {
            return true;
        }

        Give(bytes);
        return false;
    }

    public void Give(long bytes) => Interlocked.Add(ref _used, -bytes);
}
