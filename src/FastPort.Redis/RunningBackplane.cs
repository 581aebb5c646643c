using FastPort.Redis.Directory;
using FastPort.Redis.Members;
using FastPort.Redis.Peers;
using FastPort.Redis.Relaying;
using FastPort.Redis.Topics;
using FastPort.Routing;
using FastPort.Sessions.Logging;
using Microsoft.Extensions.Logging;
using StackExchange.Redis;

namespace FastPort.Redis;

/// <summary>The parts of a backplane that is connected to Redis.</summary>
internal sealed class RunningBackplane : IAsyncDisposable
{
    // Many times the way of a relay through Redis, and little of a restart.
    private static readonly TimeSpan QuietBeforeLeaving = TimeSpan.FromMilliseconds(250);
    private static readonly TimeSpan QuietCheckInterval = TimeSpan.FromMilliseconds(20);

    private readonly RedisBackplaneOptions _options;
    private readonly TimeProvider _time;
    private readonly RedisConnection _redis;
    private readonly BatchReceiver _receiver;
    private readonly ILogger _logger;

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
        IDatabase database = redis.GetDatabase();
        Members = new Membership(database, options.KeyPrefix, options.Node, options.Lease, time) { ClaimAgain = ClaimAgainAsync };
        Transport = new RelayTransport(database, options.KeyPrefix, Members, options.Lease, relayTimeout, time, logger)
        {
            IsCluster = redis.GetServers().Any(static server => server.ServerType == ServerType.Cluster),
            LookUp = (id, relay) => Lookups!.Send(id, relay),
            InterestsLost = instance => Topics!.Lost(instance),
        };
        Topics = new TopicExchange(interests, Transport, Members);
        Questions = new PeerQuestions(Transport, peers, options.Node, time);
        Directory = new ClaimDirectory(database, options.KeyPrefix, Members, logger)
        {
            ChallengeAsync = Transport.ChallengeAsync,
            TellTakenOver = (former, id) => Transport.LinkTo(former.Instance).Tell(Wire.EntryKind.TakenOver, former.Token, id),
        };
        Lookups = new LocationLookups(Directory, Transport, local, options.QueueBytes, logger);
        var targets = new TargetQueues(Transport, local, time, options.QueueBytes);
        _receiver = new BatchReceiver(Transport, Lookups, Directory, targets, Members, Topics, Questions, local, logger);
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
            }
            else
            {
                BackplaneLog.IncompatibleNodeJoined(logger, member.Name, member.Version, Wire.BatchBuffer.Version);
            }

            Topics.NodeJoined(member.Instance);
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
