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
    private const double GraceSeconds = 60;

    private static readonly Dictionary<string, string> NoEnvironment = new(StringComparer.Ordinal);

    private static readonly (string Title, string Key)[] Latencies = [
        ("round trip", "rtt_us"), ("server", "server_us"), ("network", "network_us")];

    private static readonly (string Title, string Key)[] Columns =
        [("min us", "min"), ("avg us", "avg"), ("P50 us", "p50"), ("P95 us", "p95"), ("P99 us", "p99"), ("max us", "max"),
            ("P99/avg", "p99_over_avg")];

    private readonly string _client = context.Bench.Programs.Find("src", "FastPort.Client");

    /// <summary>Why it cannot be run; null where it can.</summary>
    public string? Missing() => candidate.Missing() ?? ProgramLocator.MissingAssembly("FastPort.Client", _client);

    /// <summary>Runs the client as often as everybody is measured.</summary>
    /// <exception cref="ComparisonException">A program did not start, or a run failed.</exception>
    public async Task<ReportTable> RunAsync(string title, CancellationToken cancellation)
    {
        using ServerProcess server = await ServerProcess.StartAsync(candidate, context.Bench, cancellation);
        var runs = new List<JsonElement>();
        for (int run = 0; run < context.Options.Repetitions; run++)
        {
            context.Progress($"{title}: FastPort.Client {run + 1}/{context.Options.Repetitions}");
            runs.Add(await RunAsync(server, cancellation));
        }

        return new ReportTable(
            ["workload", "FastPort's latency report: median (min - max)", .. Columns.Select(static column => column.Title)],
            [.. Latencies.Select(latency => Row(title, latency.Title, [.. runs.Select(run => run.GetProperty(latency.Key))]))]);
    }

    private static IReadOnlyList<string> Row(string workload, string title, IReadOnlyList<JsonElement> runs) =>
        [workload, title, .. Columns.Select(column => Cell(Spread.Of(runs.Select(run => run.GetProperty(column.Key).GetDouble()))))];

    private static string Cell(Spread spread) =>
        string.Create(CultureInfo.InvariantCulture, $"{spread.Median:N2} ({spread.Min:N2} - {spread.Max:N2})");

    // Each run is a process of its own, so each is warmed.
    private async Task<JsonElement> RunAsync(ServerProcess server, CancellationToken cancellation)
    {
        string file = context.Bench.NewPath("load.json");
        double seconds = context.Options.Seconds;
        double warmup = context.Options.WarmupSeconds;
        string[] command =
        [
            ProgramLocator.DotNetHost, _client, "load", "--server", server.Endpoint, "--connections", Invariant.Text(connections),
            "--in-flight", Invariant.Text(inFlight),
            "--size", Invariant.Text(payloadBytes), "--warmup", $"{Invariant.Text(warmup)}s", "--duration", $"{Invariant.Text(seconds)}s",
            "--json", file, "--no-progress",
        ];
        using ChildProcess run = context.Bench.Children.Start(
            context.Bench.Pinning.On(context.Bench.Pinning.Client, command), context.Bench.TemporaryFolder, NoEnvironment);
        try
        {
            await run.WaitForExitAsync(cancellation).WaitAsync(TimeSpan.FromSeconds(warmup + seconds + GraceSeconds), cancellation);
        }
        catch (TimeoutException exception)
        {
            throw new ComparisonException($"FastPort.Client did not end in time ({string.Join(' ', command)})", exception);
        }

        if (run.ExitCode != 0)
        {
            throw new ComparisonException($"FastPort.Client ended with exit code {run.ExitCode}: {run.Errors()}");
        }

        try
        {
            using JsonDocument result = JsonDocument.Parse(await File.ReadAllTextAsync(file, cancellation));
            long errors = result.RootElement.GetProperty("errors").GetInt64();
            return errors == 0 ? result.RootElement.Clone() : throw new ComparisonException($"FastPort.Client counted {errors} errors");
        }
        catch (Exception exception) when (exception is IOException or JsonException or KeyNotFoundException or InvalidOperationException)
        {
            throw new ComparisonException($"FastPort.Client wrote no result that can be read: {exception.Message}", exception);
        }
    }
}
