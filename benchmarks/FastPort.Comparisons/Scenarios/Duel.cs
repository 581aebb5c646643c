using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>
/// Measures a workload: fresh server processes, each warmed with the very load that follows, then runs that alternate between them, so that what
/// disturbs the machine for a while disturbs both.
/// </summary>
internal sealed class Duel(ScenarioContext context)
{
    private readonly HashSet<string> _missing = new(StringComparer.Ordinal);

    /// <summary>Measures a workload; a failure ends this workload alone.</summary>
    public async Task<WorkloadReport> RunAsync(Workload workload, CancellationToken cancellation)
    {
        var notes = new List<string>();
        var runs = new List<(Candidate Candidate, List<LoadResult> Results)>();
        string? failure = null;
        try
        {
            foreach (Candidate candidate in Present(workload, notes))
            {
                runs.Add((candidate, []));
            }

            await MeasureAsync(workload.Shape, runs, cancellation);
        }
        catch (ComparisonException exception)
        {
            failure = exception.Message;
            context.Progress($"FAILED {workload.Shape.Title}: {failure}");
        }

        return WorkloadReport.Create(workload, runs, notes, failure);
    }

    // The subject has to be there; a missing reference leaves the subject's figures without a ratio.
    private List<Candidate> Present(Workload workload, List<string> notes)
    {
        if (workload.Subject.Missing() is { } missingSubject)
        {
            throw new ComparisonException(missingSubject);
        }

        if (workload.Reference.Missing() is not { } missing)
        {
            return [workload.Subject, workload.Reference];
        }

        if (context.Options.MissingIsError)
        {
            throw new ComparisonException(missing);
        }

        notes.Add($"skipped: {missing}");
        if (_missing.Add(workload.Reference.Name))
        {
            context.Progress($"skipped: {missing}");
        }

        return [workload.Subject];
    }

    private async Task MeasureAsync(LoadShape shape, List<(Candidate Candidate, List<LoadResult> Results)> runs, CancellationToken cancellation)
    {
        var servers = new List<ServerProcess>();
        try
        {
            foreach ((Candidate candidate, _) in runs)
            {
                ServerProcess server = await ServerProcess.StartAsync(candidate, context.Bench, cancellation);
                servers.Add(server);
                context.Progress($"{shape.Title}: warming {candidate.Name} for {context.Options.WarmupSeconds} s");
                await context.Client.WarmUpAsync(server, shape, context.Options.WarmupSeconds, cancellation);
            }

            for (int repetition = 1; repetition <= context.Options.Repetitions; repetition++)
            {
                for (int i = 0; i < runs.Count; i++)
                {
                    LoadResult result = await context.Client.MeasureAsync(servers[i], shape, context.Options.Seconds, cancellation);
                    runs[i].Results.Add(result);
                    context.Progress(
                        $"{shape.Title}: {runs[i].Candidate.Name} {repetition}/{context.Options.Repetitions}: {result.MessagesPerS:N0} messages/s, " +
                        $"p50 {result.P50Us:N1} us, server {result.ServerCpuUsPerMessage:N2} us CPU/message");
                }
            }
        }
        finally
        {
            foreach (ServerProcess server in servers)
            {
                server.Dispose();
            }
        }
    }
}
