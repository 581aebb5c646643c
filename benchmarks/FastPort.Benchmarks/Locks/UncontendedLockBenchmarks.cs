using BenchmarkDotNet.Attributes;

namespace FastPort.Benchmarks.Locks;

/// <summary>10,000 increments under a lock that no other thread wants.</summary>
public class UncontendedLockBenchmarks
{
    private const int Iterations = 10_000;

    private readonly GuardedCounter _counter = new();

    [GlobalCleanup]
    public void Cleanup() => _counter.Dispose();

    [Benchmark(Baseline = true)]
    public void Lock_object() => _counter.LockObject(Iterations);

    [Benchmark]
    public void Lock_Enter_Exit() => _counter.LockEnterExit(Iterations);

    [Benchmark]
    public void Lock_EnterScope() => _counter.LockEnterScope(Iterations);

    [Benchmark]
    public void ReaderWriterLockSlim_write() => _counter.ReaderWriterLockSlimWrite(Iterations);

    [Benchmark]
    public void SpinLock() => _counter.SpinLock(Iterations);

    [Benchmark]
    public void SemaphoreSlim() => _counter.SemaphoreSlim(Iterations);

    [Benchmark]
    public void Interlocked_Increment() => _counter.InterlockedIncrement(Iterations);
}
