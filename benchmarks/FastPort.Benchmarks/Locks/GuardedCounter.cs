namespace FastPort.Benchmarks.Locks;

/// <summary>
/// A counter incremented under each kind of lock: the shortest critical section there is, so that what is measured is the lock.
/// </summary>
internal sealed class GuardedCounter : IDisposable
{
#pragma warning disable MA0158 // A plain object is the baseline that Lock is compared with.
    private readonly object _object = new();
#pragma warning restore MA0158
    private readonly Lock _lock = new();
    private readonly ReaderWriterLockSlim _readerWriter = new();
    private readonly SemaphoreSlim _semaphore = new(1, 1);
    private SpinLock _spin = new(enableThreadOwnerTracking: false);
    private long _count;

    public long Count => Interlocked.Read(ref _count);

    public void LockObject(int times)
    {
        for (int i = 0; i < times; i++)
        {
            lock (_object)
            {
                _count++;
            }
        }
    }

    public void LockEnterExit(int times)
    {
        for (int i = 0; i < times; i++)
        {
            _lock.Enter();
            try
            {
                _count++;
            }
            finally
            {
                _lock.Exit();
            }
        }
    }

    // The lock statement over a Lock compiles to the same.
    public void LockEnterScope(int times)
    {
        for (int i = 0; i < times; i++)
        {
            using (_lock.EnterScope())
            {
                _count++;
            }
        }
    }

    public void ReaderWriterLockSlimWrite(int times)
    {
        for (int i = 0; i < times; i++)
        {
            _readerWriter.EnterWriteLock();
            try
            {
                _count++;
            }
            finally
            {
                _readerWriter.ExitWriteLock();
            }
        }
    }

    public void SpinLock(int times)
    {
        for (int i = 0; i < times; i++)
        {
            bool taken = false;
            try
            {
                _spin.Enter(ref taken);
                _count++;
            }
            finally
            {
                if (taken)
                {
                    _spin.Exit();
                }
            }
        }
    }

    public void SemaphoreSlim(int times)
    {
        for (int i = 0; i < times; i++)
        {
            _semaphore.Wait();
            try
            {
                _count++;
            }
            finally
            {
                _semaphore.Release();
            }
        }
    }

    public void InterlockedIncrement(int times)
    {
        for (int i = 0; i < times; i++)
        {
            Interlocked.Increment(ref _count);
        }
    }

    public void Dispose()
    {
        _readerWriter.Dispose();
        _semaphore.Dispose();
    }
}
