using FastPort.Connections;
using Xunit;

namespace FastPort.Core.Tests.Connections;

/// <summary>How many steps of handshakes run at a time, and where.</summary>
public sealed class HandshakeWorkersTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task As_many_steps_run_at_a_time_as_allowed_and_all_run_in_order(int limit)
    {
        const int Steps = 5;
        var workers = new HandshakeWorkers(limit);
        using var held = new SemaphoreSlim(0);
        List<int> begun = [];
        int running = 0;
        int most = 0;
        int ended = 0;

        for (int i = 0; i < Steps; i++)
        {
            int number = i;
            workers.Add(new Step(() =>
            {
                lock (begun)
                {
                    begun.Add(number);
                    most = Math.Max(most, ++running);
                }

                Assert.False(Thread.CurrentThread.IsThreadPoolThread);
                Assert.True(HandshakeWorkers.IsWorker);
                held.Wait(Patience.Token);
                lock (begun)
                {
                    running--;
                    ended++;
                }
            }));
        }

        await Patience.UntilAsync(() => Count() == limit, "as many steps run as are allowed");
        held.Release(Steps);
        await Patience.UntilAsync(() => Volatile.Read(ref ended) == Steps, "all steps have run");

        Assert.Equal(limit, most);
        if (limit == 1)
        {
            Assert.Equal(Enumerable.Range(0, Steps), begun);
        }

        int Count()
        {
            lock (begun)
            {
                return begun.Count;
            }
        }
    }

    [Fact]
    public async Task A_step_that_is_added_by_a_step_runs()
    {
        var workers = new HandshakeWorkers(limit: 1);
        var ran = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

        workers.Add(new Step(() => workers.Add(new Step(ran.SetResult))));

        await ran.Task.InTimeAsync();
    }

    private sealed class Step(Action run) : IHandshakeStep
    {
        public void Run() => run();
    }
}
