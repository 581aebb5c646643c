using BenchmarkDotNet.Attributes;

namespace FastPort.Benchmarks.Locks;

/// <summary>
/// Increments under a lock that several threads want all the time. The time is that of 10,000 increments in all, whichever thread does
/// them, so that it stands beside the uncontended one: a lock that costs nothing more under contention shows the same figure.
/// </summary>
public class ContendedLockBenchmarks
{
    // Long enough for all threads to be at it for nearly the whole run: waking them at the barrier takes tens of microseconds.
    private const int Repetitions = 20;
    private const int Iterations = 10_000;

    private GuardedCounter _counter = null!;
    private ThreadTeam _team = null!;
    private int _share;

    [Params(2, 4, 8)]
    public int Threads { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _counter = new GuardedCounter();
        _team = new ThreadTeam(Threads);
        _share = Iterations * Repetitions / Threads;
    }

    [GlobalCleanup]
    public void Cleanup()
    {
        _team.Dispose();
        _counter.Dispose();
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Repetitions)]
    public void Lock_object() => _team.Run(() => _counter.LockObject(_share));

    [Benchmark(OperationsPerInvoke = Repetitions)]
    public void Lock_Enter_Exit() => _team.Run(() => _counter.LockEnterExit(_share));

    [Benchmark(OperationsPerInvoke = Repetitions)]
    public void Lock_EnterScope() => _team.Run(() => _counter.LockEnterScope(_share));

    [Benchmark(OperationsPerInvoke = Repetitions)]
    public void ReaderWriterLockSlim_write() => _team.Run(() => _counter.ReaderWriterLockSlimWrite(_share));

    [Benchmark(OperationsPerInvoke = Repetitions)]
    public void SpinLock() => _team.Run(() => _counter.SpinLock(_share));

    [Benchmark(OperationsPerInvoke = Repetitions)]
    public void SemaphoreSlim() => _team.Run(() => _counter.SemaphoreSlim(_share));

    [Benchmark(OperationsPerInvoke = Repetitions)]
    public void Interlocked_Increment() => _team.Run(() => _counter.InterlockedIncrement(_share));
}
