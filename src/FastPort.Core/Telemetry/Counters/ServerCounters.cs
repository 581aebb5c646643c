namespace FastPort.Telemetry.Counters;

/// <summary>The counters of a server. Thread-safe; adding never blocks or allocates.</summary>
/// <remarks>
/// A connection's loop counts its messages and bytes in plain fields and adds them here at a tick of the coarse clock, not once per
/// message. <see cref="FastPortMeter"/> publishes the counters.
/// </remarks>
public sealed class ServerCounters
{
    private readonly TrafficCounters _traffic = new();
    private readonly TaggedCounts _rejected = new(Enum.GetValues<ConnectionRejection>().Length);
    private readonly TaggedCounts _dropped = new(Enum.GetValues<FrameDrop>().Length);
    private readonly TaggedCounts _timeouts = new(Enum.GetValues<ConnectionTimeout>().Length);
    private readonly TaggedCounts _errorsSent = new(ServerCountersSnapshot.ErrorTags);
    private readonly TaggedCounts _oneWayFailures = new(ServerCountersSnapshot.ErrorTags);
    private readonly TaggedCounts _relayFailures = new(Enum.GetValues<RelayFailure>().Length);
    private readonly TaggedCounts _ratesExceeded = new(ServerCountersSnapshot.RateTags);
    private long _connectionsAccepted;
    private long _connectionsClosed;
    private long _sessionsOpened;
    private long _sessionsClosed;
    private long _acceptErrors;
    private long _repliesToNothing;
    private long _relaysWaited;
    private long _subscriptions;

    /// <summary>Counts an accepted connection; <see cref="ConnectionClosed"/> is the counterpart.</summary>
    internal void ConnectionAccepted() => Interlocked.Increment(ref _connectionsAccepted);

    /// <summary>Counts the end of an accepted connection.</summary>
    internal void ConnectionClosed() => Interlocked.Increment(ref _connectionsClosed);

    /// <summary>Counts a rejected connection, which counts as neither accepted nor closed.</summary>
    /// <param name="reason">Why.</param>
    internal void ConnectionRejected(ConnectionRejection reason) => _rejected.Add((uint)reason);

    /// <summary>Counts a failed accept.</summary>
    internal void AcceptFailed() => Interlocked.Increment(ref _acceptErrors);

    /// <summary>Counts the start of a session.</summary>
    internal void SessionOpened() => Interlocked.Increment(ref _sessionsOpened);

    /// <summary>Counts the end of a session.</summary>
    internal void SessionClosed() => Interlocked.Increment(ref _sessionsClosed);

    /// <summary>Adds received messages and bytes.</summary>
    /// <param name="messages">Whole frames, 0 or more.</param>
    /// <param name="bytes">Bytes, headers included, 0 or more.</param>
    internal void Received(long messages, long bytes) => _traffic.AddReceived(messages, bytes);

    /// <summary>Adds sent messages and bytes.</summary>
    /// <param name="messages">Whole frames, 0 or more.</param>
    /// <param name="bytes">Bytes, headers included, 0 or more.</param>
    internal void Sent(long messages, long bytes) => _traffic.AddSent(messages, bytes);

    /// <summary>Counts an error frame sent.</summary>
    /// <param name="code">The code in the protocol's error table; other codes are counted together as 0.</param>
    internal void ErrorSent(uint code) => _errorsSent.Add(ErrorTag(code));

    /// <summary>Counts a one-way message that failed; its sender gets no error.</summary>
    /// <param name="code">
    /// The code of the error frame for a request that fails in the same way; unknown codes are counted together as 0.
    /// </param>
    internal void OneWayFailed(uint code) => _oneWayFailures.Add(ErrorTag(code));

    /// <summary>Counts dropped frames.</summary>
    /// <param name="reason">Why.</param>
    /// <param name="frames">Number of frames. Defaults to 1.</param>
    internal void FramesDropped(FrameDrop reason, long frames = 1) => _dropped.Add((uint)reason, frames);

    /// <summary>Counts that a session, or a new connection, was over a rate.</summary>
    /// <param name="scope">Whose rate.</param>
    /// <param name="resource">Which one.</param>
    internal void RateExceeded(RateScope scope, RateResource resource) =>
        _ratesExceeded.Add(ServerCountersSnapshot.RateTag(scope, resource));

    /// <summary>Counts a reply whose correlation belongs to no request.</summary>
    internal void ReplyToNothing() => Interlocked.Increment(ref _repliesToNothing);

    /// <summary>Counts a connection closed by a deadline.</summary>
    /// <param name="kind">Which deadline.</param>
    internal void TimeoutClosed(ConnectionTimeout kind) => _timeouts.Add((uint)kind);

    /// <summary>Counts a Relay that its target's send queue took.</summary>
    internal void Relayed() => _traffic.AddRelayed();

    /// <summary>Counts a Relay delayed by a full target; one Relay may be delayed several times.</summary>
    internal void RelayWaited() => Interlocked.Increment(ref _relaysWaited);

    /// <summary>Counts a Relay that its target did not get.</summary>
    /// <param name="reason">Why.</param>
    internal void RelayFailed(RelayFailure reason) => _relayFailures.Add((uint)reason);

    /// <summary>Counts a Publish.</summary>
    /// <param name="deliveries">Sessions that got the message, 0 or more.</param>
    internal void Published(long deliveries) => _traffic.AddPublished(deliveries);

    /// <summary>Counts new or ended subscriptions.</summary>
    /// <param name="change">Change of the number of subscriptions; negative if it decreases.</param>
    internal void Subscribed(long change) => Interlocked.Add(ref _subscriptions, change);

    /// <summary>The present counts. Each count is exact; they are read one after the other, not at the same moment.</summary>
    public ServerCountersSnapshot Snapshot()
    {
        // Read the closed counts before the opened ones: in the reverse order a short connection in between would make the number of open
        // connections negative.
        var connectionsClosed = Interlocked.Read(ref _connectionsClosed);
        var sessionsClosed = Interlocked.Read(ref _sessionsClosed);
        var traffic = _traffic.Sum();
        return new ServerCountersSnapshot(
            _rejected.ToArray(), _dropped.ToArray(), _timeouts.ToArray(), _errorsSent.ToArray(), _oneWayFailures.ToArray(),
            _relayFailures.ToArray(), _ratesExceeded.ToArray())
        {
            ConnectionsAccepted = Interlocked.Read(ref _connectionsAccepted),
            ConnectionsClosed = connectionsClosed,
            SessionsOpened = Interlocked.Read(ref _sessionsOpened),
            SessionsClosed = sessionsClosed,
            AcceptErrors = Interlocked.Read(ref _acceptErrors),
            MessagesIn = traffic.MessagesIn,
            MessagesOut = traffic.MessagesOut,
            BytesIn = traffic.BytesIn,
            BytesOut = traffic.BytesOut,
            RepliesToNothing = Interlocked.Read(ref _repliesToNothing),
            Relayed = traffic.Relayed,
            RelaysWaited = Interlocked.Read(ref _relaysWaited),
            Published = traffic.Published,
            Delivered = traffic.Delivered,
            SubscriptionsOpen = Interlocked.Read(ref _subscriptions),
        };
    }

    private static uint ErrorTag(uint code) => code < ServerCountersSnapshot.ErrorTags ? code : 0;
}
