namespace FastPort.Tests.Support;

/// <summary>
/// A thread as that of a window: with a synchronization context and a task scheduler, whose work has to wait while the thread waits.
/// </summary>
internal sealed class WindowThread : SynchronizationContext
{
    private readonly TaskCompletionSource _done = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private WindowThread()
    {
    }

    /// <summary>
    /// Runs an action that waits, on a thread of its own. Fails when work is posted to the thread meanwhile: who waits for that work waits
    /// for ever.
    /// </summary>
    public static Task RunAsync(Action action)
    {
        var window = new WindowThread();
        new Thread(() => window.Run(action)) { IsBackground = true, Name = "window" }.Start();
        return window._done.Task.InTimeAsync();
    }

    public override void Post(SendOrPostCallback d, object? state) => _done.TrySetException(new InvalidOperationException(
        $"The waiting thread would have to run {(state as Delegate)?.Target ?? state}, posted at:{Environment.NewLine}"
        + Environment.StackTrace));

    public override void Send(SendOrPostCallback d, object? state) => Post(d, state);

    private void Run(Action action)
    {
        SetSynchronizationContext(this);
        var task = new Task(action);
        task.RunSynchronously(TaskScheduler.FromCurrentSynchronizationContext());
        _done.TrySetFromTask(task);
    }
}
