using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Scenarios;

namespace FastPort.Comparisons.Measuring;

/// <summary>
/// Redis, servers and a load, a process each, which share both cores: the scheduler places them, as it does for everybody in the workload.
/// </summary>
internal sealed class NodesContestant(NodesSetup setup, ScenarioContext context) : IContestant
{
    private readonly List<ServerProcess> _nodes = [];
    private RedisServer? _redis;
    private Conversation? _load;

    public string Name => setup.Name;

    public string? Missing() => RedisServer.Missing() ?? context.Candidates.FastPort.Missing();

    public async Task StartAsync(CancellationToken cancellation)
    {
        IReadOnlyList<int> cores = context.Bench.Pinning.Both;
        _redis = await RedisServer.StartAsync(context.Bench, cancellation);
        for (int i = 0; i < setup.Nodes; i++)
        {
            Candidate server = setup.Rate > 0 ? context.Candidates.FastPortUnix : context.Candidates.FastPort;
            Candidate node = server with { Name = $"node {Invariant.Text(i)}", Cores = cores };
            node = node.With("FastPort__Routing__Relay", "true");
            if (setup.HasBackplane)
            {
                node = node.With("FastPort__Backplane__Connection", _redis.Connection)
                    .With("FastPort__Backplane__Node", $"node-{Invariant.Text(i)}");
            }

            _nodes.Add(await ServerProcess.StartAsync(node, context.Bench, cancellation));
        }

        string assembly = context.Bench.Programs.Find("benchmarks", "FastPortPeer");
        string[] size = ["--size", Invariant.Text(setup.Size)];
        string[] where = setup.Rate > 0
            ? ["churn", "--to", _nodes[0].Endpoint, "--rate", Invariant.Text(setup.Rate), "--senders", Invariant.Text(setup.Senders)]
            : _nodes.Count == 0
            ? ["publications", "--redis", _redis.Connection, "--in-flight", Invariant.Text(setup.Senders * setup.InFlight), .. size]
            : ["relays", "--from", _nodes[0].Endpoint, "--to", _nodes[^1].Endpoint, "--senders", Invariant.Text(setup.Senders),
                "--in-flight", Invariant.Text(setup.InFlight), .. size];
        int[] servers = [.. _nodes.Select(static node => node.Id), .. setup.CountsRedis ? (int[])[_redis.Id] : []];
        string[] command =
        [
            ProgramLocator.DotNetHost, assembly, .. where,
            .. servers.SelectMany(static id => (string[])["--server-pid", Invariant.Text(id)]),
        ];
        _load = await Conversation.StartReadyAsync(
            $"{Name}'s load", context.Bench.Pinning.On(cores, command), context.Bench, cancellation);
        await _load.RunAsync(0, context.Options.WarmupSeconds, cancellation);
    }

    public async Task<Figures> MeasureAsync(CancellationToken cancellation) =>
        Figures.Of(await _load!.RunAsync(context.Options.LeadInSeconds, context.Options.Seconds, cancellation));

    public void Dispose()
    {
        _load?.Dispose();
        _nodes.ForEach(static node => node.Dispose());
        _nodes.Clear();
        _redis?.Dispose();
    }
}

/// <summary>Who takes part, and with how many messages.</summary>
/// <param name="Name">Name in the tables.</param>
/// <param name="Nodes">Servers: two for relays between them, one for local ones, none for publications alone.</param>
/// <param name="Senders">Senders.</param>
/// <param name="InFlight">Messages in flight of each.</param>
/// <param name="Size">Bytes of a message.</param>
internal sealed record NodesSetup(string Name, int Nodes, int Senders, int InFlight, int Size)
{
    /// <summary>Whether the servers are nodes. Defaults to true.</summary>
    public bool HasBackplane { get; init; } = true;

    /// <summary>
    /// Sessions a second that claim a routing id and go, at most so many at a time as there are senders. Defaults to none: messages.
    /// </summary>
    public int Rate { get; init; }

    /// <summary>Whether the CPU time of Redis counts as the servers'. Defaults to true.</summary>
    public bool CountsRedis { get; init; } = true;
}
