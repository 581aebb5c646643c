namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// Runs the slow steps of channels and sessions, RSA and reading certificates, on the thread pool: a step takes about a millisecond, which
/// the other connections of a loop must not wait for. Few run at a time, so that a flood of them leaves processors to the loops; the others
/// wait in order. A channel has at most one step here, so their number is that of the channels. Thread-safe.
/// </summary>
internal sealed class AsideWork(int atOnce)
{
    private readonly Lock _gate = new();
    private readonly Queue<Action> _waiting = new();
    private int _running;

    /// <summary>Shared by the channels of the process: half of the processors, at least one.</summary>
    public static AsideWork Shared { get; } = new(Math.Max(1, Environment.ProcessorCount / 2));

    /// <summary>Runs a step, now or when others have ended.</summary>
    /// <param name="step">The step; must not throw.</param>
    public void Run(Action step)
    {
        lock (_gate)
        {
            if (_running == atOnce)
            {
                _waiting.Enqueue(step);
                return;
            }

            _running++;
        }

        ThreadPool.UnsafeQueueUserWorkItem(static run => run.Work.RunAll(run.Step), (Work: this, Step: step), preferLocal: false);
    }

    private void RunAll(Action step)
    {
        do
        {
            step();
        }
        while (TryTake(out step!));
    }

    private bool TryTake(out Action? step)
    {
        lock (_gate)
        {
            if (_waiting.TryDequeue(out step))
            {
                return true;
            }

            _running--;
            return false;
        }
    }
}
