namespace FastPort.Telemetry;

/// <summary>The counters of a server that do not depend on its protocol. Thread-safe; adding never blocks or allocates.</summary>
public sealed class ConnectionCounters
{
    private readonly TaggedCounts _rejected = new(Enum.GetValues<ConnectionRejection>().Length);
    private readonly TaggedCounts _ratesExceeded = new(ConnectionCountersSnapshot.RateTags);
    private long _accepted;
    private long _closed;
    private long _acceptErrors;

    // Made by a server.
    internal ConnectionCounters()
    {
    }

    /// <summary>Counts an accepted connection; <see cref="Closed"/> is the counterpart.</summary>
    internal void Accepted() => Interlocked.Increment(ref _accepted);

    /// <summary>Counts the end of an accepted connection.</summary>
    internal void Closed() => Interlocked.Increment(ref _closed);

    /// <summary>Counts a rejected connection, which counts as neither accepted nor closed.</summary>
    /// <param name="reason">Why.</param>
    internal void Rejected(ConnectionRejection reason) => _rejected.Add((uint)reason);

    /// <summary>Counts a failed accept.</summary>
    internal void AcceptFailed() => Interlocked.Increment(ref _acceptErrors);

    /// <summary>Counts that a session, or a new connection, was over a rate.</summary>
    /// <param name="scope">The scope of the rate.</param>
    /// <param name="resource">The resource that the rate limits.</param>
    internal void RateExceeded(RateScope scope, RateResource resource) =>
        _ratesExceeded.Add(ConnectionCountersSnapshot.RateTag(scope, resource));

    /// <summary>The current counts. Each count is exact; they are read one after the other, not at the same moment.</summary>
    public ConnectionCountersSnapshot Snapshot()
    {
        // Read before the accepted ones: in the reverse order a short connection in between would make the number of open connections
        // negative.
        long closed = Interlocked.Read(ref _closed);
        return new ConnectionCountersSnapshot(_rejected.ToArray(), _ratesExceeded.ToArray())
        {
            ConnectionsAccepted = Interlocked.Read(ref _accepted),
            ConnectionsClosed = closed,
            AcceptErrors = Interlocked.Read(ref _acceptErrors),
        };
    }
}
