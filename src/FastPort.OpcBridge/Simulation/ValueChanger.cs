using System.Diagnostics;
using Microsoft.Extensions.Hosting;

namespace FastPort.OpcBridge.Simulation;

/// <summary>Changes values at a rate, one variable after the other.</summary>
internal sealed class ValueChanger(SimulatedNodes nodes, int rate) : BackgroundService
{
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(10);

    // As many changes as the time that has passed asks for, so that a late step makes up for itself; but after a long pause, as of a
    // machine that slept, not for more than a second.
    protected override async Task ExecuteAsync(CancellationToken stoppingToken)
    {
        using var timer = new PeriodicTimer(Step);
        var watch = Stopwatch.StartNew();
        long done = 0;
        long skipped = 0;
        while (await timer.WaitForNextTickAsync(stoppingToken).ConfigureAwait(false))
        {
            long due = (long)(watch.Elapsed.TotalSeconds * rate) - skipped;
            skipped += Math.Max(due - done - rate, 0);
            for (due = Math.Min(due, done + rate); done < due && !stoppingToken.IsCancellationRequested; done++)
            {
                nodes.Change((int)(done % nodes.Count), (int)(1 + (done / nodes.Count)));
            }
        }
    }
}
