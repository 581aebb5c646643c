using System.Diagnostics;
using System.Net.Sockets;
using System.Security.Authentication;

namespace FastPort.Comparisons.Hostile;

/// <summary>An attacker that does the same thing again and again: at most so often a second, and so many at the same time.</summary>
/// <param name="name">Name in reports.</param>
/// <param name="what">What is done.</param>
/// <param name="perSecond">How often a second it is begun at most.</param>
/// <param name="atOnce">How many are under way at most.</param>
/// <param name="act">Does it once. What it throws because the server refuses, resets or closes is counted.</param>
internal sealed class PacedAttacker(
    string name, string what, double perSecond, int atOnce, Func<AttackTarget, CancellationToken, Task> act) : IAttacker
{
    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(20);
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(3);

    public string Name => name;

    public string Description => FormattableString.Invariant($"{what}; {perSecond:0.##}/s, {atOnce} at a time");

    public async Task RunAsync(AttackTarget target, AttackCount count, CancellationToken ending)
    {
        using var free = new SemaphoreSlim(atOnce);
        var running = new HashSet<Task>();
        using var timer = new PeriodicTimer(Tick);
        long begun = Stopwatch.GetTimestamp();
        double done = 0;
        while (!ending.IsCancellationRequested)
        {
            double due = Stopwatch.GetElapsedTime(begun).TotalSeconds * perSecond;

            // What found no place in time is not made up for: the rate is a bound.
            for (done = Math.Max(done, due - Math.Max(1, perSecond / 10)); done + 1 <= due && free.Wait(0, ending); done++)
            {
                running.Add(OneAsync(target, count, free, ending));
            }

            running.RemoveWhere(static task => task.IsCompleted);
            await timer.WaitForNextTickAsync(ending).AsTask().ContinueWith(static _ => { }, TaskScheduler.Default);
        }

        await Task.WhenAny(Task.WhenAll(running), Task.Delay(EndLimit, CancellationToken.None));
    }

    private async Task OneAsync(AttackTarget target, AttackCount count, SemaphoreSlim free, CancellationToken ending)
    {
        count.Begin();
        try
        {
            await act(target, ending);
        }
        catch (OperationCanceledException) when (ending.IsCancellationRequested)
        {
            // The attack is over.
        }
        catch (Exception exception) when (IsRefusal(exception))
        {
            count.Refuse();
        }
        catch (Exception exception)
        {
            count.Tell(exception.Message);
        }
        finally
        {
            count.End();
            Release(free);
        }
    }

    // A late one may end after all others were given up.
    private static void Release(SemaphoreSlim free)
    {
        try
        {
            free.Release();
        }
        catch (ObjectDisposedException)
        {
            // Nobody waits for a place any more.
        }
    }

    private static bool IsRefusal(Exception exception) =>
        exception is SocketException or IOException or AuthenticationException or OperationCanceledException or ObjectDisposedException;
}
