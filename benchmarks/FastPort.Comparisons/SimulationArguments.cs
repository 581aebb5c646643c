using System.CommandLine;
using FastPort.Comparisons.Simulation;

namespace FastPort.Comparisons;

/// <summary>The options that nodes-simulation alone has.</summary>
internal static class SimulationArguments
{
    private static readonly SimulationSettings Defaults = new();

    private static readonly Option<int> Nodes = new("--nodes")
    {
        Description = "Nodes, 2 to 4,096.",
        DefaultValueFactory = _ => Defaults.Nodes,
    };

    private static readonly Option<long> Ids = new("--ids")
    {
        Description = "Routing ids of all nodes, 1 to a billion.",
        DefaultValueFactory = _ => Defaults.Ids,
    };

    private static readonly Option<int> Shards = new("--shards")
    {
        Description = "Servers of Redis, 1 to 256; more than one is a cluster.",
        DefaultValueFactory = _ => Defaults.Shards,
    };

    private static readonly Option<bool> ShardedChannels = new("--sharded-channels")
    {
        Description = "A publication stays on one server of the cluster, which FastPort does not do yet.",
    };

    private static readonly Option<double> Relays = new("--relays-per-second")
    {
        Description = "Relays between nodes, in all, 1 to 10 million.",
        DefaultValueFactory = _ => Defaults.RelaysPerSecond,
    };

    private static readonly Option<int> Seed = new("--seed")
    {
        Description = "Where chance begins; the same seed, the same results.",
        DefaultValueFactory = _ => Defaults.Seed,
    };

    /// <summary>Adds them to the command.</summary>
    public static void AddTo(Command command, Action<System.CommandLine.Parsing.OptionResult, double, double> requireRange)
    {
        Nodes.Validators.Add(option => requireRange(option, 2, 4096));
        Ids.Validators.Add(option => requireRange(option, 1, 1e9));
        Shards.Validators.Add(option => requireRange(option, 1, 256));
        Relays.Validators.Add(option => requireRange(option, 1, 1e7));
        foreach (Option option in (Option[])[Nodes, Ids, Shards, ShardedChannels, Relays, Seed])
        {
            command.Add(option);
        }
    }

    /// <summary>What was asked for; the defaults for commands that do not have these options.</summary>
    public static SimulationSettings Read(ParseResult parsed) => parsed.GetResult(Nodes) is null ? Defaults : Defaults with
    {
        Nodes = parsed.GetValue(Nodes),
        Ids = parsed.GetValue(Ids),
        Shards = parsed.GetValue(Shards),
        HasShardedChannels = parsed.GetValue(ShardedChannels),
        RelaysPerSecond = parsed.GetValue(Relays),
        Seed = parsed.GetValue(Seed),
    };
}
