using Xunit;

namespace FastPort.Core.Tests.Support;

/// <summary>How long a test waits for something that must happen before it gives up: long enough for any busy machine.</summary>
internal static class Patience
{
    public static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    public static CancellationToken Token => new CancellationTokenSource(Limit).Token;

    /// <summary>Waits until the condition holds, for what has no event to wait on.</summary>
    public static async Task UntilAsync(Func<bool> condition, string what)
    {
        CancellationToken token = Token;
        while (!condition())
        {
            Assert.False(token.IsCancellationRequested, $"Waited in vain until {what}.");
            await Task.Delay(2);
        }
    }

    public static Task<T> InTimeAsync<T>(this Task<T> task) => task.WaitAsync(Limit);

    public static Task InTimeAsync(this Task task) => task.WaitAsync(Limit);
}
