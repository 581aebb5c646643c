namespace FastPort.Hosting;

/// <summary>
/// The connections of all servers of a process together, and how many of them its descriptors allow. Peers must not be able to take the
/// last descriptor: the runtime ends a process that cannot start a thread. Thread-safe.
/// </summary>
internal sealed class ConnectionDescriptors
{
    // Reserved for descriptors that the process opens later: log files, assemblies, connections of the application, and above all threads.
    // The runtime needs two descriptors to start a thread; if the thread pool gets none, the runtime ends the process with "Out of memory".
    private const int Reserve = 64;

    private const int RemeasureMilliseconds = 1000;

    private int _count;
    private volatile int _max = int.MaxValue;

    // Never without a first measurement.
    private long _measuredAt = long.MaxValue;

    /// <summary>Those of this process.</summary>
    public static ConnectionDescriptors OfProcess { get; } = new();

    /// <summary>Maximum number of connections, at least 1.</summary>
    public int Max
    {
        get => _max;
        set => _max = value;
    }

    /// <summary>Takes the descriptor of a connection; false if there is none for it. <see cref="Give"/> returns it.</summary>
    /// <param name="max">The maximum that decided.</param>
    public bool TryTake(out int max)
    {
        max = Max;
        if (Interlocked.Increment(ref _count) <= max)
        {
            return true;
        }

        Give();

        // Descriptors that the process had open then may be free now.
        long now = Environment.TickCount64;
        long before = Volatile.Read(ref _measuredAt);
        if (now - before >= RemeasureMilliseconds && Interlocked.CompareExchange(ref _measuredAt, now, before) == before)
        {
            ThreadPool.UnsafeQueueUserWorkItem(static all => all.Measure(), this, preferLocal: false);
        }

        return false;
    }

    public void Give() => Interlocked.Decrement(ref _count);

    /// <summary>Sets the maximum by what is open now: the connections, and what cannot be used for further ones.</summary>
    public void Measure()
    {
        if (DescriptorLimit.Read() is not { } limit)
        {
            return;
        }

        Volatile.Write(ref _measuredAt, Environment.TickCount64);

        try
        {
            // Before the directory is read: a connection that arrives in the meantime lowers the maximum.
            int count = Volatile.Read(ref _count);
            long free = limit - Directory.EnumerateFileSystemEntries("/proc/self/fd").LongCount() - Reserve;
            Max = (int)Math.Min(int.MaxValue, Math.Max(free, 1) + count);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The maximum stays: without one, MaxConnections alone applies.
        }
    }
}
