using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Measuring;

/// <summary>
/// Two sides that send messages to each other: two processes, or one process that is both. They live until the contestant ends; a run is
/// asked for by a line to the server, and each side answers with what it has counted.
/// </summary>
internal sealed class MessagingContestant(MessagingPeer peer, int messageBytes, bool lockStep, ScenarioContext context) : IContestant
{
    private static readonly TimeSpan StartLimit = TimeSpan.FromSeconds(30);

    /// <summary>What a run may take beyond its time: the messages still on their way.</summary>
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(60);

    private Conversation? _server;
    private Conversation? _client;

    public string Name => peer.Name;

    public string? Missing() => peer.Missing();

    public async Task StartAsync(CancellationToken cancellation)
    {
        CpuPinning pinning = context.Bench.Pinning;
        bool apart = peer.Client is not null && peer.IsPinned;
        _server = Conversation.Start(
            $"{Name}'s server", pinning.On(apart ? pinning.Server : pinning.Both, peer.Server), context.Bench);
        var endpoints = new List<string>();
        while (endpoints.Count < peer.Endpoints)
        {
            if (ListeningLine.Read(await _server.HearAsync(StartLimit, cancellation)) is { } endpoint)
            {
                endpoints.Add(endpoint);
            }
        }

        if (peer.Client is not null)
        {
            _client = Conversation.Start(
                $"{Name}'s client", pinning.On(apart ? pinning.Client : pinning.Both, peer.Client(endpoints)), context.Bench);
        }

        string line = await HearServerAsync(StartLimit, cancellation);
        if (line != "ready")
        {
            throw new ComparisonException($"{Name} said '{line}' instead of 'ready'");
        }

        await RunAsync(0, peer.IsManaged ? context.Options.WarmupSeconds : context.Options.LeadInSeconds, cancellation);
    }

    public async Task<Figures> MeasureAsync(CancellationToken cancellation)
    {
        double seconds = context.Options.Seconds;
        var others = new OtherCpu(context.Bench.Pinning, OwnSeconds);
        (SideResult server, SideResult client) = await RunAsync(context.Options.LeadInSeconds, seconds, cancellation);
        double? otherShare = others.Share();
        if (server.Messages != client.Messages)
        {
            throw new ComparisonException($"{server.Messages} messages were sent and {client.Messages} have come");
        }

        // One way, what counts is when messages arrive; in lock-step both sides see the same.
        double rate = lockStep ? server.Messages / server.Seconds : client.Messages / client.Seconds;
        bool apart = _client is not null;
        return new Figures
        {
            [Metric.Throughput] = rate,
            [Metric.Megabytes] = rate * messageBytes / 1e6,
            [Metric.ServerCpuPerMessage] = server.CpuS * 1e6 / server.Messages,
            [Metric.ClientCpuPerMessage] = apart ? client.CpuS * 1e6 / client.Messages : null,
            [Metric.RoundTripP50] = server.P50Us,
            [Metric.RoundTripP95] = server.P95Us,
            [Metric.RoundTripP99] = server.P99Us,
            [Metric.RoundTripMax] = server.MaxUs,
            [Metric.ServerCpuShare] = server.CpuS / server.Seconds,
            [Metric.ClientCpuShare] = apart ? client.CpuS / client.Seconds : null,
            [Metric.ServerPeakRss] = server.PeakRssKb / 1024.0,
            [Metric.ClientPeakRss] = apart ? client.PeakRssKb / 1024.0 : null,
            [Metric.OtherCpuShare] = otherShare,
        };
    }

    public void Dispose()
    {
        _client?.Dispose();
        _server?.Dispose();
    }

    private async Task<(SideResult Server, SideResult Client)> RunAsync(double leadIn, double seconds, CancellationToken cancellation)
    {
        await _server!.SayAsync($"run {Invariant.Text(leadIn)} {Invariant.Text(seconds)}");
        TimeSpan limit = TimeSpan.FromSeconds(leadIn + seconds) + Grace;
        SideResult first = SideResult.Read(await HearServerAsync(limit, cancellation));
        SideResult second = SideResult.Read(await (_client ?? _server).HearAsync(limit, cancellation));
        return first.Side == "server" ? (first, second) : (second, first);
    }

    /// <summary>The server's next line; a client that ends meanwhile has said why, and the server would be waited for in vain.</summary>
    private async Task<string> HearServerAsync(TimeSpan limit, CancellationToken cancellation)
    {
        Task<string> line = _server!.HearAsync(limit, cancellation);
        if (_client is not null && await Task.WhenAny(line, _client.Ended) != line)
        {
            throw new ComparisonException($"{Name}'s client has ended; it said: {_client.Errors()}; the server said: {_server.Errors()}");
        }

        return await line;
    }

    private double OwnSeconds() =>
        CoreMeter.ProcessSeconds(_server!.Id) + (_client is null ? 0 : CoreMeter.ProcessSeconds(_client.Id));
}
