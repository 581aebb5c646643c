using FastPort.Core.Tests.Support;
using FastPort.OpcUa.SecureChannel;
using Xunit;

namespace FastPort.OpcUa.Tests.SecureChannel;

public sealed class AsideWorkTests
{
    [Fact]
    public async Task Few_steps_run_at_a_time_and_the_others_follow_in_order()
    {
        var work = new AsideWork(atOnce: 1);
        using var release = new ManualResetEventSlim();
        var all = new TaskCompletionSource();
        List<int> done = [];
        work.Run(() => release.Wait(Patience.Limit));
        for (int i = 0; i < 10; i++)
        {
            int step = i;
            work.Run(() =>
            {
                done.Add(step);
                if (step == 9)
                {
                    all.SetResult();
                }
            });
        }

        Assert.Empty(done);
        release.Set();
        await all.Task.InTimeAsync();
        Assert.Equal(Enumerable.Range(0, 10), done);

        // Idle again.
        var next = new TaskCompletionSource();
        work.Run(next.SetResult);
        await next.Task.InTimeAsync();
    }
}
