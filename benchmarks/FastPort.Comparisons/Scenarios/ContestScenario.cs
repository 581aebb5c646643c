using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>A scenario whose workloads are contests: the same load on everybody, and ratios between them.</summary>
internal abstract class ContestScenario : IScenario
{
    public abstract string Name { get; }

    public abstract string Description { get; }

    public virtual ScenarioDefaults Defaults => ScenarioDefaults.Usual;

    /// <summary>How it measures, beyond what holds for every scenario; full sentences.</summary>
    protected abstract string Method { get; }

    /// <summary>What its table shows; the first with its range, whatever it is.</summary>
    protected abstract IReadOnlyList<Metric> Columns { get; }

    public async Task<ScenarioReport> RunAsync(ScenarioContext context, CancellationToken cancellation)
    {
        var arena = new Arena(context.Options, context.Progress);
        var reports = new List<WorkloadReport>();
        int count = Selected().Count();
        foreach (Workload workload in Selected())
        {
            reports.Add(await arena.RunAsync(workload, cancellation));
            context.EndPart(reports.Count, count);
        }

        var tables = new List<ReportTable>();
        await AddOwnAsync(context, reports, tables, cancellation);

        return new ScenarioReport
        {
            Name = Name,
            Description = Description,
            Method = Method,
            Columns = [.. Columns.Select(metric => metric.Key)],
            Workloads = reports,
            Tables = tables,
        };

        // Each is made when its turn comes, and what it needs may end with it: to be counted, they are made twice.
        IEnumerable<Workload> Selected() => Workloads(context).Where(workload => context.Options.Selects(workload.Title));
    }

    /// <summary>Adds what is no contest. Defaults to nothing.</summary>
    protected virtual Task AddOwnAsync(
        ScenarioContext context, List<WorkloadReport> workloads, List<ReportTable> tables, CancellationToken cancellation) =>
        Task.CompletedTask;

    /// <summary>
    /// The workloads, in order. Contestants are made here and started one workload at a time. Enumerated a first time to be counted.
    /// </summary>
    protected abstract IEnumerable<Workload> Workloads(ScenarioContext context);
}
