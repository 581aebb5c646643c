namespace FastPort.OpcUa.SecureChannel;

/// <summary>
/// Runs the slow steps of channels and sessions, RSA and reading certificates, on the thread pool: a step takes about a millisecond, for
/// which the other connections of a loop must not wait. Few run at a time, so that a flood of them leaves processors for the loops; the
/// others wait in order. A channel has at most one step here, so their number is that of the channels. The channel takes back the step when
/// its connection is reset, or times out; a connection that the peer has just ended is noticed only after its step is done, because reading
/// pauses for the step. Thread-safe.
/// </summary>
internal sealed class AsideWork(int atOnce)
{
    private readonly Lock _gate = new();
    private readonly LinkedList<Action> _waiting = new();
    private int _running;

    /// <summary>Shared by the channels of the process: half of the processors, at least one.</summary>
    public static AsideWork Shared { get; } = new(Math.Max(1, Environment.ProcessorCount / 2));

    /// <summary>
    /// As <see cref="Shared"/>, for the application's checks of users: a slow hash takes many times longer than the steps of channels,
    /// which must not wait for it.
    /// </summary>
    public static AsideWork Users { get; } = new(Math.Max(1, Environment.ProcessorCount / 2));

    /// <summary>Steps that wait for others to end.</summary>
    public int WaitingCount
    {
        get
        {
            lock (_gate)
            {
                return _waiting.Count;
            }
        }
    }

    /// <summary>Runs a step, now or when others have ended.</summary>
    /// <param name="step">The step; must not throw.</param>
    /// <returns>The step's place, for <see cref="TryTakeBack"/>; null if it runs now.</returns>
    public LinkedListNode<Action>? Run(Action step)
    {
        lock (_gate)
        {
            if (_running == atOnce)
            {
                return _waiting.AddLast(step);
            }

            _running++;
        }

        ThreadPool.UnsafeQueueUserWorkItem(static run => run.Work.RunAll(run.Step), (Work: this, Step: step), preferLocal: false);
        return null;
    }

    /// <summary>Removes a step that waits. False if it runs, or has run.</summary>
    public bool TryTakeBack(LinkedListNode<Action> place)
    {
        lock (_gate)
        {
            if (place.List is null)
            {
                return false;
            }

            _waiting.Remove(place);
            return true;
        }
    }

    private void RunAll(Action step)
    {
        do
        {
            step();
            NoContext.Restore();
        }
        while (TryTake(out step!));
    }

    private bool TryTake(out Action? step)
    {
        lock (_gate)
        {
            if (_waiting.First is { } first)
            {
                _waiting.Remove(first);
                step = first.Value;
                return true;
            }

            _running--;
            step = null;
            return false;
        }
    }
}
