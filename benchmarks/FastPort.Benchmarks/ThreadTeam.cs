namespace FastPort.Benchmarks;

/// <summary>
/// Threads that do the same work at the same time, again and again. They are started once, so that a run costs two meetings at a barrier
/// and no thread's start; the calling thread is one of them.
/// </summary>
internal sealed class ThreadTeam : IDisposable
{
    private readonly Barrier _barrier;
    private readonly Thread[] _others;

    // Written by the caller between two meetings at the barrier, read by the others after one.
    private Action? _work;

    /// <param name="threads">Threads in all, the calling one included; 1 or more.</param>
    public ThreadTeam(int threads)
    {
        _barrier = new Barrier(threads);
        _others = new Thread[threads - 1];
        for (int i = 0; i < _others.Length; i++)
        {
            _others[i] = new Thread(WorkUntilDisposed) { IsBackground = true };
            _others[i].Start();
        }
    }

    /// <summary>Does the work once on every thread and returns when all have ended.</summary>
    public void Run(Action work)
    {
        _work = work;
        _barrier.SignalAndWait();
        work();
        _barrier.SignalAndWait();
    }

    public void Dispose()
    {
        _work = null;
        _barrier.SignalAndWait();
        foreach (Thread thread in _others)
        {
            thread.Join();
        }

        _barrier.Dispose();
    }

    private void WorkUntilDisposed()
    {
        while (true)
        {
            _barrier.SignalAndWait();
            if (_work is not { } work)
            {
                return;
            }

            work();
            _barrier.SignalAndWait();
        }
    }
}
