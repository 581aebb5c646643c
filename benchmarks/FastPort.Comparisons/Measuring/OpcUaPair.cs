using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Measuring;

/// <summary>
/// Servers, each told where the one before it listens, and a client of the last, a process each, which live through all runs: the client is
/// asked for each run by a line and answers with a <see cref="LoadResult"/>. Without servers the client's process is both ends.
/// </summary>
internal sealed class OpcUaPair(IReadOnlyList<Func<string, Candidate>> servers, OpcUaClientCommand client, ScenarioContext context)
    : IContestant
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);

    /// <summary>What a run may take beyond its time: the requests still under way.</summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(60);

    private static readonly Dictionary<string, string> NoEnvironment = new(StringComparer.Ordinal);

    private ServerChain? _servers;
    private Conversation? _client;

    public required string Name { get; init; }

    public string? Missing() => servers.Select(static server => server("").Missing()).FirstOrDefault(static missing => missing is not null)
        ?? client.Missing();

    public async Task StartAsync(CancellationToken cancellation)
    {
        _servers = await ServerChain.StartAsync(servers, context.Bench, cancellation);
        _client = Conversation.Start(
            $"{Name}'s client",
            context.Bench.Pinning.On(client.Cores, client.Command(_servers)),
            NoEnvironment,
            context.Bench);
        string line = await _client.HearAsync(StartLimit, cancellation);
        if (line != "ready")
        {
            throw new ComparisonException($"{Name}'s client said '{line}' instead of 'ready'");
        }

        await RunAsync(0, context.Options.WarmupSeconds, cancellation);
    }

    public async Task<Figures> MeasureAsync(CancellationToken cancellation)
    {
        CoreTime cores = CoreMeter.Read(context.Bench.Pinning.Both);
        double own = OwnSeconds();
        long begun = TimeProvider.System.GetTimestamp();
        LoadResult run = await RunAsync(context.Options.LeadInSeconds, context.Options.Seconds, cancellation);
        double elapsed = TimeProvider.System.GetElapsedTime(begun).TotalSeconds;
        double others = CoreMeter.Read(context.Bench.Pinning.Both).OthersSince(cores, OwnSeconds() - own);
        if (servers.Count == 0)
        {
            // Of one process nobody can tell which end's it was.
            run = run with { ServerCpuS = double.NaN, ServerCpuUsPerMessage = double.NaN, ServerAllocatedBytes = null };
        }

        var figures = Figures.Of(run);
        figures[Metric.Tags] = client.TagsPerRequest > 0 ? run.MessagesPerS * client.TagsPerRequest : null;
        figures[Metric.Mebibits] = client.PackageBytes > 0 ? run.MessagesPerS * client.PackageBytes * 8 / (1 << 20) : null;
        figures[Metric.Mebibytes] = figures[Metric.Mebibits] / 8;
        figures[Metric.BothCpuPerMessage] = (run.ClientCpuS + run.ServerCpuS) * 1e6 / run.Messages;
        figures[Metric.ClientAllocated] = (double?)run.ClientAllocatedBytes / run.Messages;
        figures[Metric.ServerAllocated] = (double?)run.ServerAllocatedBytes / run.Messages;
        figures[Metric.OtherCpuShare] = context.Bench.Pinning.IsPinned ? others / elapsed : null;
        return figures;
    }

    public void Dispose()
    {
        _client?.Dispose();
        _servers?.Dispose();
    }

    private async Task<LoadResult> RunAsync(double leadIn, double seconds, CancellationToken cancellation)
    {
        await _client!.SayAsync($"run {Invariant.Text(leadIn)} {Invariant.Text(seconds)}");
        return LoadResult.Read(await _client.HearAsync(TimeSpan.FromSeconds(leadIn + seconds) + Grace, cancellation));
    }

    private double OwnSeconds() => _servers!.CpuSeconds + CoreMeter.ProcessSeconds(_client!.Id);
}

/// <summary>How a client of the OPC UA comparison is started.</summary>
/// <param name="Command">Executable and arguments without pinning, from the servers, the last of which it asks.</param>
/// <param name="Missing">Says why it cannot be run, or null where it can.</param>
internal sealed record OpcUaClientCommand(Func<ServerChain, IReadOnlyList<string>> Command, Func<string?> Missing)
{
    /// <summary>Cores it runs on; none where nothing is pinned.</summary>
    public required IReadOnlyList<int> Cores { get; init; }

    /// <summary>Tags of a request; 0 for none.</summary>
    public int TagsPerRequest { get; init; }

    /// <summary>Bytes of a package; 0 for none.</summary>
    public int PackageBytes { get; init; }
}
