
namespace FastPort.Redis.Tests.Support;

/// <summary>A master, its replica, and Sentinels that watch them.</summary>
internal sealed class RedisWithReplica : IAsyncDisposable
{
    private readonly TemporaryDirectory _directory;
    private readonly List<RedisProcess> _sentinels = [];

    private RedisWithReplica(TemporaryDirectory directory, RedisProcess master, RedisProcess replica)
    {
        _directory = directory;
        Master = master;
        Replica = replica;
    }

    /// <summary>The master at the start.</summary>
    public RedisProcess Master { get; }

    public RedisProcess Replica { get; }

    public string Connection => string.Join(',', _sentinels.Select(static one => one.Connection)) + ",serviceName=fastport";

    /// <summary>The Sentinel that commands go to.</summary>
    public RedisProcess Sentinel => _sentinels[0];

    public static async Task<RedisWithReplica> StartAsync(int sentinels)
    {
        // A replica writes what it receives to a file first, which another server must not read.
        var directory = new TemporaryDirectory();
        string[] options = ["--dir", directory.Path, "--repl-diskless-sync-delay", "0"];
        RedisProcess master = await RedisProcess.StartAsync([.. options, "--dbfilename", "master.rdb"]);
        RedisProcess replica = await RedisProcess.StartAsync(
            [.. options, "--dbfilename", "replica.rdb", "--replicaof", "127.0.0.1", RedisProcess.Text(master.Port)]);
        var all = new RedisWithReplica(directory, master, replica);
        try
        {
            await replica.UntilSaysAsync("master_link_status:up", "info", "replication");
            for (int i = 0; i < sentinels; i++)
            {
                all._sentinels.Add(await StartSentinelAsync(directory, master, quorum: (sentinels / 2) + 1));
            }

            foreach (RedisProcess sentinel in all._sentinels)
            {
                await sentinel.UntilSaysAsync($"slaves=1,sentinels={sentinels}", "info", "sentinel");
            }

            return all;
        }
        catch
        {
            await all.DisposeAsync();
            throw;
        }
    }

    /// <summary>Starts a Sentinel that watches a master as "fastport"; its configuration is in the directory.</summary>
    public static Task<RedisProcess> StartSentinelAsync(TemporaryDirectory directory, RedisProcess master, int quorum) =>
        RedisProcess.StartAsync(
            port =>
            {
                string path = directory[$"sentinel-{port}.conf"];
                File.WriteAllText(
                    path,
                    $"""
                    port {port}
                    bind 127.0.0.1
                    sentinel monitor fastport 127.0.0.1 {master.Port} {quorum}
                    sentinel down-after-milliseconds fastport 500
                    sentinel failover-timeout fastport 3000

                    """);
                return [path, "--sentinel"];
            },
            "+monitor master");

    public async ValueTask DisposeAsync()
    {
        foreach (RedisProcess one in _sentinels.Append(Replica).Append(Master))
        {
            await one.DisposeAsync();
        }

        _directory.Dispose();
    }
}
