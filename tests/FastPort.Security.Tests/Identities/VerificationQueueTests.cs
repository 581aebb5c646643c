using System.Collections.Concurrent;
using FastPort.Core.Tests.Support;
using FastPort.Security.Identities;
using Xunit;

namespace FastPort.Security.Tests.Identities;

public sealed class VerificationQueueTests
{
    [Fact]
    public async Task Verifications_run_on_a_few_threads_of_their_own()
    {
        using VerificationQueue queue = new();
        ConcurrentDictionary<Thread, int> threads = new();

        int[] results = await Task.WhenAll(Enumerable.Range(0, 100).Select(i => queue.RunAsync(
            () =>
            {
                threads[Thread.CurrentThread] = i;
                return Task.FromResult(i);
            },
            CancellationToken.None))).InTimeAsync();

        Assert.Equal(Enumerable.Range(0, 100), results);
        Assert.InRange(threads.Count, 1, VerificationQueue.Places);
        Assert.All(threads.Keys, static thread => Assert.False(thread.IsThreadPoolThread));
    }

    [Fact]
    public async Task One_whose_peer_has_gone_before_its_turn_does_not_run()
    {
        using VerificationQueue queue = new();
        using ManualResetEventSlim go = new();
        using CancellationTokenSource gone = new();
        Task<int>[] blocking =
        [
            .. Enumerable.Range(0, VerificationQueue.Places).Select(_ => queue.RunAsync(
                () =>
                {
                    go.Wait(Patience.Token);
                    return Task.FromResult(1);
                },
                CancellationToken.None)),
        ];
        bool hasRun = false;
        Task<bool> waiting = queue.RunAsync(() => Task.FromResult(hasRun = true), gone.Token);

        await gone.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting);
        go.Set();

        await Task.WhenAll(blocking).InTimeAsync();
        Assert.False(hasRun);
    }

    [Fact]
    public async Task A_failure_is_the_callers_and_the_next_one_runs()
    {
        using VerificationQueue queue = new();

        await Assert.ThrowsAsync<InvalidOperationException>(
            () => queue.RunAsync<int>(static () => throw new InvalidOperationException("no"), CancellationToken.None));

        Assert.Equal(7, await queue.RunAsync(static () => Task.FromResult(7), CancellationToken.None).InTimeAsync());
    }
}
