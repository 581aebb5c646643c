
namespace FastPort.Redis.Tests.Support;

/// <summary>
/// Redis and a node, each in a network of its own, with nothing between them but a link. It can be cut as a cable is: packets of both
/// directions vanish, and nobody is told. Everybody else reaches both by Unix sockets, which networks do not part.
/// </summary>
internal sealed class PartedNetworks : IAsyncDisposable
{
    // The first process's on the link.
    private const string RedisAddress = "10.98.0.1";

    // The network is there before the link, and the link before the node.
    private const string Waiting = "the network is there";
    private static readonly string[] Wait = ["sh", "-c", $"echo {Waiting}; read go; exec \"$@\"", "sh"];

    private readonly TemporaryDirectory _directory = new();
    private RedisProcess? _redis;
    private TestHostProcess? _link;

    private PartedNetworks()
    {
    }

    /// <summary>The node across the link.</summary>
    public NodeProcess Node { get; private set; } = null!;

    /// <summary>Where Redis is for everybody else.</summary>
    public string Connection => $"!{Path.Combine(_directory.Path, "redis.sock")}";

    public static async Task<PartedNetworks> OpenAsync(string node)
    {
        var networks = new PartedNetworks();
        try
        {
            await networks.StartAsync(node);
            return networks;
        }
        catch
        {
            await networks.DisposeAsync();
            throw;
        }
    }

    public Task CutAsync() => _link!.AskAsync("cut");

    public Task RestoreAsync() => _link!.AskAsync("restore");

    public async ValueTask DisposeAsync()
    {
        foreach (IAsyncDisposable process in new IAsyncDisposable?[] { Node, _link, _redis }.OfType<IAsyncDisposable>())
        {
            await process.DisposeAsync();
        }

        _directory.Dispose();
    }

    private async Task StartAsync(string name)
    {
        _redis = await RedisProcess.StartInNetworkAsync(Connection[1..]);
        ServerProcess node = NodeProcess.Run(
            [.. NetworkNamespaces.Beside(_redis.Id), .. Wait],
            $"unix://{Path.Combine(_directory.Path, "node.sock")}",
            $"{RedisAddress}:{_redis.Port}",
            name);
        try
        {
            await node.PrintedAsync(Waiting, 1);
            _link = await TestHostProcess.StartAsync(
                NetworkNamespaces.RightsOf(_redis.Id), "impaired-link", $"{_redis.Id}", $"{node.Id}", "0", "0", "0", "1");
            await node.TypeAsync("go");
        }
        catch
        {
            await node.DisposeAsync();
            throw;
        }

        Node = await NodeProcess.ListeningAsync(node);
    }
}
