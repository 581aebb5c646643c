using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Measuring;

/// <summary>
/// Who takes part at a fixed tick: a chain of servers, each told where the one before it listens, and a client of the last.
/// </summary>
/// <param name="Name">Name in the tables.</param>
/// <param name="Missing">Says why it cannot take part, or null where it can.</param>
internal sealed record TickCandidate(string Name, Func<string?> Missing)
{
    /// <summary>The servers in the order of their start, from the endpoint of the one before; the first gets an empty text.</summary>
    public required IReadOnlyList<Func<string, Candidate>> Servers { get; init; }

    /// <summary>
    /// The client, from the last server's endpoint. It says "ready", and answers <c>run TICKS</c> with a <see cref="TickResult"/>.
    /// </summary>
    public required Func<string, IReadOnlyList<string>> Client { get; init; }
}

/// <summary>A candidate's processes, which live through all repetitions: each is asked for by a line to the client.</summary>
internal sealed class TickContestant(TickCandidate candidate, ScenarioContext context) : IContestant
{
    private const double Mebi = 1 << 20;
    private const int TicksPerSecond = 10;

    /// <summary>What a repetition may take beyond its time: the last answers.</summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(60);

    private ServerChain? _servers;
    private Conversation? _client;

    public string Name => candidate.Name;

    public string? Missing() => candidate.Missing();

    public async Task StartAsync(CancellationToken cancellation)
    {
        _servers = await ServerChain.StartAsync(candidate.Servers, context.Bench, cancellation);
        IReadOnlyList<string> command = candidate.Client(_servers.Endpoint);
        _client = await Conversation.StartReadyAsync(
            $"{Name}'s client", context.Bench.Pinning.On(context.Bench.Pinning.Client, command), context.Bench, cancellation);
    }

    public async Task<Figures> MeasureAsync(CancellationToken cancellation)
    {
        int ticks = Math.Max(1, (int)Math.Round(context.Options.Seconds * TicksPerSecond));
        var others = new OtherCpu(context.Bench.Pinning, OwnSeconds);
        await _client!.SayAsync($"run {Invariant.Text(ticks)}");
        TimeSpan limit = TimeSpan.FromSeconds(context.Options.Seconds) + Grace;
        TickResult result = TickResult.Read(await _client.HearAsync(limit, cancellation));
        double? otherShare = others.Share();
        if (result.Errors > 0)
        {
            context.Progress($"{Name}: {result.Errors} of {result.Ticks} ticks failed; the first: {result.FirstError}");
        }

        Figures figures = FiguresOf(result);
        figures[Metric.OtherCpuShare] = otherShare;
        return figures;
    }

    public void Dispose()
    {
        _client?.Dispose();
        _servers?.Dispose();
    }

    /// <summary>The figures of what a client has printed.</summary>
    public static Figures FiguresOf(TickResult result) => new()
    {
        [TickMetric.ReadTags] = result.ReadTagsPerS,
        [TickMetric.WriteTags] = result.WriteTagsPerS,
        [TickMetric.Missed] = result.MissedTicks,
        [TickMetric.Errors] = result.Errors,
        [TickMetric.ReadP50] = result.ReadP50Us,
        [TickMetric.ReadP95] = result.ReadP95Us,
        [TickMetric.ReadP99] = result.ReadP99Us,
        [TickMetric.ReadMax] = result.ReadMaxUs,
        [TickMetric.ReadVariation] = result.ReadCv,
        [TickMetric.WriteP50] = result.WriteP50Us,
        [TickMetric.WriteP95] = result.WriteP95Us,
        [TickMetric.WriteP99] = result.WriteP99Us,
        [TickMetric.WriteMax] = result.WriteMaxUs,
        [TickMetric.DriftMean] = result.DriftMeanUs,
        [TickMetric.DriftP95] = result.DriftP95Us,
        [TickMetric.DriftMax] = result.DriftMaxUs,
        [TickMetric.CpuAverage] = result.CpuAverage * 100,
        [TickMetric.CpuP95] = result.CpuP95 * 100,
        [TickMetric.RssMax] = result.RssMaxBytes / Mebi,
        [TickMetric.RssGrowth] = result.RssGrowthBytes / Mebi,
        [TickMetric.HeapMax] = result.HeapMaxBytes / Mebi,
        [TickMetric.GcPause] = result.GcPauseMs,
    };

    private double OwnSeconds() => CoreMeter.ProcessSeconds(_client!.Id) + _servers!.CpuSeconds;
}
