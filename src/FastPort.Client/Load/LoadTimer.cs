namespace FastPort.Client.Load;

/// <summary>Waits with a timeout.</summary>
internal static class LoadTimer
{
    /// <summary>Waits until the time has passed or the run is interrupted; false if it was interrupted.</summary>
    public static async Task<bool> WaitAsync(TimeSpan time, TimeProvider clock, CancellationToken interrupted)
    {
        await Task.Delay(time, clock, interrupted).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return !interrupted.IsCancellationRequested;
    }

    /// <summary>Waits for the task with a timeout; false if the task has not ended in time.</summary>
    public static async Task<bool> EndsWithinAsync(Task task, TimeSpan time, TimeProvider clock)
    {
        try
        {
            await task.WaitAsync(time, clock).ConfigureAwait(false);
            return true;
        }
        catch (TimeoutException)
        {
            return false;
        }
    }
}
