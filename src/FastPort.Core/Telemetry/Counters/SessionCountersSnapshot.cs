namespace FastPort.Telemetry;

/// <summary>The counts of a <see cref="SessionCounters"/> at one moment. Immutable. All counts are since the start of the server.</summary>
public sealed class SessionCountersSnapshot
{
    /// <summary>Error codes that are counted separately: 1 to 14 of the protocol, and 0 for all others.</summary>
    internal const int ErrorTags = 15;

    private readonly ConnectionCountersSnapshot _connections;
    private readonly long[] _dropped;
    private readonly long[] _timeouts;
    private readonly long[] _errorsSent;
    private readonly long[] _oneWayFailures;
    private readonly long[] _relayFailures;

    internal SessionCountersSnapshot(
        ConnectionCountersSnapshot connections,
        long[] dropped,
        long[] timeouts,
        long[] errorsSent,
        long[] oneWayFailures,
        long[] relayFailures)
    {
        _relayFailures = relayFailures;
        _connections = connections;
        _dropped = dropped;
        _timeouts = timeouts;
        _errorsSent = errorsSent;
        _oneWayFailures = oneWayFailures;
    }

    /// <summary>Connections accepted.</summary>
    public required long ConnectionsAccepted { get; init; }

    /// <summary>Accepted connections that have ended.</summary>
    public required long ConnectionsClosed { get; init; }

    /// <summary>Open connections.</summary>
    public long ConnectionsOpen => ConnectionsAccepted - ConnectionsClosed;

    /// <summary>Connections rejected, for all reasons.</summary>
    public long ConnectionsRejected => _connections.ConnectionsRejected;

    /// <summary>Failed accepts.</summary>
    public required long AcceptErrors { get; init; }

    /// <summary>Sessions started.</summary>
    public required long SessionsOpened { get; init; }

    /// <summary>Sessions ended.</summary>
    public required long SessionsClosed { get; init; }

    /// <summary>Open sessions.</summary>
    public long SessionsOpen => SessionsOpened - SessionsClosed;

    /// <summary>Whole frames received.</summary>
    public required long MessagesIn { get; init; }

    /// <summary>Whole frames sent.</summary>
    public required long MessagesOut { get; init; }

    /// <summary>Bytes received, headers included.</summary>
    public required long BytesIn { get; init; }

    /// <summary>Bytes sent, headers included.</summary>
    public required long BytesOut { get; init; }

    /// <summary>Error frames sent, of all codes.</summary>
    public long ErrorsSent => _errorsSent.Sum();

    /// <summary>One-way messages that failed, for all reasons.</summary>
    public long OneWayFailures => _oneWayFailures.Sum();

    /// <summary>Frames dropped, for all reasons.</summary>
    public long FramesDropped => _dropped.Sum();

    /// <summary>Replies whose correlation belonged to no request.</summary>
    public required long RepliesToNothing { get; init; }

    /// <summary>Relays that the targets' send queues accepted.</summary>
    public required long Relayed { get; init; }

    /// <summary>How often a full target delayed a Relay.</summary>
    public required long RelaysWaited { get; init; }

    /// <summary>Relays that did not reach their targets, for all reasons.</summary>
    public long RelaysFailed => _relayFailures.Sum();

    /// <summary>Publish messages.</summary>
    public required long Published { get; init; }

    /// <summary>Deliveries of Publish messages: the sum of the send queues that accepted each message.</summary>
    public required long Delivered { get; init; }

    /// <summary>Current subscriptions.</summary>
    public required long SubscriptionsOpen { get; init; }

    /// <summary>Published messages that a client's streams of topics have dropped, because their readers were too slow.</summary>
    public required long PublicationsDropped { get; init; }

    /// <summary>Calls that stream: those of the peers that were accepted, and this side's own.</summary>
    public required long StreamsOpened { get; init; }

    /// <summary>Calls that stream and have ended.</summary>
    public required long StreamsEnded { get; init; }

    /// <summary>Open streams.</summary>
    public long StreamsOpen => StreamsOpened - StreamsEnded;

    /// <summary>Items of streams received.</summary>
    public required long StreamItemsIn { get; init; }

    /// <summary>Items of streams sent.</summary>
    public required long StreamItemsOut { get; init; }

    /// <summary>How often a stream had an item to send and waited until the peer granted credit.</summary>
    public required long StreamStalls { get; init; }

    /// <summary>Connections closed by a deadline, of all kinds.</summary>
    public long TimeoutsClosed => _timeouts.Sum();

    /// <summary>Connections rejected for one reason.</summary>
    /// <param name="reason">The reason.</param>
    public long ConnectionsRejectedFor(ConnectionRejection reason) => _connections.ConnectionsRejectedFor(reason);

    /// <summary>Frames dropped for one reason.</summary>
    /// <param name="reason">The reason.</param>
    public long FramesDroppedFor(FrameDrop reason) => _dropped[(int)reason];

    /// <summary>Connections closed by one kind of deadline.</summary>
    /// <param name="kind">The kind.</param>
    public long TimeoutsClosedBy(ConnectionTimeout kind) => _timeouts[(int)kind];

    /// <summary>Relays that did not reach their targets for one reason.</summary>
    /// <param name="reason">The reason.</param>
    public long RelaysFailedFor(RelayFailure reason) => _relayFailures[(int)reason];

    /// <summary>How often sessions or new connections were over a rate.</summary>
    /// <param name="scope">The scope of the rate.</param>
    /// <param name="resource">The resource that the rate limits.</param>
    public long RatesExceededFor(RateScope scope, RateResource resource) =>
        _connections.RatesExceededFor(scope, resource);

    /// <summary>Error frames sent with one code.</summary>
    /// <param name="code">1 to 14, or 0 for all other codes.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="code"/> is above 14.</exception>
    public long ErrorsSentWith(uint code) => At(_errorsSent, code);

    /// <summary>One-way messages that failed with one code.</summary>
    /// <param name="code">1 to 14, or 0 for all other codes.</param>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="code"/> is above 14.</exception>
    public long OneWayFailuresWith(uint code) => At(_oneWayFailures, code);

    private static long At(long[] counts, uint code)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThanOrEqual(code, (uint)counts.Length);
        return counts[code];
    }
}
