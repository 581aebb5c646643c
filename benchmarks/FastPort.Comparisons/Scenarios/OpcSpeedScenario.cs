using System.Globalization;
using FastPort.Comparisons.Measuring;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Scenarios;

/// <summary>
/// How many items a second come by reads (OPCSPEED's question): in one process, on one machine, through the bridge, between two networks;
/// and how many by subscription.
/// </summary>
internal sealed class OpcSpeedScenario : IScenario
{
    public string Name => "opcspeed";

    public string Description =>
        "OPC UA reads of 100 items and of one, in one process, between processes and between networks; changes by subscription.";

    public async Task<ScenarioReport> RunAsync(ScenarioContext context, CancellationToken cancellation)
    {
        OpcSpeedRow[] rows = [.. OpcSpeedRow.All(context.Options.Quick).Where(row => context.Options.Selects(row.Title))];
        string? problem = null;
        NetworkPair? network = null;
        try
        {
            if (rows.Any(static row => row.Place == OpcSpeedPlace.Remote))
            {
                network = await NetworkPair.OpenAsync(context.Bench, cancellation);
            }
        }
        catch (ComparisonException exception)
        {
            // The machine's doing, not that of a peer that is missing: nothing has failed.
            problem = exception.Message;
        }

        using (network)
        {
            var peers = new OpcSpeedPeers(context, network);
            var arena = new Arena(context.Options, context.Progress);
            var reports = new List<WorkloadReport>();
            foreach (OpcSpeedRow row in rows)
            {
                reports.Add(
                    row.Place == OpcSpeedPlace.Remote && problem is not null
                        ? Skipped(row, problem, context)
                        : WithTarget(row, await arena.RunAsync(new Workload(row.Title, [peers.Of(row)], []), cancellation)));
                context.EndPart(reports.Count, rows.Length);
            }

            return ReportOf(rows, reports, context);
        }
    }

    private static WorkloadReport Skipped(OpcSpeedRow row, string problem, ScenarioContext context)
    {
        context.Progress($"{row.Title}: skipped: {problem}");
        return new WorkloadReport
        {
            Title = row.Title,
            Contestants = [],
            Ratios = [],
            Notes = [$"skipped: {problem}"],
            Failures = [],
            NotMeasured = row.Target is null ? 0 : 1,
        };
    }

    private static WorkloadReport WithTarget(OpcSpeedRow row, WorkloadReport report) => row.Target is not { } target
        ? report
        : report with
        {
            Ratios = [.. report.Contestants.Select(one => RatioReport.ToTarget(target.Metric, target.AtLeast, one))],
            NotMeasured = report.Contestants.Count == 0 ? 1 : 0,
        };

    private ScenarioReport ReportOf(OpcSpeedRow[] rows, List<WorkloadReport> reports, ScenarioContext context) => new()
    {
        Name = Name,
        Description = Description,
        Method = string.Create(
            CultureInfo.InvariantCulture,
            $"{context.Options.Repetitions} runs of {context.Options.Seconds} s of each row, after {context.Options.WarmupSeconds} s of ")
            + "warm-up, one row after the other; "
            + (context.Bench.Pinning.IsPinned ? "server and client have a core each. " : "nothing pinned. ")
            + "Medians, of rates with the range of the runs. An item is a value with status and both timestamps, of 2,000 tags, half "
            + "Int32, 800 Double, 200 String, which all change four times a second; every value is checked as in `opcua`. A transaction is "
            + "a request with its response, encoded and decoded; CPU is a share of a core. In-process both ends are one process on both "
            + "cores, the client's CPU is that of both, and tags are read by registered ids. Several clients are sessions of one process, "
            + "with a connection each. Bridged, the server's CPU is the bridge's, and both servers share a core. Remote, server and client "
            + "have a network namespace each, joined by a veth pair, without a delay. "
            + "Of changes only, the items are the changes that the server has made in the time: each has come, once and in order, to the "
            + "one subscription, else the run fails.",
        Columns = [],
        Workloads = reports,
        Tables = [OpcSpeedTable.Of(rows, reports)],
    };
}
