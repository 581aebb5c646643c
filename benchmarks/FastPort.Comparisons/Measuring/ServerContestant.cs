using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Measuring;

/// <summary>A server under a load program's load: one server process a start, one client process a run.</summary>
internal sealed class ServerContestant(Candidate candidate, ILoadProgram load, ScenarioContext context) : IContestant
{
    /// <summary>What a run may take beyond its load: connecting, its last replies.</summary>
    private const double GraceSeconds = 60;

    private ServerProcess? _server;

    public string Name => candidate.Name;

    /// <summary>How a client that is compiled while it runs begins each of its runs: longer than one that need not be.</summary>
    public double LeadInSeconds { get; init; } = context.Options.LeadInSeconds;

    /// <summary>Whether the server's first run finds it as it has started. Defaults to false: load warms it.</summary>
    public bool IsCold { get; init; }

    /// <summary>What is reported of a run. Defaults to everything.</summary>
    public Func<LoadResult, Figures> Report { get; init; } = Figures.Of;

    public string? Missing() => candidate.Missing() ?? load.Missing();

    public async Task StartAsync(CancellationToken cancellation)
    {
        _server = await ServerProcess.StartAsync(candidate, context.Bench, cancellation);
        if (IsCold)
        {
            return;
        }

        await RunAsync(0, candidate.IsManaged ? context.Options.WarmupSeconds : context.Options.LeadInSeconds, cancellation);
    }

    public async Task<Figures> MeasureAsync(CancellationToken cancellation) =>
        Report(LoadResult.Read(await RunAsync(LeadInSeconds, context.Options.Seconds, cancellation)));

    public void Dispose() => _server?.Dispose();

    private async Task<string> RunAsync(double leadIn, double seconds, CancellationToken cancellation)
    {
        ServerProcess server = _server ?? throw new InvalidOperationException("The server has not been started.");
        IReadOnlyList<string> command = context.Bench.Pinning.On(load.Cores, load.Command(server, leadIn, seconds));
        try
        {
            return await context.Bench.RunAsync("the load client", command, leadIn + seconds + GraceSeconds, cancellation);
        }
        catch (ComparisonException exception) when (server.Errors() is { Length: > 0 } said)
        {
            throw new ComparisonException($"{exception.Message}; the server said: {said}", exception);
        }
    }
}
