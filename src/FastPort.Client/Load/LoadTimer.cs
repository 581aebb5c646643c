namespace FastPort.Client.Load;

/// <summary>The phases of a run by the clock.</summary>
internal static class LoadTimer
{
    /// <summary>Waits until the time has passed or the run is interrupted; false where it was interrupted.</summary>
    public static async Task<bool> WaitAsync(TimeSpan time, TimeProvider clock, CancellationToken interrupted)
    {
        await Task.Delay(time, clock, interrupted).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return !interrupted.IsCancellationRequested;
    }

    /// <summary>Waits for the task at most this long; false where it has not ended by then.</summary>
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
