using FastPort.Logging;
using FastPort.Redis.Connecting;
using FastPort.Redis.Directory;
using FastPort.Redis.Members;
using FastPort.Redis.Peers;
using FastPort.Redis.Relaying;
using FastPort.Redis.Topics;
using FastPort.Routing;
using Microsoft.Extensions.Logging;
using StackExchange.Redis;

namespace FastPort.Redis;

/// <summary>The parts of a backplane that is connected to Redis.</summary>
internal sealed class RunningBackplane : IAsyncDisposable
{
    private static readonly TimeSpan LeavingCheckInterval = TimeSpan.FromMilliseconds(20);

    // An operator may change it while Redis runs, or a server with another value may take over.
    private static readonly TimeSpan EvictionReadInterval = TimeSpan.FromMinutes(1);

    private readonly RedisBackplaneOptions _options;
    private readonly TimeProvider _time;
    private readonly RedisConnection _redis;
    private readonly TargetQueues _targets;
    private readonly BatchReceiver _receiver;
    private readonly ILogger _logger;
    private readonly PeriodicTimer _evictionReads;
    private Task _readingEviction = Task.CompletedTask;

    private RunningBackplane(
        RedisBackplaneOptions options,
        RedisConnection connection,
        IMessageRouter local,
        IPeers peers,
        OwnInterests interests,
        TimeSpan relayTimeout,
        TimeProvider time,
        ILogger logger)
    {
        _options = options;
        _time = time;
        _redis = connection;
        _logger = logger;
        ConnectionMultiplexer redis = connection.Redis;
        Eviction = new EvictionPolicy(redis, logger);
        _evictionReads = new PeriodicTimer(EvictionReadInterval, time);
        IDatabase database = redis.GetDatabase();
        Members = new Membership(database, options.KeyPrefix, options.Node, options.Lease, time) { ClaimAgain = ClaimAgainAsync };
        bool isCluster = redis.GetServers().Any(static server => server.ServerType == ServerType.Cluster);
        Transport = new RelayTransport(database, options.KeyPrefix, Members, options.Lease, relayTimeout, time, logger)
        {
            IsCluster = isCluster,
            LookUp = (id, relay) => Lookups!.Send(id, relay),
            Forget = (id, token) => Lookups!.Forget(id, token),
            InterestsLost = instance => Topics!.Lost(instance),
        };
        Topics = new TopicExchange(interests, Transport, Members, logger);
        Questions = new PeerQuestions(Transport, Members, peers, options.Node, time);
        Directory = new ClaimDirectory(database, options.KeyPrefix, Members, logger)
        {
            IsCluster = isCluster,
            ChallengeAsync = Transport.ChallengeAsync,
            TellTakenOver = (former, id) => Transport.LinkTo(former.Instance).Tell(Wire.EntryKind.TakenOver, former.Token, id),
        };
        _targets = new TargetQueues(Transport, local, Members, time, options.QueueBytes);
        Lookups = new LocationLookups(Directory, Transport, Members, _targets, options.QueueBytes, logger);
        _receiver = new BatchReceiver(Transport, Lookups, Directory, _targets, Members, Topics, Questions, local, logger);
        Members.Left += member =>
        {
            Lookups.ForgetNode(member.Instance);
            Topics.NodeLeft(member.Instance);
            Transport.NodeLeft(member);
        };
        Members.Joined += member =>
        {
            if (member.IsCompatible)
            {
                BackplaneLog.NodeJoined(logger, member.Name);
                Topics.NodeJoined(member.Instance);
            }
            else
            {
                BackplaneLog.IncompatibleNodeJoined(logger, member.Name, member.Version, Wire.BatchBuffer.Version);
            }
        };
        Members.Renewed += Renewed;
        redis.ConnectionFailed += (_, _) =>
        {
            Members.ConnectionLost();
            Directory.KeepNow();
        };
        redis.ConnectionRestored += (_, _) =>
        {
            Members.ConnectionRestored();

            // Nodes could not notify this one of take-overs while its channel was down.
            Directory.KeepNow();
            Transport.ConnectionRestored();
            Topics.TellAndAskAll();
        };
    }

    public Membership Members { get; }

    public RelayTransport Transport { get; }

    public ClaimDirectory Directory { get; }

    public LocationLookups Lookups { get; }

    public TopicExchange Topics { get; }

    public PeerQuestions Questions { get; }

    public EvictionPolicy Eviction { get; }

    /// <summary>Bytes of relays that wait here: for other nodes, for the locations of their targets, and for room in sessions.</summary>
    public long QueuedBytes =>
        Transport.Links.Sum(static link => (long)link.QueuedBytes) + Lookups.WaitingBytes + _targets.Bytes;

    /// <summary>Connects, subscribes to this node's channel, and joins the nodes.</summary>
    /// <exception cref="BackplaneException">Redis cannot be used, or another node has the name; the message says why.</exception>
    public static async Task<RunningBackplane> StartAsync(
        RedisBackplaneOptions options,
        IMessageRouter local,
        IPeers peers,
        OwnInterests interests,
        TimeSpan relayTimeout,
        TimeProvider time,
        ILoggerFactory loggers,
        CancellationToken cancellationToken)
    {
        ConfigurationOptions connection = RedisClientOptions.Read(options);

        // While Redis fails, lines could come as fast as relays and Hellos do.
        var logger = new ThrottledLogger(loggers.CreateLogger("FastPort.Backplane"), time);
        string where = string.Join(", ", connection.EndPoints.Select(EndPointCollection.ToString));
        RunningBackplane? running = null;
        RedisConnection? redis = null;
        try
        {
            // On the thread pool: the package's own continuations run where its caller's task scheduler puts them.
            redis = await Task.Run(() => RedisConnection.ConnectAsync(connection), CancellationToken.None)
                .WaitAsync(cancellationToken).ConfigureAwait(false);
            running = new RunningBackplane(options, redis, local, peers, interests, relayTimeout, time, logger);
            RedisChannel channel = running.Transport.ChannelOf(running.Members.Self.Instance);

            // The other commands of the node, so that a missing permission is reported now. The publication has no receiver.
            await running.Transport.PublishAsync(channel, ReadOnlyMemory<byte>.Empty).ConfigureAwait(false);
            await running.Directory.ProbeAsync().ConfigureAwait(false);
            ChannelMessageQueue queue = await SubscribeAsync(
                redis.Redis.GetSubscriber(), channel, connection.ConnectTimeout, cancellationToken).ConfigureAwait(false);
            queue.OnMessage(message => running._receiver.ReceiveAsync((ReadOnlyMemory<byte>)message.Message));
            await running.Members.JoinAsync(cancellationToken).ConfigureAwait(false);
            running.Directory.Start();
            BackplaneLog.Joined(logger, options.Node, running.Members.Members.Count - 1, where);
            await running.Eviction.ReadAsync().ConfigureAwait(false);
            running._readingEviction = NoContext.Start(running.ReadEvictionAsync);
            return running;
        }
        catch (Exception e)
        {
            if (running is not null)
            {
                await running.DisposeAsync().ConfigureAwait(false);
            }
            else if (redis is not null)
            {
                await redis.DisposeAsync().ConfigureAwait(false);
            }

            if (e is RedisException or TimeoutException)
            {
                throw new BackplaneException(
                    $"The backplane's Redis at {where} (FastPort:Backplane:Connection) cannot be used: {e.Message}"
                    + StartAdvice.For(e, options.KeyPrefix),
                    e);
            }

            throw;
        }
    }

    /// <inheritdoc cref="INodes.Read"/>
    public IReadOnlyList<NodeInfo> ReadNodes() =>
        [.. Members.Members.Values.OrderBy(static one => one.Name, StringComparer.Ordinal).Select(Describe)];

    public async ValueTask DisposeAsync()
    {
        _evictionReads.Dispose();
        await _readingEviction.ConfigureAwait(false);

        // A killed node does not answer, so all topics would be sent to it repeatedly.
        Topics.Dispose();
        await FinishAsync().ConfigureAwait(false);
        await Directory.DisposeAsync().ConfigureAwait(false);
        await Members.DisposeAsync().ConfigureAwait(false);
        await Transport.DisposeAsync().ConfigureAwait(false);
        await _redis.DisposeAsync().ConfigureAwait(false);
    }

    private NodeInfo Describe(Member member)
    {
        if (member.Instance == Members.Self.Instance)
        {
            return new NodeInfo(member.Name) { IsSelf = true, LeaseLeft = Members.LeaseLeft };
        }

        LinkFigures link = Transport.FindLink(member.Instance)?.Read() ?? default;
        return new NodeInfo(member.Name)
        {
            IsCompatible = member.IsCompatible,
            Lag = link.Lag is { } ticks ? _time.GetElapsedTime(0, ticks) : null,
            QueuedBytes = link.QueuedBytes,
            RelaysSent = link.Relays,
            BatchesSent = link.Batches,
            BatchBytesSent = link.BatchBytes,
        };
    }

    // The server has stopped and its ids are free, but the other nodes still know them at this one and send relays here. This node notifies
    // each of them that it is leaving. They stop sending relays and acknowledge the message after their last ones, so every relay has then
    // arrived here. Relays that arrived after this node had left would be lost, and their senders would time out. Waits for a lease at
    // most.
    private async Task FinishAsync()
    {
        long begun = _time.GetTimestamp();
        HashSet<ulong> told = [Members.Self.Instance];
        while (Members.IsValid && _time.GetElapsedTime(begun) < _options.Lease)
        {
            foreach (Member member in Members.Members.Values)
            {
                if (member.IsCompatible && told.Add(member.Instance))
                {
                    Transport.LinkTo(member.Instance).TryTell(Wire.EntryKind.Leaving, []);
                }
            }

            // In the order in which relays pass through them: a relay is in the next one before it has left the previous one.
            if (Lookups.IsIdle && _targets.Bytes == 0 && Transport.Links.All(static link => link.IsIdle))
            {
                return;
            }

            await Task.Delay(LeavingCheckInterval, _time).ConfigureAwait(false);
        }
    }

    // With RESP2 the channel's own connection may come up a little after the other.
    private static async Task<ChannelMessageQueue> SubscribeAsync(
        ISubscriber subscriber, RedisChannel channel, int timeoutMilliseconds, CancellationToken cancellationToken)
    {
        const int Pause = 20;
        for (int attempt = 0; ; attempt++)
        {
            try
            {
                return await subscriber.SubscribeAsync(channel, CommandFlags.DemandMaster).ConfigureAwait(false);
            }
            catch (RedisConnectionException) when (attempt * Pause < timeoutMilliseconds)
            {
                await Task.Delay(Pause, cancellationToken).ConfigureAwait(false);
            }
        }
    }

    private async Task ReadEvictionAsync()
    {
        while (await _evictionReads.WaitForNextTickAsync().ConfigureAwait(false))
        {
            await Eviction.ReadAsync().ConfigureAwait(false);
        }
    }

    private async Task ClaimAgainAsync()
    {
        // Others have forgotten this node's interests, and have not sent their changes.
        Topics.TellAndAskAll();
        int before = Directory.Count;
        int lost = await Directory.ClaimAgainAsync().ConfigureAwait(false);
        BackplaneLog.ClaimedAgain(_logger, before - lost, lost);
    }

    private void Renewed(Exception? failure)
    {
        if (failure is null)
        {
            BackplaneLog.Renewed(_logger);
        }
        else
        {
            BackplaneLog.RenewalFailed(_logger, failure.Message);
        }
    }
}
