using System.Globalization;
using System.Text.Json;
using FastPort.Comparisons.Processes;
using FastPort.Comparisons.Reports;
using FastPort.Redis.Directory;
using FastPort.Redis.Members;

namespace FastPort.Comparisons.Scenarios;

/// <summary>
/// What nodes cost Redis, and what the topics that others want cost a node: the unit costs that nodes-simulation calculates with.
/// </summary>
internal sealed class NodesCostsScenario : IScenario
{
    private const int Nodes = 1000;
    private const int Pipelined = 128;
    private const string Instance = "0123456789abcdef";
    private const string Table = "{fastport:nodes}";
    private const string KeyLife = "600000";
    private const string UsedMemory = "used_memory:";

    private static readonly TimeSpan InterestsLimit = TimeSpan.FromMinutes(2);

    public string Name => "nodes-costs";

    public string Description => "What ids, leases and batches of nodes cost Redis, and the prefixes of others a node: each by itself.";

    public async Task<ScenarioReport> RunAsync(ScenarioContext context, CancellationToken cancellation)
    {
        var rows = new List<IReadOnlyList<string>>();
        var failures = new List<string>();
        try
        {
            await MeasureAsync(context, rows, cancellation);
        }
        catch (ComparisonException exception)
        {
            failures.Add(exception.Message);
        }

        return new ScenarioReport
        {
            Name = Name,
            Description = Description,
            Method = "CPU time of redis-server a command, by redis-benchmark with the scripts of the nodes: 16 connections, 128 commands "
                + "at a time of each. CPU time means something on a busy machine, too.",
            Columns = [],
            Workloads =
            [
                new WorkloadReport { Title = "unit costs", Contestants = [], Ratios = [], Notes = [], Failures = failures },
            ],
            Tables = [new ReportTable(["what", "", "us of one core", "bytes"], rows)],
        };
    }

    private static async Task MeasureAsync(ScenarioContext context, List<IReadOnlyList<string>> rows, CancellationToken cancellation)
    {
        if ((RedisServer.Missing() ?? RedisBenchmark.Missing()) is { } missing)
        {
            throw new ComparisonException(missing);
        }

        int count = context.Options.Quick ? 20_000 : 1_000_000;
        using RedisServer server = await RedisServer.StartAsync(context.Bench, cancellation);
        var redis = new RedisBenchmark(server, context.Bench);
        string claim = await redis.SayAsync(cancellation, "script", "load", DirectoryScripts.Claim);
        string keep = await redis.SayAsync(cancellation, "script", "load", DirectoryScripts.Keep);
        string release = await redis.SayAsync(cancellation, "script", "load", DirectoryScripts.Release);
        string renew = await redis.SayAsync(cancellation, "script", "load", MembershipScripts.Renew);

        double memory = await MemoryAsync();
        await MeasureAsync("a routing id is claimed", count, "evalsha", claim, "1", Key('a'), Instance, "", KeyLife);
        double ids = double.Parse(await redis.SayAsync(cancellation, "dbsize"), CultureInfo.InvariantCulture);
        Add("an id's memory at Redis", null, (await MemoryAsync() - memory) / ids);
        string value = Instance + ":1790000000000000";
        await MeasureAsync("a claim is set again", count, "evalsha", keep, "1", Key('b'), value, KeyLife);
        await MeasureAsync("an id is looked up", count, "get", Key('b'));
        await MeasureAsync("an id is given up", count, "evalsha", release, "1", Key('b'), value);

        // The ends of the leases are far away, so nobody dies.
        for (int i = 0; i < Nodes; i++)
        {
            await redis.SayAsync(cancellation, "zadd", Table, "9e15", $"node-{i} {Instance} 1");
        }

        string[] lease = ["evalsha", renew, "2", Table, Table + ":version", $"node-0 {Instance} 1", "9000000000000"];
        await redis.SayAsync(cancellation, [.. lease, "", ""]);
        string version = await redis.SayAsync(cancellation, "get", Table + ":version");
        await MeasureAsync($"a lease of {Nodes} nodes is renewed", count / 5, [.. lease, version, ""]);
        await MeasureAsync($"it is renewed, and the list of {Nodes} nodes returned", count / 100, [.. lease, "", ""]);

        using (await redis.SubscribeAsync("channel", cancellation))
        {
            await MeasureAsync("64 B are published, to one subscriber", count, "publish", "channel", new string('x', 64));
            await MeasureAsync("10 KiB are published", count / 10, "publish", "channel", new string('x', 10 * 1024));
        }

        Add("a command that comes alone", await redis.CostAsync(count / 5, 1, cancellation, "get", "none"), null);
        await MeasureAsync("the same with many", count, "get", "none");
        await MeasureInterestsAsync();

        async Task MeasureAsync(string what, int times, params string[] command) =>
            Add(what, await redis.CostAsync(times, Pipelined, cancellation, command), null);

        async Task<double> MemoryAsync() =>
            (await redis.SayAsync(cancellation, "info", "memory")).Split('\n')
                .Where(static line => line.StartsWith(UsedMemory, StringComparison.Ordinal))
                .Select(static line => double.Parse(line.Trim()[UsedMemory.Length..], CultureInfo.InvariantCulture))
                .First();

        async Task MeasureInterestsAsync()
        {
            string assembly = context.Bench.Programs.Find("benchmarks", "FastPortPeer");
            using var peer = Conversation.Start(
                "interests", [ProgramLocator.DotNetHost, assembly, "interests"], context.Bench);
            JsonElement said = JsonDocument.Parse(await peer.HearAsync(InterestsLimit, cancellation)).RootElement;
            Add("a prefix of another node is learned", said.GetProperty("learned_us").GetDouble(), said.GetProperty("bytes").GetDouble());
            Add(
                "the same prefix of one node more",
                said.GetProperty("second_us").GetDouble(),
                said.GetProperty("second_bytes").GetDouble());
            Add("a topic is matched with 500,000 prefixes of two nodes", said.GetProperty("matched_us").GetDouble(), null);
        }

        void Add(string what, double? microseconds, double? bytes) => rows.Add(
        [
            what, "", microseconds?.ToString("N2", CultureInfo.InvariantCulture) ?? "",
            bytes?.ToString("N0", CultureInfo.InvariantCulture) ?? "",
        ]);
    }

    private static string Key(char group) => $"fastport:id:{group}-__rand_int__";
}
