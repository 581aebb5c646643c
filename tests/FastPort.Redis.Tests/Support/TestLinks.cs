using System.Threading.Channels;
using FastPort.Redis.Directory;
using FastPort.Redis.Members;
using FastPort.Redis.Relaying;
using FastPort.Redis.Wire;
using Microsoft.Extensions.Logging.Abstractions;
using StackExchange.Redis;
using Xunit;

namespace FastPort.Redis.Tests.Support;

/// <summary>The links of a node, over a Redis whose answers can be held.</summary>
internal sealed class TestLinks : IAsyncDisposable
{
    /// <summary>The instance of a node that is not there, unless a test lets it join.</summary>
    public const ulong Other = 4711;

    /// <summary>What <see cref="Targets"/> may hold.</summary>
    public const int TargetBytes = 16_000;

    /// <summary>What <see cref="Lookups"/> may hold.</summary>
    public const int LookupBytes = 1000;

    private static readonly RedisKey[] NodeKeys = ["{fastport:nodes}", "{fastport:nodes}:version"];

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
            database, "fastport", Members, lease, Patience.Limit, Time, Log)
        {
            IsCluster = false,
            LookUp = (id, relay) =>
            {
                LookedUp.TrySetResult(relay.Type);
                if (SendsAgain)
                {
                    Lookups!.Send(id, relay);
                }
            },
            Forget = (id, token) => Lookups!.Forget(id, token),
            InterestsLost = static _ => { },
        };
        Directory = new ClaimDirectory(database, "fastport", Members, NullLogger.Instance)
        {
            ChallengeAsync = static (_, _) => new ValueTask<bool?>(true),
            TellTakenOver = static (_, _) => { },
        };
        Targets = new TargetQueues(Transport, new NeverWritable(), Members, Time, TargetBytes);
        Lookups = new LocationLookups(Directory, Transport, Members, Targets, LookupBytes, NullLogger.Instance);
    }

    public HeldRedis Redis { get; }

    /// <summary>The clock of the links; the lease has that of the system.</summary>
    public FakeTimeProvider Time { get; } = new();

    public RecordingLog Log { get; } = new();

    public Membership Members { get; }

    public RelayTransport Transport { get; }

    public ClaimDirectory Directory { get; }

    /// <summary>The sessions here never take anything.</summary>
    public TargetQueues Targets { get; }

    public LocationLookups Lookups { get; }

    /// <summary>Whether relays that nobody has received are sent again. Off, so that nothing more happens to them.</summary>
    public bool SendsAgain { get; set; }

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

    /// <summary>The other node joins, and this one knows it.</summary>
    public async Task<Member> OtherJoinsAsync()
    {
        var other = new Member("other", Other, BatchBuffer.Version);
        await _connection.GetDatabase().ScriptEvaluateAsync(MembershipScripts.Renew, NodeKeys, [other.ToString(), 60_000, "", ""]);
        Assert.True(await Members.IsAliveAsync(Other));
        return other;
    }

    /// <summary>The other node leaves, and this one knows it.</summary>
    public async Task OtherLeavesAsync(Member other)
    {
        const ulong Unknown = 1;
        await _connection.GetDatabase().ScriptEvaluateAsync(MembershipScripts.Leave, NodeKeys, [other.ToString()]);
        Assert.False(await Members.IsAliveAsync(Unknown));
        Assert.False(Members.Members.ContainsKey(Other));
        Transport.NodeLeft(other);
    }

    /// <summary>Waits while the clock goes on by what the links wait for a node that subscribes again.</summary>
    public Task UntilAsync(Func<bool> condition, string what) => Patience.UntilAsync(
        () =>
        {
            Time.Advance(TimeSpan.FromMilliseconds(20));
            return condition();
        },
        what);

    /// <summary>What comes on a node's channel from now on, in order: "Relay" and its type, or a confirmation.</summary>
    public async Task<ChannelReader<string>> ListenAsync(ulong instance)
    {
        var entries = Channel.CreateUnbounded<string>();
        ChannelMessageQueue batches = await _connection.GetSubscriber().SubscribeAsync(Transport.ChannelOf(instance));
        batches.OnMessage(message =>
        {
            Assert.True(BatchReader.TryOpen((byte[])message.Message!, out BatchReader reader));
            while (reader.Read())
            {
                entries.Writer.TryWrite(Describe(reader.Kind, reader.Payload));
            }
        });
        return entries.Reader;
    }

    /// <summary>The numbers of the batches that come on a node's channel from now on.</summary>
    public async Task<ChannelReader<ulong>> ListenToNumbersAsync(ulong instance)
    {
        var numbers = Channel.CreateUnbounded<ulong>();
        ChannelMessageQueue batches = await _connection.GetSubscriber().SubscribeAsync(Transport.ChannelOf(instance));
        batches.OnMessage(message =>
        {
            Assert.True(BatchReader.TryOpen((byte[])message.Message!, out BatchReader reader));
            numbers.Writer.TryWrite(reader.Number);
        });
        return numbers.Reader;
    }

    public async ValueTask DisposeAsync()
    {
        Redis.HoldNoMore();
        await Transport.DisposeAsync();
        await Directory.DisposeAsync();
        await Members.DisposeAsync();
        await _connection.DisposeAsync();
    }

    private static string Describe(EntryKind kind, ReadOnlySpan<byte> payload) =>
        kind == EntryKind.Relay && RelayEntry.TryRead(payload, out RelayEntry relay) ? $"Relay {relay.Type}"
        : kind == EntryKind.Confirmation ? $"Confirmation {BitConverter.ToUInt64(payload)} {(SendStatus)payload[8]}"
        : kind.ToString();
}
