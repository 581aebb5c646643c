namespace FastPort.Telemetry.Counters;

/// <summary>Everything a server counts. Thread-safe; adding never blocks or allocates.</summary>
/// <remarks>
/// Messages and bytes are counted per connection in plain fields by its loop; they are added here at each tick of the coarse clock, not
/// once per message. <see cref="FastPortMeter"/> publishes the counters.
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
    private long _connectionsAccepted;
    private long _connectionsClosed;
    private long _sessionsOpened;
    private long _sessionsClosed;
    private long _acceptErrors;
    private long _repliesToNothing;
    private long _relaysWaited;
    private long _subscriptions;

    /// <summary>Counts a connection let in; <see cref="ConnectionClosed"/> is its counterpart.</summary>
    public void ConnectionAccepted() => Interlocked.Increment(ref _connectionsAccepted);

    /// <summary>Counts the end of a connection let in.</summary>
    public void ConnectionClosed() => Interlocked.Increment(ref _connectionsClosed);

    /// <summary>Counts a connection turned away; it counts as neither accepted nor closed.</summary>
    /// <param name="reason">Why.</param>
    public void ConnectionRejected(ConnectionRejection reason) => _rejected.Add((uint)reason);

    /// <summary>Counts an accept that failed.</summary>
    public void AcceptFailed() => Interlocked.Increment(ref _acceptErrors);

    /// <summary>Counts a session's Connected.</summary>
    public void SessionOpened() => Interlocked.Increment(ref _sessionsOpened);

    /// <summary>Counts a session's Closed.</summary>
    public void SessionClosed() => Interlocked.Increment(ref _sessionsClosed);

    /// <summary>Adds what a burst received.</summary>
    /// <param name="messages">Whole frames, 0 or more.</param>
    /// <param name="bytes">Bytes, headers included, 0 or more.</param>
    public void Received(long messages, long bytes) => _traffic.AddReceived(messages, bytes);

    /// <summary>Adds what a burst sent.</summary>
    /// <param name="messages">Whole frames, 0 or more.</param>
    /// <param name="bytes">Bytes, headers included, 0 or more.</param>
    public void Sent(long messages, long bytes) => _traffic.AddSent(messages, bytes);

    /// <summary>Counts an error frame sent.</summary>
    /// <param name="code">Its code in the wire protocol's error table; others are counted together as 0.</param>
    public void ErrorSent(uint code) => _errorsSent.Add(ErrorTag(code));

    /// <summary>Counts a one-way message that failed: nobody is told of it otherwise.</summary>
    /// <param name="code">The code of the error frame a request would have got; unknown ones are counted together as 0.</param>
    public void OneWayFailed(uint code) => _oneWayFailures.Add(ErrorTag(code));

    /// <summary>Counts frames dropped.</summary>
    /// <param name="reason">Why.</param>
    /// <param name="frames">How many. Defaults to 1.</param>
    public void FramesDropped(FrameDrop reason, long frames = 1) => _dropped.Add((uint)reason, frames);

    /// <summary>Counts a reply whose correlation belongs to no request.</summary>
    public void ReplyToNothing() => Interlocked.Increment(ref _repliesToNothing);

    /// <summary>Counts a connection closed by a deadline.</summary>
    /// <param name="kind">Which deadline.</param>
    public void TimeoutClosed(ConnectionTimeout kind) => _timeouts.Add((uint)kind);

    /// <summary>Counts a Relay that its target's send queue took.</summary>
    public void Relayed() => _traffic.AddRelayed();

    /// <summary>Counts a Relay held back by a full target; one may be held back several times.</summary>
    public void RelayWaited() => Interlocked.Increment(ref _relaysWaited);

    /// <summary>Counts a Relay that its target did not get.</summary>
    /// <param name="reason">Why.</param>
    public void RelayFailed(RelayFailure reason) => _relayFailures.Add((uint)reason);

    /// <summary>Counts a Publish.</summary>
    /// <param name="deliveries">Sessions that got it, 0 or more.</param>
    public void Published(long deliveries) => _traffic.AddPublished(deliveries);

    /// <summary>Counts subscriptions begun or ended.</summary>
    /// <param name="change">How many more there are; negative where there are fewer.</param>
    public void Subscribed(long change) => Interlocked.Add(ref _subscriptions, change);

    /// <summary>The counts of now. Each is exact; they are read one after the other while traffic goes on.</summary>
    public ServerCountersSnapshot Snapshot()
    {
        // Closed before opened: read the other way round, a short connection in between would make the number open negative.
        var connectionsClosed = Interlocked.Read(ref _connectionsClosed);
        var sessionsClosed = Interlocked.Read(ref _sessionsClosed);
        var traffic = _traffic.Sum();
        return new ServerCountersSnapshot(
            _rejected.ToArray(), _dropped.ToArray(), _timeouts.ToArray(), _errorsSent.ToArray(), _oneWayFailures.ToArray(),
            _relayFailures.ToArray())
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
