namespace FastPort.Connections;

/// <summary>
/// The bytes that connections' rings, shared frames and queued requests may hold together, besides <see cref="FreeBytes"/> that each
/// connection may have for each of receiving, sending and queueing. All servers of a process share <see cref="OfProcess"/>, unless one is
/// given a budget of its own.
/// <para>
/// Where more is taken than there is, connections are closed: first those whose peer is not known, and of them the one whose peer has
/// owed the rest of a message, or the reading of what was sent, for the longest time. Thread-safe; counting takes no lock,
/// <see cref="_gate"/> guards who may have to give.
/// </para>
/// </summary>
/// <param name="limit">Bytes in all.</param>
internal sealed class MemoryBudget(long limit)
{
    /// <summary>What a connection may always have for one purpose, and what is not counted.</summary>
    public const int FreeBytes = 64 * 1024;

    // Between the excess and the first look: a burst that is being handled, and bytes that the peer is just taking, give back what they
    // hold by themselves. From look to look where nothing could be closed it doubles.
    private static readonly TimeSpan ShortPause = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan LongPause = TimeSpan.FromSeconds(1);

    // How long the memory of connections that were closed for it may take to come back, before it is looked for others.
    private static readonly TimeSpan ReclaimPatience = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private IMemoryHolder[] _holders = [];
    private long _used;
    private int _reclaiming;

    /// <summary>The budget of this process: a quarter of the memory that the garbage collector may use.</summary>
    public static MemoryBudget OfProcess { get; } = new(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 4);

    /// <summary>Bytes taken and not given back.</summary>
    public long Used => Volatile.Read(ref _used);

    /// <summary>What part of so many bytes counts.</summary>
    public static long Counted(long bytes) => Math.Max(bytes - FreeBytes, 0);

    /// <summary>Takes bytes whether there are any left or not, for what cannot wait. An excess is looked after on another thread.</summary>
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

    /// <summary>From now on somebody else may have to give.</summary>
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

    // One at a time, for as long as too much is taken.
    private async Task ReclaimAsync()
    {
        TimeSpan pause = ShortPause;
        do
        {
            await Task.Delay(pause).ConfigureAwait(false);
            List<Task> closed = CloseFor(Used - limit);
            pause = closed.Count != 0 ? ShortPause : TimeSpan.FromTicks(Math.Min(2 * pause.Ticks, LongPause.Ticks));
            try
            {
                await Task.WhenAll(closed).WaitAsync(ReclaimPatience).ConfigureAwait(false);
            }
            catch (TimeoutException)
            {
                // A loop is busy, or a peer slow to end its side.
            }
        }
        while (Used > limit || !TryEnd());
    }

    // Who takes too much from now on begins anew, or is seen here.
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
