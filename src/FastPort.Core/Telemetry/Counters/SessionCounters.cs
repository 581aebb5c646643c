namespace FastPort.Telemetry;

/// <summary>The counters of a server, or of a client. Thread-safe; adding never blocks or allocates.</summary>
/// <remarks>
/// A connection's loop counts its messages and bytes in plain fields and adds them here at a tick of the coarse clock, not once per
/// message. <see cref="FastPortMeter"/> publishes the counters.
/// </remarks>
public sealed class SessionCounters
{
    private readonly TrafficCounters _traffic = new();
    private readonly TaggedCounts _dropped = new(Enum.GetValues<FrameDrop>().Length);
    private readonly TaggedCounts _timeouts = new(Enum.GetValues<ConnectionTimeout>().Length);
    private readonly TaggedCounts _errorsSent = new(SessionCountersSnapshot.ErrorTags);
    private readonly TaggedCounts _oneWayFailures = new(SessionCountersSnapshot.ErrorTags);
    private readonly TaggedCounts _relayFailures = new(Enum.GetValues<RelayFailure>().Length);
    private long _sessionsOpened;
    private long _sessionsClosed;
    private long _repliesToNothing;
    private long _relaysWaited;
    private long _subscriptions;
    private long _publicationsDropped;
    private long _streamsOpened;
    private long _streamsEnded;
    private long _streamItemsIn;
    private long _streamItemsOut;
    private long _streamStalls;

    /// <summary>The counters of the server's connections.</summary>
    internal ConnectionCounters Connections { get; } = new();

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

    /// <summary>Counts a published message that a client has received and dropped, because the reader of its stream is too slow.</summary>
    internal void PublicationDropped() => Interlocked.Increment(ref _publicationsDropped);

    /// <summary>Counts a call that streams, of either side.</summary>
    internal void StreamOpened() => Interlocked.Increment(ref _streamsOpened);

    /// <summary>Counts the end of such a call.</summary>
    internal void StreamEnded() => Interlocked.Increment(ref _streamsEnded);

    /// <summary>Adds items of streams, of both directions.</summary>
    /// <param name="itemsIn">Items received, 0 or more.</param>
    /// <param name="itemsOut">Items sent, 0 or more.</param>
    /// <param name="stalls">How often a sender waited for credit, 0 or more.</param>
    internal void Streamed(long itemsIn, long itemsOut, long stalls)
    {
        Interlocked.Add(ref _streamItemsIn, itemsIn);
        Interlocked.Add(ref _streamItemsOut, itemsOut);
        Interlocked.Add(ref _streamStalls, stalls);
    }

    /// <summary>The current counts. Each count is exact; they are read one after the other, not at the same moment.</summary>
    public SessionCountersSnapshot Snapshot()
    {
        ConnectionCountersSnapshot connections = Connections.Snapshot();

        // Read before the opened ones: in the reverse order a short session in between would make the number of open sessions negative.
        var sessionsClosed = Interlocked.Read(ref _sessionsClosed);
        var streamsEnded = Interlocked.Read(ref _streamsEnded);
        var traffic = _traffic.Sum();
        return new SessionCountersSnapshot(
            connections, _dropped.ToArray(), _timeouts.ToArray(), _errorsSent.ToArray(), _oneWayFailures.ToArray(),
            _relayFailures.ToArray())
        {
            ConnectionsAccepted = connections.ConnectionsAccepted,
            ConnectionsClosed = connections.ConnectionsClosed,
            SessionsOpened = Interlocked.Read(ref _sessionsOpened),
            SessionsClosed = sessionsClosed,
            AcceptErrors = connections.AcceptErrors,
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
            PublicationsDropped = Interlocked.Read(ref _publicationsDropped),
            StreamsOpened = Interlocked.Read(ref _streamsOpened),
            StreamsEnded = streamsEnded,
            StreamItemsIn = Interlocked.Read(ref _streamItemsIn),
            StreamItemsOut = Interlocked.Read(ref _streamItemsOut),
            StreamStalls = Interlocked.Read(ref _streamStalls),
        };
    }

    private static uint ErrorTag(uint code) => code < SessionCountersSnapshot.ErrorTags ? code : 0;
}
