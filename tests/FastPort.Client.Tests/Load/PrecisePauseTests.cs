using FastPort.Client.Load;
using Xunit;

namespace FastPort.Client.Tests.Load;

public sealed class PrecisePauseTests
{
    [Fact]
    public void Pauses_for_about_the_time_asked_for()
    {
        // The middle one of many: a signal may end a pause early, and a busy machine makes some of them long.
        const long Pause = 300_000;
        using var precise = new PrecisePause();
        long[] pauses = new long[51];
        for (int i = 0; i < pauses.Length; i++)
        {
            long from = MonotonicClock.Nanoseconds;
            precise.Wait(Pause);
            pauses[i] = MonotonicClock.Nanoseconds - from;
        }

        Array.Sort(pauses);
        Assert.True(pauses[25] >= Pause, $"{pauses[25]} ns");
    }
}
