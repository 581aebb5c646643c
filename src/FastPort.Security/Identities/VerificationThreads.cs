using System.Collections.Concurrent;
using System.Runtime.InteropServices;

namespace FastPort.Security.Identities;

/// <summary>
/// Threads to which the system prefers all others, where it has a way to say so (Linux): beside an event loop that is busy on the same
/// core, they get a tenth of what it gets. They start with the first task.
/// </summary>
internal sealed partial class VerificationThreads(int count) : TaskScheduler, IDisposable
{
    // The weight of a thread is 1024 at 0, 110 at 10 and 15 at 19: peers still get in while the loops are busy.
    private const int Niceness = 10;

    private readonly BlockingCollection<Task> _waiting = [];
    private int _started;

    public override int MaximumConcurrencyLevel => count;

    /// <summary>Ends the threads after the tasks that are queued already.</summary>
    public void Dispose() => _waiting.CompleteAdding();

    protected override void QueueTask(Task task)
    {
        if (Volatile.Read(ref _started) < count && Interlocked.Increment(ref _started) <= count)
        {
            new Thread(Run) { IsBackground = true, Name = "FastPort verification" }.Start();
        }

        _waiting.Add(task);
    }

    protected override bool TryExecuteTaskInline(Task task, bool taskWasPreviouslyQueued) => false;

    protected override IEnumerable<Task> GetScheduledTasks() => _waiting;

    [LibraryImport("libc", EntryPoint = "setpriority")]
    private static partial int SetPriority(int which, int who, int niceness);

    private void Run()
    {
        if (OperatingSystem.IsLinux())
        {
            // Of the calling thread. Every thread may lower its own.
            _ = SetPriority(0, 0, Niceness);
        }

        foreach (Task task in _waiting.GetConsumingEnumerable())
        {
            TryExecuteTask(task);
        }
    }
}
