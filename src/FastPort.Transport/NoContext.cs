namespace FastPort;

/// <summary>
/// The execution context of application code that the library calls: none. Such a context has the values of AsyncLocal, the culture, the
/// principal, the current activity and the scopes of logs; here it includes the synchronization context. The thread pool isolates work
/// items from each other. A thread that makes many calls, for many sessions, has to do that itself.
/// <para>
/// A loop and a work item begin without a context and call <see cref="Restore"/> after each call of application code. Work that may run on
/// a caller's thread goes through <see cref="Run"/>; work that would keep a caller's context for its lifetime goes through
/// <see cref="Start"/> and <see cref="CreateTimer"/>. Thread-safe.
/// </para>
/// </summary>
internal static class NoContext
{
    // The runtime's internal object for a thread without a context, which is not accessible otherwise.
    private static readonly ExecutionContext None = OfNewThread();

    private static bool IsCurrent => ReferenceEquals(ExecutionContext.Capture(), None) && SynchronizationContext.Current is null;

    /// <summary>
    /// Drops the context that a call of application code has left behind. Only on a thread of the library, or within <see cref="Run"/>: a
    /// caller keeps its context.
    /// </summary>
    public static void Restore()
    {
        if (!IsCurrent)
        {
            ExecutionContext.Restore(None);
            SynchronizationContext.SetSynchronizationContext(null);
        }
    }

    /// <summary>Makes a call without a context, on any thread. The caller has its own one again afterwards.</summary>
    /// <param name="call">What is called. It may throw.</param>
    /// <param name="state">Passed to the call.</param>
    public static void Run<TState>(Action<TState> call, TState state)
    {
        if (!IsCurrent)
        {
            RunForCaller(call, state);
            return;
        }

        try
        {
            call(state);
        }
        finally
        {
            Restore();
        }
    }

    /// <inheritdoc cref="Run"/>
    /// <returns>What the call returns.</returns>
    public static TResult Call<TState, TResult>(Func<TState, TResult> call, TState state)
    {
        if (!IsCurrent)
        {
            return CallForCaller(call, state);
        }

        try
        {
            return call(state);
        }
        finally
        {
            Restore();
        }
    }

    /// <summary>Starts a task that outlives its caller, such as one that reconnects.</summary>
    /// <param name="start">Starts the task.</param>
    /// <returns>The task.</returns>
    public static Task Start(Func<Task> start) => Call(static start => start(), start);

    /// <summary>Creates a timer whose callbacks run without a context; a timer keeps that of its creator otherwise.</summary>
    /// <inheritdoc cref="TimeProvider.CreateTimer"/>
    public static ITimer CreateTimer(TimeProvider time, TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period) =>
        Call(time => time.CreateTimer(callback, state, dueTime, period), time);

    // Apart, so that the closures are allocated here only. The runtime gives the caller both contexts back.
    private static void RunForCaller<TState>(Action<TState> call, TState state) => ExecutionContext.Run(
        None,
        _ =>
        {
            SynchronizationContext.SetSynchronizationContext(null);
            call(state);
        },
        null);

    private static TResult CallForCaller<TState, TResult>(Func<TState, TResult> call, TState state)
    {
        TResult result = default!;
        RunForCaller(state => result = call(state), state);
        return result;
    }

    private static ExecutionContext OfNewThread()
    {
        ExecutionContext? context = null;
        var thread = new Thread(() => context = ExecutionContext.Capture()) { IsBackground = true };
        thread.UnsafeStart();
        thread.Join();
        return context!;
    }
}
