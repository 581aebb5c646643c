
namespace FastPort.Redis.Tests.Support;

/// <summary>A cluster of masters without replicas, each with its part of the slots.</summary>
internal sealed class RedisCluster : IAsyncDisposable
{
    private const int Slots = 16384;

    private readonly TemporaryDirectory _directory;

    private RedisCluster(TemporaryDirectory directory, RedisProcess[] masters)
    {
        _directory = directory;
        Masters = masters;
    }

    /// <summary>In the order of their slots.</summary>
    public IReadOnlyList<RedisProcess> Masters { get; }

    public string Connection => string.Join(',', Masters.Select(static one => one.Connection));

    public static async Task<RedisCluster> StartAsync(int masters, params string[] options)
    {
        var directory = new TemporaryDirectory();
        RedisProcess[] all = await Task.WhenAll(Enumerable.Range(0, masters).Select(_ => RedisProcess.StartAsync(
            port =>
            [
                "--cluster-enabled", "yes",
                "--cluster-port", RedisProcess.Text(RedisProcess.FreePort()),
                "--cluster-config-file", directory[$"nodes-{port}.conf"],
                "--cluster-node-timeout", "1000",
                .. options,
            ])));
        var cluster = new RedisCluster(directory, all);
        try
        {
            await cluster.FormAsync();
            return cluster;
        }
        catch
        {
            await cluster.DisposeAsync();
            throw;
        }
    }

    /// <summary>The slot of a key or channel.</summary>
    public async Task<int> SlotAsync(string key) =>
        int.Parse(await Masters[0].RunAsync("cluster", "keyslot", key), System.Globalization.CultureInfo.InvariantCulture);

    /// <summary>The master that has a slot at the start.</summary>
    public RedisProcess MasterOf(int slot) => Masters[slot * Masters.Count / Slots];

    /// <summary>Waits until all masters find that all slots are served.</summary>
    public Task IsWholeAsync() => Task.WhenAll(Masters.Select(static one => one.UntilSaysAsync("cluster_state:ok", "cluster", "info")));

    /// <summary>Moves a slot with its keys to another master, while both serve it.</summary>
    public async Task MoveAsync(int slot, RedisProcess to)
    {
        RedisProcess from = MasterOf(slot);
        string text = RedisProcess.Text(slot);
        string source = (await from.RunAsync("cluster", "myid")).Trim();
        string target = (await to.RunAsync("cluster", "myid")).Trim();
        await to.RunAsync("cluster", "setslot", text, "importing", source);
        await from.RunAsync("cluster", "setslot", text, "migrating", target);
        foreach (string key in (await from.RunAsync("cluster", "getkeysinslot", text, "100")).Split(
            '\n', StringSplitOptions.RemoveEmptyEntries))
        {
            await from.RunAsync("migrate", "127.0.0.1", RedisProcess.Text(to.Port), key, "0", "5000");
        }

        await to.RunAsync("cluster", "setslot", text, "node", target);
        await from.RunAsync("cluster", "setslot", text, "node", target);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (RedisProcess master in Masters)
        {
            await master.DisposeAsync();
        }

        _directory.Dispose();
    }

    private async Task FormAsync()
    {
        for (int i = 0; i < Masters.Count; i++)
        {
            await Masters[i].RunAsync("cluster", "set-config-epoch", RedisProcess.Text(i + 1));
            await Masters[i].RunAsync(
                "cluster", "addslotsrange", RedisProcess.Text(First(i)), RedisProcess.Text(First(i + 1) - 1));
        }

        foreach (RedisProcess other in Masters.Skip(1))
        {
            string bus = (await other.RunAsync("config", "get", "cluster-port")).Split('\n')[1];
            await Masters[0].RunAsync("cluster", "meet", "127.0.0.1", RedisProcess.Text(other.Port), bus);
        }

        await Task.WhenAll(Masters.Select(one => one.UntilSaysAsync($"cluster_slots_ok:{Slots}", "cluster", "info")));
        await IsWholeAsync();
    }

    // The first slot whose master is this one by the division in MasterOf.
    private int First(int master) => ((master * Slots) + Masters.Count - 1) / Masters.Count;
}
