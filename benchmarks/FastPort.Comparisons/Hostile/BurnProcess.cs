using System.Diagnostics;

namespace FastPort.Comparisons.Hostile;

/// <summary>A process that uses up a share of a core and connects to nobody: what attackers cost by being there, and no more.</summary>
internal static class BurnProcess
{
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(1);

    /// <summary>Burns until its input ends.</summary>
    /// <param name="share">CPU time in a second.</param>
    /// <param name="limit">It ends by then.</param>
    /// <param name="cancellation">Ends it.</param>
    public static async Task<int> RunAsync(double share, TimeSpan limit, CancellationToken cancellation)
    {
        Task told = ProcessInput.EndAsync();
        using var timer = new PeriodicTimer(Pause);
        long begun = Stopwatch.GetTimestamp();
        TimeSpan burnt = Environment.CpuUsage.TotalTime;
        while (!told.IsCompleted && Stopwatch.GetElapsedTime(begun) is var elapsed && elapsed < limit)
        {
            while (Environment.CpuUsage.TotalTime - burnt < elapsed * share && Stopwatch.GetElapsedTime(begun) < elapsed + Pause * 10)
            {
                // Burns.
            }

            await timer.WaitForNextTickAsync(cancellation);
        }

        return ExitCode.Good;
    }
}
