using Xunit;

namespace FastPort.Tests.Support;

/// <summary>
/// How long a test waits for something that must happen before it gives up: long enough for any busy machine. Tests wait for signals.
/// Polling is for what has none, such as the engine's counts and the kernel's buffers, and happens here alone.
/// </summary>
internal static class Patience
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(2);

    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    public static CancellationToken Token => new CancellationTokenSource(Limit).Token;

    /// <summary>Waits until the condition holds.</summary>
    public static Task UntilAsync(Func<bool> condition, string what) => UntilAsync(() => Task.FromResult(condition()), what);

    /// <inheritdoc cref="UntilAsync(Func{bool}, string)"/>
    public static async Task UntilAsync(Func<Task<bool>> condition, string what)
    {
        CancellationToken token = Token;
        while (!await condition())
        {
            Assert.False(token.IsCancellationRequested, $"Waited in vain until {what}.");
            await Task.Delay(Pause);
        }
    }

    /// <summary>
    /// Waits until the value has stood still for a while: for "nothing more comes", which nothing can signal. Where a test is wrong about
    /// that, it has to find out otherwise; nobody may rely on the while being long enough.
    /// </summary>
    public static async Task UntilSteadyAsync(Func<long> value, string what)
    {
        const int Looks = 25;
        long last = value();
        int same = 0;
        await UntilAsync(
            () =>
            {
                long now = value();
                same = now == last ? same + 1 : 0;
                last = now;
                return same == Looks;
            },
            what);
    }

    public static Task<T> InTimeAsync<T>(this Task<T> task) => task.WaitAsync(Limit);

    public static Task InTimeAsync(this Task task) => task.WaitAsync(Limit);

    public static Task<T> InTimeAsync<T>(this ValueTask<T> task) => task.AsTask().WaitAsync(Limit);

    public static Task InTimeAsync(this ValueTask task) => task.AsTask().WaitAsync(Limit);
}
