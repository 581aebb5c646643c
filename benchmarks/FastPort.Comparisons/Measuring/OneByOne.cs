using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Measuring;

/// <summary>
/// Measures a workload's contestants one after the other, each with all its repetitions, of which the first is warm-up: no two runs of
/// different ones belong together, so ratios are those of the medians.
/// </summary>
/// <param name="options">How often everybody is measured, and whether one that is missing has failed.</param>
/// <param name="progress">Takes a line for each step.</param>
internal sealed class OneByOne(ComparisonOptions options, Action<string> progress)
{
    public async Task<WorkloadReport> RunAsync(Workload workload, CancellationToken cancellation)
    {
        var done = new List<ContestantReport>();
        var notes = new List<string>();
        var failures = new List<string>();
        foreach (IContestant contestant in workload.Contestants)
        {
            if (contestant.Missing() is { } missing)
            {
                (options.MissingIsError ? failures : notes).Add($"skipped: {missing}");
                progress($"{workload.Title}: skipped: {missing}");
            }
            else
            {
                await MeasureAsync(workload, contestant, done, failures, cancellation);
            }
        }

        return new WorkloadReport
        {
            Title = workload.Title,
            Contestants = done,
            Ratios = [.. workload.Questions.SelectMany(
                question => RatioReport.Create(question, done, hasOneClient: false, isPaired: false))],
            NotMeasured = workload.NotMeasured(done),
            Notes = notes,
            Failures = failures,
        };
    }

    private async Task MeasureAsync(
        Workload workload, IContestant contestant, List<ContestantReport> done, List<string> failures, CancellationToken cancellation)
    {
        using (contestant)
        {
            try
            {
                progress($"{workload.Title}: starting {contestant.Name}");
                await contestant.StartAsync(cancellation);
                var runs = new ContestantRuns(contestant);
                for (int repetition = 1; repetition <= options.Repetitions; repetition++)
                {
                    Figures figures = await contestant.MeasureAsync(cancellation);
                    progress($"{workload.Title}: {contestant.Name} {repetition}/{options.Repetitions}");
                    if (repetition > 1)
                    {
                        runs.Runs.Add(figures);
                    }
                }

                done.Add(ContestantReport.Create(runs));
            }
            catch (ComparisonException exception)
            {
                failures.Add($"{contestant.Name}: {exception.Message}");
                progress($"FAILED {workload.Title}: {contestant.Name}: {exception.Message}");
            }
        }
    }
}
