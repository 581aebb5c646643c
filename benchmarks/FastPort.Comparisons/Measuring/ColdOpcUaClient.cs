using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Measuring;

/// <summary>A client of OPC UA or of a bridge, a new process each run, that loads warm servers.</summary>
internal sealed class ColdOpcUaClient(
    IReadOnlyList<Func<string, Candidate>> servers, OpcUaClientCommand client, ScenarioContext context) : IContestant
{
    private ServerChain? _servers;

    public required string Name { get; init; }

    public string? Missing() => servers.Select(static server => server("").Missing()).FirstOrDefault(static missing => missing is not null)
        ?? client.Missing();

    public async Task StartAsync(CancellationToken cancellation)
    {
        _servers = await ServerChain.StartAsync(servers, context.Bench, cancellation);
        await RunAsync(context.Options.WarmupSeconds, cancellation);
    }

    public async Task<Figures> MeasureAsync(CancellationToken cancellation)
    {
        LoadResult run = await RunAsync(context.Options.Seconds, cancellation);
        Figures figures = ColdMetric.Of(run);
        figures[Metric.Tags] = figures[ColdMetric.Steady] * client.TagsPerRequest;
        return figures;
    }

    public void Dispose() => _servers?.Dispose();

    private async Task<LoadResult> RunAsync(double seconds, CancellationToken cancellation)
    {
        using Conversation conversation = await Conversation.StartReadyAsync(
            $"{Name}'s client", context.Bench.Pinning.On(client.Cores, client.Command(_servers!)), context.Bench, cancellation);
        return await conversation.RunAsync(0, seconds, cancellation);
    }
}
