using System.Globalization;
using System.Text.Json;
using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Measuring;

/// <summary>
/// FastPort's own latency report, from its own load client: round trip, the server's part of it, and the network's, which is the rest.
/// Nobody else in a comparison measures those.
/// </summary>
internal sealed class LatencyReportRun(Candidate candidate, int connections, int inFlight, int payloadBytes, ScenarioContext context)
{
    private static readonly (string Title, string Key)[] Latencies = [
        ("round trip", "rtt_us"), ("server", "server_us"), ("network", "network_us")];

    private static readonly (string Title, string Key)[] Columns =
        [("min us", "min"), ("avg us", "avg"), ("P50 us", "p50"), ("P95 us", "p95"), ("P99 us", "p99"), ("max us", "max"),
            ("P99/avg", "p99_over_avg")];

    private readonly ShippedClient _client = new(context);

    /// <summary>Why it cannot be run; null where it can.</summary>
    public string? Missing() => candidate.Missing() ?? _client.Missing();

    /// <summary>Runs the client as often as everybody is measured.</summary>
    /// <exception cref="ComparisonException">A program did not start, or a run failed.</exception>
    public async Task<ReportTable> RunAsync(string title, CancellationToken cancellation)
    {
        string[] load =
        [
            "--connections", Invariant.Text(connections), "--in-flight", Invariant.Text(inFlight), "--size", Invariant.Text(payloadBytes),
        ];
        using ServerProcess server = await ServerProcess.StartAsync(candidate, context.Bench, cancellation);
        var runs = new List<JsonElement>();
        for (int run = 0; run < context.Options.Repetitions; run++)
        {
            context.Progress($"{title}: FastPort.Client {run + 1}/{context.Options.Repetitions}");
            runs.Add(await _client.RunAsync(server, load, cancellation));
        }

        return new ReportTable(
            ["workload", "FastPort's latency report: median (min - max)", .. Columns.Select(static column => column.Title)],
            [.. Latencies.Select(latency => Row(title, latency.Title, [.. runs.Select(run => run.GetProperty(latency.Key))]))]);
    }

    private static IReadOnlyList<string> Row(string workload, string title, IReadOnlyList<JsonElement> runs) =>
        [workload, title, .. Columns.Select(column => Cell(Spread.Of(runs.Select(run => run.GetProperty(column.Key).GetDouble()))))];

    private static string Cell(Spread spread) =>
        string.Create(CultureInfo.InvariantCulture, $"{spread.Median:N2} ({spread.Min:N2} - {spread.Max:N2})");
}
