using FastPort.Redis.Peers;
using FastPort.Redis.Relaying;
using FastPort.Redis.Topics;
using FastPort.Routing;
using FastPort.Sessions;
using Microsoft.Extensions.Logging;

namespace FastPort.Redis;

/// <summary>
/// Makes a server a node in a group of servers: a routing id belongs to one session on all nodes, relays reach that session on any node,
/// and publications reach the subscribers of all nodes. Registered by <c>AddRedisBackplane</c>, which starts and stops it with the host.
/// Thread-safe.
/// </summary>
public sealed class RedisBackplane : IRoutingIdClaims, INodes
{
    private readonly RedisBackplaneOptions _options;
    private readonly TimeProvider _time;
    private readonly ILoggerFactory _loggers;
    private IMessageRouter? _local;
    private IPeers? _localPeers;
    private RunningBackplane? _running;

    internal RedisBackplane(RedisBackplaneOptions options, TimeProvider time, ILoggerFactory loggers)
    {
        _options = options;
        _time = time;
        _loggers = loggers;
    }

    /// <summary>This node's name.</summary>
    public string Node => _options.Node;

    /// <summary>
    /// Whether this node has its lease. Without it, for example while Redis cannot be reached, its sessions still reach each other; relays
    /// to other nodes and Hellos with routing ids are answered with Unavailable.
    /// </summary>
    public bool IsConnected => Running is { Members.IsValid: true };

    /// <summary>The names of the nodes that have leases, this one included, in ordinal order; empty before the start.</summary>
    public IReadOnlyList<string> Nodes =>
        Running is { } running ? [.. running.Members.Members.Values.Select(static one => one.Name).Order(StringComparer.Ordinal)] : [];

    /// <summary>The parts that are connected; null before the start and after the stop.</summary>
    internal RunningBackplane? Running => Volatile.Read(ref _running);

    /// <summary>What the server's sessions are subscribed to.</summary>
    internal OwnInterests Interests { get; } = new();

    /// <inheritdoc/>
    ValueTask<RoutingIdGrant> IRoutingIdClaims.ClaimAsync(RoutingIdClaim claim, CancellationToken cancellationToken) =>
        Running is { } running ? running.Directory.ClaimAsync(claim, cancellationToken) : new(RoutingIdGrant.Unavailable);

    /// <inheritdoc/>
    void IRoutingIdClaims.Release(RoutingIdClaim claim) => Running?.Directory.Release(claim);

    /// <inheritdoc/>
    IReadOnlyList<NodeInfo> INodes.Read() => Running?.ReadNodes() ?? [];

    /// <summary>The router over the server's own one.</summary>
    internal IMessageRouter Attach(IMessageRouter local)
    {
        _local = local;
        return new BackplaneRouter(this, local);
    }

    /// <summary>The directory of sessions on top of the server's own.</summary>
    internal IPeers Attach(IPeers local)
    {
        _localPeers = local;
        return new BackplanePeers(this, local);
    }

    internal async Task StartAsync(TimeSpan relayTimeout, CancellationToken cancellationToken) =>
        Volatile.Write(
            ref _running,
            await RunningBackplane.StartAsync(
                _options, _local!, _localPeers!, Interests, relayTimeout, _time, _loggers, cancellationToken).ConfigureAwait(false));

    internal async Task StopAsync()
    {
        if (Interlocked.Exchange(ref _running, null) is { } running)
        {
            await running.DisposeAsync().ConfigureAwait(false);
        }
    }
}
