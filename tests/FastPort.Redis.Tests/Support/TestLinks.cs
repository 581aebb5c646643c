using FastPort.Core.Tests.Support;
using FastPort.Redis.Directory;
using FastPort.Redis.Members;
using FastPort.Redis.Relaying;
using Microsoft.Extensions.Logging.Abstractions;
using StackExchange.Redis;

namespace FastPort.Redis.Tests.Support;

/// <summary>The links of a node, over a Redis whose answers can be held.</summary>
internal sealed class TestLinks : IAsyncDisposable
{
    /// <summary>The instance of a node that is not there.</summary>
    public const ulong Other = 4711;

    private readonly ConnectionMultiplexer _connection;

    private TestLinks(ConnectionMultiplexer connection)
    {
        _connection = connection;
        (IDatabase database, Redis) = HeldRedis.Over(connection.GetDatabase());
        TimeSpan lease = TimeSpan.FromSeconds(30);
        Members = new Membership(connection.GetDatabase(), "fastport", "a", lease, TimeProvider.System)
        {
            ClaimAgain = static () => Task.CompletedTask,
        };
        Transport = new RelayTransport(
            database, "fastport", Members, lease, Patience.Limit, new FakeTimeProvider(), NullLogger.Instance)
        {
            IsCluster = false,
            LookUp = (_, relay) => LookedUp.TrySetResult(relay.Type),
            InterestsLost = static _ => { },
        };
        Directory = new ClaimDirectory(database, "fastport", Members, NullLogger.Instance)
        {
            ChallengeAsync = static (_, _) => new ValueTask<bool?>(true),
            TellTakenOver = static (_, _) => { },
        };
    }

    public HeldRedis Redis { get; }

    public Membership Members { get; }

    public RelayTransport Transport { get; }

    public ClaimDirectory Directory { get; }

    public TaskCompletionSource<ushort> LookedUp { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public static async Task<TestLinks> StartAsync(RedisProcess redis, bool hasLease = true)
    {
        var links = new TestLinks(await ConnectionMultiplexer.ConnectAsync(redis.Connection));
        if (hasLease)
        {
            await links.Members.JoinAsync(Patience.Token);
        }

        return links;
    }

    public async ValueTask DisposeAsync()
    {
        Redis.HoldNoMore();
        await Transport.DisposeAsync();
        await Directory.DisposeAsync();
        await Members.DisposeAsync();
        await _connection.DisposeAsync();
    }
}
