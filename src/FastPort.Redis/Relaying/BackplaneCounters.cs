namespace FastPort.Redis.Relaying;

/// <summary>What this node has exchanged with the others. Thread-safe.</summary>
internal sealed class BackplaneCounters
{
    private long _batches;
    private long _batchBytes;
    private long _sent;
    private long _received;
    private long _forwarded;
    private long _lostOneWays;
    private long _unknown;
    private long _lookups;

    public long Batches => Volatile.Read(ref _batches);

    public long BatchBytes => Volatile.Read(ref _batchBytes);

    /// <summary>Relays sent to other nodes.</summary>
    public long Sent => Volatile.Read(ref _sent);

    /// <summary>Relays of other nodes for sessions of this one.</summary>
    public long Received => Volatile.Read(ref _received);

    /// <summary>Relays passed on, because their target had moved.</summary>
    public long Forwarded => Volatile.Read(ref _forwarded);

    /// <summary>One-way relays that have not reached their target, or of which that is unknown.</summary>
    public long LostOneWays => Volatile.Read(ref _lostOneWays);

    /// <summary>Batches and entries that this node does not understand.</summary>
    public long Unknown => Volatile.Read(ref _unknown);

    /// <summary>Questions to Redis where an id is.</summary>
    public long Lookups => Volatile.Read(ref _lookups);

    public void BatchSent(int relays, int bytes)
    {
        Interlocked.Increment(ref _batches);
        Interlocked.Add(ref _batchBytes, bytes);
        Interlocked.Add(ref _sent, relays);
    }

    public void RelaysReceived(int relays) => Interlocked.Add(ref _received, relays);

    public void RelayForwarded() => Interlocked.Increment(ref _forwarded);

    public void OneWaysLost(int count) => Interlocked.Add(ref _lostOneWays, count);

    public void NotUnderstood() => Interlocked.Increment(ref _unknown);

    public void LookedUp() => Interlocked.Increment(ref _lookups);
}
