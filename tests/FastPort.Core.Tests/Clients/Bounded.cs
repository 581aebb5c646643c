namespace FastPort.Core.Tests.Clients;

/// <summary>Waits that end in a failure instead of hanging a test run. The bound is far above what any of them needs.</summary>
internal static class Bounded
{
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    public static Task Soon(this Task task) => task.WaitAsync(Limit);

    public static Task<T> Soon<T>(this Task<T> task) => task.WaitAsync(Limit);

    public static Task<T> Soon<T>(this ValueTask<T> task) => task.AsTask().WaitAsync(Limit);

    public static Task Soon(this ValueTask task) => task.AsTask().WaitAsync(Limit);

    /// <summary>Waits for a state that nothing reports: looks every few milliseconds.</summary>
    public static async Task UntilAsync(Func<bool> condition, string what)
    {
        long start = Environment.TickCount64;
        while (!condition())
        {
            if (Environment.TickCount64 - start > Limit.TotalMilliseconds)
            {
                throw new TimeoutException($"It never came to this: {what}.");
            }

            await Task.Delay(5);
        }
    }
}
