namespace FastPort.TestHost.Impaired;

/// <summary>A count that only one caller at a time waits for. Thread-safe otherwise.</summary>
internal sealed class CountSignal
{
    private readonly SemaphoreSlim _added = new(0);
    private int _count;

    public int Count => Volatile.Read(ref _count);

    public void Add()
    {
        Interlocked.Increment(ref _count);
        _added.Release();
    }

    /// <summary>Completes when the count is at least this.</summary>
    public async Task WhenAsync(int count)
    {
        while (Count < count)
        {
            await _added.WaitAsync();
        }
    }
}
