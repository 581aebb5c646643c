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
    public static HoldResult Read(string output) => ResultLine.Read<HoldResult>(output, "the load client");

    public void Dispose()
    {
        // Each run ends its own processes.
    }

    private Task<string> RunAsync(IReadOnlyList<string> command, CancellationToken cancellation) => context.Bench.RunAsync(
        "the load client", context.Bench.Pinning.On(context.Bench.Pinning.Client, command), GraceSeconds + holdSeconds, cancellation);

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
