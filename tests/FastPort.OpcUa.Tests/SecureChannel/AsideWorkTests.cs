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

    [Fact]
    public async Task A_step_is_taken_back_while_it_waits_and_not_after()
    {
        var work = new AsideWork(atOnce: 1);
        using var release = new ManualResetEventSlim();
        var last = new TaskCompletionSource();
        List<int> done = [];
        Assert.Null(work.Run(() => release.Wait(Patience.Limit)));
        LinkedListNode<Action>[] places = [.. Enumerable.Range(0, 3).Select(step => work.Run(() => done.Add(step))!)];
        work.Run(last.SetResult);

        Assert.True(work.TryTakeBack(places[1]));
        Assert.False(work.TryTakeBack(places[1]));
        Assert.Equal(3, work.WaitingCount);
        release.Set();
        await last.Task.InTimeAsync();

        Assert.Equal([0, 2], done);
        Assert.False(work.TryTakeBack(places[0]));
        Assert.Equal(0, work.WaitingCount);
    }
}
