using System.Text.Json;
using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Measuring;

/// <summary>
/// A server and many connections that do nothing, in a client process of their own. Memory once taken is seldom given back, so every run
/// has a fresh server: it echoes for a while on a few connections, then its memory is read before and after the many, each of which echoes
/// once at the beginning and once at the end.
/// </summary>
internal sealed class IdleContestant(
    Candidate candidate, int connections, double holdSeconds, NativePrograms native, ScenarioContext context) : IContestant
{
    private const int WarmingConnections = 32;
    private const int WarmingInFlight = 16;
    private const int PayloadBytes = 64;
    private const double GraceSeconds = 120;

    private static readonly JsonSerializerOptions Format = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower,
        RespectRequiredConstructorParameters = true,
    };

    private static readonly Dictionary<string, string> NoEnvironment = new(StringComparer.Ordinal);

    public string Name => candidate.Name;

    public string? Missing() => candidate.Missing() ?? native.Missing(native.EchoLoad);

    public Task StartAsync(CancellationToken cancellation) => Task.CompletedTask;

    public async Task<Figures> MeasureAsync(CancellationToken cancellation)
    {
        using ServerProcess server = await ServerProcess.StartAsync(candidate, context.Bench, cancellation);
        var warming = new EchoLoad(context.Bench, native, WarmingConnections, WarmingInFlight, PayloadBytes);
        await RunAsync(warming.Command(server, 0, context.Options.WarmupSeconds), cancellation);

        var held = new EchoLoad(context.Bench, native, connections, 1, PayloadBytes);
        string output = await RunAsync([.. held.Command(server, 0, 1), "--hold", Invariant.Text(holdSeconds)], cancellation);
        HoldResult result = Read(output);
        long growthKb = result.ServerRssHeldKb - result.ServerRssBeforeKb;
        return new Figures
        {
            [Metric.RssBefore] = result.ServerRssBeforeKb / 1024.0,
            [Metric.RssGrowth] = growthKb / 1024.0,
            [Metric.RssPerConnection] = growthKb * 1024.0 / connections,
            [Metric.IdleCpuShare] = result.ServerCpuS / result.Seconds,
            [Metric.ServerPeakRss] = result.ServerPeakRssKb / 1024.0,
            [Metric.ClientPeakRss] = result.ClientPeakRssKb / 1024.0,
        };
    }

    /// <summary>Reads what the load client has printed.</summary>
    /// <exception cref="ComparisonException">It is no result.</exception>
    public static HoldResult Read(string output)
    {
        try
        {
            return JsonSerializer.Deserialize<HoldResult>(output, Format) ?? throw new JsonException("null");
        }
        catch (JsonException exception)
        {
            throw new ComparisonException($"the load client printed no result but: {output}", exception);
        }
    }

    public void Dispose()
    {
        // Each run ends its own processes.
    }

    private async Task<string> RunAsync(IReadOnlyList<string> command, CancellationToken cancellation)
    {
        using ChildProcess run = context.Bench.Children.Start(
            context.Bench.Pinning.On(context.Bench.Pinning.Client, command), context.Bench.TemporaryFolder, NoEnvironment);
        try
        {
            await run.WaitForExitAsync(cancellation).WaitAsync(TimeSpan.FromSeconds(GraceSeconds + holdSeconds), cancellation);
        }
        catch (TimeoutException exception)
        {
            throw new ComparisonException($"the load client did not end in time ({string.Join(' ', command)})", exception);
        }

        return run.ExitCode == 0 ? run.Output()
            : throw new ComparisonException($"the load client ended with exit code {run.ExitCode}: {run.Errors()}");
    }

    /// <summary>What the load client prints after it has held its connections.</summary>
    internal sealed record HoldResult
    {
        public required double Seconds { get; init; }

        public required double ServerCpuS { get; init; }

        public required long ServerRssBeforeKb { get; init; }

        public required long ServerRssHeldKb { get; init; }

        public required long ServerPeakRssKb { get; init; }

        public required long ClientPeakRssKb { get; init; }
    }
}
