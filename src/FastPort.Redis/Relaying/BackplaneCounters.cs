namespace FastPort.Redis.Relaying;

/// <summary>Counts of this node's exchange with the others. Thread-safe.</summary>
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
    private long _publicationsSent;
    private long _publicationsReceived;
    private long _publicationsLost;
    private long _interestsRefused;

    public long Batches => Volatile.Read(ref _batches);

    public long BatchBytes => Volatile.Read(ref _batchBytes);

    /// <summary>Relays sent to other nodes.</summary>
    public long Sent => Volatile.Read(ref _sent);

    /// <summary>Relays received from other nodes for sessions of this one.</summary>
    public long Received => Volatile.Read(ref _received);

    /// <summary>Relays forwarded because their target had moved.</summary>
    public long Forwarded => Volatile.Read(ref _forwarded);

    /// <summary>One-way relays that have not, or may not have, reached their target.</summary>
    public long LostOneWays => Volatile.Read(ref _lostOneWays);

    /// <summary>Batches and entries that this node does not understand.</summary>
    public long Unknown => Volatile.Read(ref _unknown);

    /// <summary>Questions to Redis where an id is.</summary>
    public long Lookups => Volatile.Read(ref _lookups);

    /// <summary>Publications sent to other nodes, each counted once for each node.</summary>
    public long PublicationsSent => Volatile.Read(ref _publicationsSent);

    /// <summary>Publications received from other nodes.</summary>
    public long PublicationsReceived => Volatile.Read(ref _publicationsReceived);

    /// <summary>Publications that have not, or may not have, reached another node that wants them.</summary>
    public long LostPublications => Volatile.Read(ref _publicationsLost);

    /// <summary>Topic prefixes of other nodes that are not kept because a node has too many.</summary>
    public long RefusedInterests => Volatile.Read(ref _interestsRefused);

    public void BatchSent(in BatchContent content, int bytes)
    {
        Interlocked.Increment(ref _batches);
        Interlocked.Add(ref _batchBytes, bytes);
        Interlocked.Add(ref _sent, content.Relays);
        Interlocked.Add(ref _publicationsSent, content.Publications);
    }

    public void RelaysReceived(int relays) => Interlocked.Add(ref _received, relays);

    public void PublicationsArrived(int publications) => Interlocked.Add(ref _publicationsReceived, publications);

    public void PublicationsLost(int count) => Interlocked.Add(ref _publicationsLost, count);

    public void InterestRefused() => Interlocked.Increment(ref _interestsRefused);

    public void RelayForwarded() => Interlocked.Increment(ref _forwarded);

    public void OneWaysLost(int count) => Interlocked.Add(ref _lostOneWays, count);

    public void NotUnderstood() => Interlocked.Increment(ref _unknown);

    public void LookedUp() => Interlocked.Increment(ref _lookups);
}
