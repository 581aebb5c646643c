using FastPort.Transports.Epoll.Loop;
using Xunit;

namespace FastPort.Core.Tests.Transports.Epoll.Loop;

public sealed class LoopInboxTests
{
    [Fact]
    public void Tasks_run_in_the_order_in_which_they_were_added()
    {
        var inbox = new LoopInbox();
        List<int> ran = [];
        for (int i = 0; i < 10; i++)
        {
            inbox.Add(new Recorded(ran, i));
        }

        inbox.RunAll();

        Assert.Equal(Enumerable.Range(0, 10), ran);
        Assert.True(inbox.IsEmpty);
    }

    [Fact]
    public void A_task_that_is_added_while_it_runs_waits_for_the_next_round()
    {
        var inbox = new LoopInbox();
        int runs = 0;
        Repeated task = null!;
        task = new Repeated(() =>
        {
            runs++;
            inbox.Add(task);
        });
        inbox.Add(task);

        inbox.RunAll();
        Assert.Equal(1, runs);
        inbox.RunAll();
        Assert.Equal(2, runs);
    }

    [Fact]
    public async Task Nothing_is_lost_and_every_thread_keeps_its_order()
    {
        const int Threads = 4;
        const int Each = 20_000;
        var inbox = new LoopInbox();
        List<int> ran = [];
        Task[] adders = [.. Enumerable.Range(0, Threads).Select(thread => Task.Run(() =>
        {
            for (int i = 0; i < Each; i++)
            {
                inbox.Add(new Recorded(ran, (thread * Each) + i));
            }
        }))];
        while (ran.Count < Threads * Each)
        {
            inbox.RunAll();
        }

        await Task.WhenAll(adders);
        foreach (IGrouping<int, int> thread in ran.GroupBy(static value => value / Each))
        {
            Assert.Equal(Enumerable.Range(thread.Key * Each, Each), thread);
        }
    }

    private sealed class Recorded(List<int> ran, int value) : ILoopTask
    {
        public ILoopTask? Next { get; set; }

        public void RunOnLoop() => ran.Add(value);
    }

    private sealed class Repeated(Action run) : ILoopTask
    {
        public ILoopTask? Next { get; set; }

        public void RunOnLoop() => run();
    }
}
