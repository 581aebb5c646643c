using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Measuring;

/// <summary>
/// A server and a client that asks it, perhaps through a bridge, a process each, which live through all runs: the client is asked for each
/// run by a line and answers with a <see cref="LoadResult"/>.
/// </summary>
internal sealed class OpcUaPair(Candidate server, OpcUaClientCommand client, ScenarioContext context) : IContestant
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);

    /// <summary>What a run may take beyond its time: the requests still under way.</summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(60);

    private static readonly Dictionary<string, string> NoEnvironment = new(StringComparer.Ordinal);

    private ServerProcess? _server;
    private ServerProcess? _bridge;
    private Conversation? _client;

    public required string Name { get; init; }

    /// <summary>The bridge in front of the server, from the server's URL; null for none. Defaults to null.</summary>
    public Func<string, Candidate>? Bridge { get; init; }

    public string? Missing() => server.Missing() ?? Bridge?.Invoke("").Missing() ?? client.Missing();

    public async Task StartAsync(CancellationToken cancellation)
    {
        _server = await ServerProcess.StartAsync(server, context.Bench, cancellation);
        _bridge = Bridge is null ? null : await ServerProcess.StartAsync(Bridge(_server.Endpoint), context.Bench, cancellation);
        _client = Conversation.Start(
            $"{Name}'s client",
            context.Bench.Pinning.On(
                client.Cores, client.Command(new AskedServer((_bridge ?? _server).Endpoint, _server.Id, _bridge?.Id))),
            NoEnvironment,
            context.Bench);
        string line = await _client.HearAsync(StartLimit, cancellation);
        if (line != "ready")
        {
            throw new ComparisonException($"{Name}'s client said '{line}' instead of 'ready'");
        }

        await RunAsync(0, context.Options.WarmupSeconds, static _ => { }, cancellation);
    }

    public async Task<Figures> MeasureAsync(CancellationToken cancellation)
    {
        double busy = CoreMeter.BusySeconds(context.Bench.Pinning.Both) - OwnSeconds();
        long begun = TimeProvider.System.GetTimestamp();
        LoadResult run = await RunAsync(context.Options.LeadInSeconds, context.Options.Seconds, context.Progress, cancellation);
        double elapsed = TimeProvider.System.GetElapsedTime(begun).TotalSeconds;
        busy = CoreMeter.BusySeconds(context.Bench.Pinning.Both) - OwnSeconds() - busy;
        var figures = Figures.Of(run);
        figures[Metric.Tags] = client.TagsPerRequest > 0 ? run.MessagesPerS * client.TagsPerRequest : null;
        figures[Metric.Mebibits] = client.PackageBytes > 0 ? run.MessagesPerS * client.PackageBytes * 8 / (1 << 20) : null;
        figures[Metric.Mebibytes] = figures[Metric.Mebibits] / 8;
        figures[Metric.BothCpuPerMessage] = (run.ClientCpuS + run.ServerCpuS) * 1e6 / run.Messages;
        figures[Metric.ClientAllocated] = (double?)run.ClientAllocatedBytes / run.Messages;
        figures[Metric.ServerAllocated] = (double?)run.ServerAllocatedBytes / run.Messages;
        figures[Metric.OtherCpuShare] = context.Bench.Pinning.IsPinned ? Math.Max(0, busy / elapsed) : null;
        return figures;
    }

    public void Dispose()
    {
        _client?.Dispose();
        _bridge?.Dispose();
        _server?.Dispose();
    }

    private async Task<LoadResult> RunAsync(double leadIn, double seconds, Action<string> progress, CancellationToken cancellation)
    {
        await _client!.SayAsync($"run {Invariant.Text(leadIn)} {Invariant.Text(seconds)}");
        while (true)
        {
            string line = await _client.HearAsync(TimeSpan.FromSeconds(leadIn + seconds) + Grace, cancellation);
            if (!line.StartsWith("Rate", StringComparison.Ordinal))
            {
                return LoadResult.Read(line);
            }

            progress($"{Name}: {line}");
        }
    }

    private double OwnSeconds() => CoreMeter.ProcessSeconds(_server!.Id) + CoreMeter.ProcessSeconds(_client!.Id)
        + (_bridge is null ? 0 : CoreMeter.ProcessSeconds(_bridge.Id));
}

/// <summary>How a client of the OPC UA comparison is started.</summary>
/// <param name="Command">Executable and arguments without pinning.</param>
/// <param name="Missing">Says why it cannot be run, or null where it can.</param>
internal sealed record OpcUaClientCommand(Func<AskedServer, IReadOnlyList<string>> Command, Func<string?> Missing)
{
    /// <summary>Cores it runs on; none where nothing is pinned.</summary>
    public required IReadOnlyList<int> Cores { get; init; }

    /// <summary>Tags of a request; 0 for none.</summary>
    public int TagsPerRequest { get; init; }

    /// <summary>Bytes of a package; 0 for none.</summary>
    public int PackageBytes { get; init; }
}

/// <summary>Whom a client asks.</summary>
/// <param name="Url">Where the server, or the bridge in front of it, listens.</param>
/// <param name="ServerId">The server's process id.</param>
/// <param name="BridgeId">The bridge's; null for none.</param>
internal sealed record AskedServer(string Url, int ServerId, int? BridgeId);
