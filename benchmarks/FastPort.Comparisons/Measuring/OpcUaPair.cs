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
    private ServerChain? _servers;
    private Conversation? _client;

    public required string Name { get; init; }

    public string? Missing() => servers.Select(static server => server("").Missing()).FirstOrDefault(static missing => missing is not null)
        ?? client.Missing();

    public async Task StartAsync(CancellationToken cancellation)
    {
        _servers = await ServerChain.StartAsync(servers, context.Bench, cancellation);
        _client = await Conversation.StartReadyAsync(
            $"{Name}'s client", context.Bench.Pinning.On(client.Cores, client.Command(_servers)), context.Bench, cancellation);
        await _client.RunAsync(0, context.Options.WarmupSeconds, cancellation);
    }

    public async Task<Figures> MeasureAsync(CancellationToken cancellation)
    {
        var others = new OtherCpu(context.Bench.Pinning, OwnSeconds);
        LoadResult run = await _client!.RunAsync(context.Options.LeadInSeconds, context.Options.Seconds, cancellation);
        double? otherShare = others.Share();
        if (servers.Count == 0)
        {
            // Of one process nobody can tell which end's it was.
            run = run with { ServerCpuS = double.NaN, ServerCpuUsPerMessage = double.NaN, ServerAllocatedBytes = null };
        }

        var figures = Figures.Of(run);
        figures[Metric.Tags] = client.TagsPerRequest > 0 ? run.MessagesPerS * client.TagsPerRequest : null;
        figures[Metric.Mebibits] = client.PackageBytes > 0 ? run.MessagesPerS * client.PackageBytes * 8 / (1 << 20) : null;
        figures[Metric.BothCpuPerMessage] = (run.ClientCpuS + run.ServerCpuS) * 1e6 / run.Messages;
        figures[Metric.ClientAllocated] = (double?)run.ClientAllocatedBytes / run.Messages;
        figures[Metric.ServerAllocated] = (double?)run.ServerAllocatedBytes / run.Messages;
        figures[Metric.OtherCpuShare] = otherShare;
        return figures;
    }

    public void Dispose()
    {
        _client?.Dispose();
        _servers?.Dispose();
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
