using System.Globalization;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Measuring;

/// <summary>
/// Measures a workload: everybody is started and warmed, then runs alternate between them, so that what disturbs the machine for a while
/// disturbs all. Every second repetition goes backwards, so that nobody always follows the same one. Whoever fails is out, and the others
/// go on.
/// </summary>
/// <param name="options">How often everybody is measured, and whether one that is missing has failed.</param>
/// <param name="progress">Takes a line for each step.</param>
internal sealed class Arena(ComparisonOptions options, Action<string> progress)
{
    public async Task<WorkloadReport> RunAsync(Workload workload, CancellationToken cancellation)
    {
        var runs = new List<ContestantRuns>();
        var notes = new List<string>();
        var failures = new List<string>();
        foreach (IContestant contestant in workload.Contestants)
        {
            if (contestant.Missing() is not { } missing)
            {
                runs.Add(new ContestantRuns(contestant));
            }
            else
            {
                Skip(workload, missing, options.MissingIsError ? failures : notes);
            }
        }

        try
        {
            for (int repetition = 1; repetition <= options.Repetitions; repetition++)
            {
                int number = repetition;
                IEnumerable<ContestantRuns> turns = number % 2 == 0 ? Enumerable.Reverse(runs) : runs;
                if (number == 1 || workload.HasNewProcesses)
                {
                    // In the order of the turns: the time between warm-up and run affects the speed, so it alternates too.
                    await EachAsync(workload, turns, runs, failures, run => StartAsync(workload, run, cancellation));
                }

                await EachAsync(workload, turns, runs, failures, run => MeasureAsync(workload, run, number, cancellation));
            }
        }
        finally
        {
            foreach (IContestant contestant in workload.Contestants)
            {
                contestant.Dispose();
            }
        }

        return WorkloadReport.Create(workload, runs, notes, failures);
    }

    private void Skip(Workload workload, string missing, List<string> where)
    {
        // Several may lack the same.
        string what = $"skipped: {missing}";
        if (!where.Contains(what))
        {
            where.Add(what);
            progress($"{workload.Title}: {what}");
        }
    }

    private async Task EachAsync(
        Workload workload, IEnumerable<ContestantRuns> turns, List<ContestantRuns> runs, List<string> failures,
        Func<ContestantRuns, Task> act)
    {
        foreach (ContestantRuns run in turns.ToArray())
        {
            try
            {
                await act(run);
            }
            catch (ComparisonException exception)
            {
                // Fewer runs than the others have would look like any other median: it has no figures at all.
                runs.Remove(run);
                run.Contestant.Dispose();
                failures.Add($"{run.Contestant.Name}: {exception.Message}");
                progress($"FAILED {workload.Title}: {run.Contestant.Name}: {exception.Message}");
            }
        }
    }

    private async Task StartAsync(Workload workload, ContestantRuns run, CancellationToken cancellation)
    {
        // The processes of the run before, if there are any.
        run.Contestant.Dispose();
        progress($"{workload.Title}: starting and warming {run.Contestant.Name}");
        await run.Contestant.StartAsync(cancellation);
    }

    private async Task MeasureAsync(Workload workload, ContestantRuns run, int repetition, CancellationToken cancellation)
    {
        Figures figures = await run.Contestant.MeasureAsync(cancellation);
        run.Runs.Add(figures);
        IEnumerable<string> values = new[] { Metric.Throughput, Metric.RoundTripP50, Metric.ServerCpuPerMessage, Metric.RssGrowth }
            .Where(metric => figures.Values.ContainsKey(metric.Key))
            .Select(metric => $"{metric.Title} {figures.Values[metric.Key].ToString(metric.Format, CultureInfo.InvariantCulture)}");
        progress($"{workload.Title}: {run.Contestant.Name} {repetition}/{options.Repetitions}: {string.Join(", ", values)}");
    }
}

/// <summary>A contestant and what its runs have measured so far.</summary>
internal sealed record ContestantRuns(IContestant Contestant)
{
    public List<Figures> Runs { get; } = [];
}
