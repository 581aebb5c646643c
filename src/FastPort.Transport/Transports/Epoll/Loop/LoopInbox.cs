namespace FastPort.Transports.Epoll.Loop;

/// <summary>
/// Passes tasks from any thread to one loop, in order, without locks or allocations: a stack linked through the tasks themselves, which the
/// loop takes as a whole and reverses.
/// </summary>
internal sealed class LoopInbox
{
    private ILoopTask? _newest;

    public bool IsEmpty => Volatile.Read(ref _newest) is null;

    /// <summary>Adds a task that is in no inbox. A full fence for the caller.</summary>
    public void Add(ILoopTask task)
    {
        ILoopTask? newest = Volatile.Read(ref _newest);
        while (true)
        {
            task.Next = newest;
            ILoopTask? seen = Interlocked.CompareExchange(ref _newest, task, newest);
            if (ReferenceEquals(seen, newest))
            {
                return;
            }

            newest = seen;
        }
    }

    /// <summary>
    /// Runs the tasks that the inbox held at the call, oldest first; on the loop only. A task may be added again as soon as it runs.
    /// </summary>
    public void RunAll()
    {
        if (IsEmpty)
        {
            return;
        }

        ILoopTask? task = Interlocked.Exchange(ref _newest, null);
        ILoopTask? oldest = null;
        while (task is not null)
        {
            ILoopTask? before = task.Next;
            task.Next = oldest;
            oldest = task;
            task = before;
        }

        while (oldest is not null)
        {
            // Read before the task runs: the task may be posted again while it runs.
            ILoopTask? next = oldest.Next;
            oldest.Next = null;
            oldest.RunOnLoop();
            oldest = next;
        }
    }
}
