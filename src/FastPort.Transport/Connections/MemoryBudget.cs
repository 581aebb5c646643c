namespace FastPort.Connections;

/// <summary>
/// A limit of the bytes that connections' rings, unfinished messages, shared frames and queued requests hold together. For each connection
/// <see cref="FreeBytes"/> do not count, separately for receiving, messages outside the ring, sending and queueing. All servers of a
/// process share <see cref="OfProcess"/>, except servers with their own budget.
/// <para>
/// When the limit is exceeded, the budget closes connections: first those with an unknown peer, and among them first the one whose peer has
/// been late for the longest time with the rest of a message or with reading sent bytes. A known peer is closed when it has been late for a
/// second. Thread-safe; counting takes no lock, <see cref="_gate"/> guards the list of holders.
/// </para>
/// </summary>
/// <param name="limit">The limit in bytes.</param>
internal sealed class MemoryBudget(long limit)
{
    /// <summary>Bytes per connection and purpose that do not count: 64 KiB.</summary>
    public const int FreeBytes = 64 * 1024;

    // Pause before the first check after an excess: a burst in progress and bytes that the peer is reading release their memory without a
    // close. The pause doubles after each check that could close no connection.
    private static readonly TimeSpan ShortPause = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan LongPause = TimeSpan.FromSeconds(1);

    // How long the budget waits for closed connections to release their memory before it closes others.
    private static readonly TimeSpan ReclaimPatience = TimeSpan.FromSeconds(1);

    // A known peer that has been late for less is in the middle of a transfer, and is not closed.
    private const long KnownPatienceMilliseconds = 1000;

    private readonly Lock _gate = new();
    private IMemoryHolder[] _holders = [];
    private long _used;
    private int _reclaiming;

    /// <summary>The budget of this process: a quarter of the memory that the garbage collector may use.</summary>
    public static MemoryBudget OfProcess { get; } = new(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 4);

    /// <summary>The limit in bytes.</summary>
    public long Limit => limit;

    /// <summary>Bytes taken and not released.</summary>
    public long Used => Volatile.Read(ref _used);

    /// <summary>The part of a number of bytes that counts.</summary>
    public static long Counted(long bytes) => Math.Max(bytes - FreeBytes, 0);

    /// <summary>Takes bytes even above the limit, for callers that cannot wait. The thread pool handles an excess.</summary>
    public void Take(long bytes)
    {
        if (Interlocked.Add(ref _used, bytes) > limit && Interlocked.Exchange(ref _reclaiming, 1) == 0)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static budget => _ = budget.ReclaimAsync(), this, preferLocal: false);
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

    /// <summary>Adds a holder, whose connections may be closed.</summary>
    public void Enter(IMemoryHolder holder)
    {
        lock (_gate)
        {
            _holders = [.. _holders, holder];
        }
    }

    public void Leave(IMemoryHolder holder)
    {
        lock (_gate)
        {
            _holders = [.. _holders.Where(h => !ReferenceEquals(h, holder))];
        }
    }

    // Runs while the limit is exceeded, one instance at a time.
    private async Task ReclaimAsync()
    {
        TimeSpan pause = ShortPause;
        do
        {
            await Task.Delay(pause).ConfigureAwait(false);
            List<Task> closed = [];
            try
            {
                closed = CloseFor(Used - limit);
            }
            catch (Exception)
            {
                // Not enough memory to find connections to close: retried after the pause.
            }

            pause = closed.Count != 0 ? ShortPause : TimeSpan.FromTicks(Math.Min(2 * pause.Ticks, LongPause.Ticks));
            try
            {
                await Task.WhenAll(closed).WaitAsync(ReclaimPatience).ConfigureAwait(false);
            }
            catch (TimeoutException)
            {
                // A loop is busy, or a peer is slow to close its side.
            }
        }
        while (Used > limit || !TryEnd());
    }

    // A Take above the limit after the exchange starts a new run, or this method sees its bytes.
    private bool TryEnd()
    {
        Interlocked.Exchange(ref _reclaiming, 0);
        return Used <= limit || Interlocked.Exchange(ref _reclaiming, 1) != 0;
    }

    private List<Task> CloseFor(long excess)
    {
        List<Task> closed = [];
        if (excess <= 0)
        {
            return closed;
        }

        IMemoryHolder[] holders;
        lock (_gate)
        {
            holders = _holders;
        }

        foreach (MemoryClaim claim in holders
            .SelectMany(static h => h.Claims)
            .Where(static c => !c.IsKnown || c.OwedMilliseconds >= KnownPatienceMilliseconds)
            .OrderBy(static c => c.IsKnown)
            .ThenByDescending(static c => c.OwedMilliseconds)
            .ToArray())
        {
            if (excess <= 0)
            {
                break;
            }

            excess -= claim.Bytes;
            claim.Close();
            closed.Add(claim.Closed);
        }

        return closed;
    }
}
