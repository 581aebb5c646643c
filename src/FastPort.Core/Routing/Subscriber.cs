namespace FastPort.Routing;

/// <summary>
/// A session that has been subscribed at least once, until its end. <see cref="Session"/> and <see cref="Number"/> may be read on any
/// thread; <see cref="TopicIndex"/> guards the rest.
/// </summary>
/// <param name="session">The session.</param>
/// <param name="number">A small number that is unique among the subscribers; see <see cref="DeliveryMarks"/>.</param>
/// <param name="maxChanges">Maximum burst of changes that the session's peer may make.</param>
/// <param name="nowMilliseconds">The clock's reading, in milliseconds.</param>
internal sealed class Subscriber(Session session, int number, int maxChanges, long nowMilliseconds)
{
    private double _changesLeft = maxChanges;
    private long _countedAt = nowMilliseconds;

    public Session Session { get; } = session;

    public int Number { get; } = number;

    /// <summary>The prefixes that the session's peer has subscribed to.</summary>
    public PrefixTrie<byte[]> OfPeer { get; } = new();

    /// <summary>The prefixes that the server's program has subscribed the session to; null before the first.</summary>
    public PrefixTrie<byte[]>? OfServer { get; set; }

    /// <summary>Total number of these prefixes.</summary>
    public int Count { get; set; }

    /// <summary>Counts a subscription change of the peer; false if the peer exceeds its rate.</summary>
    /// <param name="perSecond">Allowed changes per second.</param>
    /// <param name="nowMilliseconds">The clock's reading, in milliseconds.</param>
    public bool TryChange(int perSecond, long nowMilliseconds)
    {
        _changesLeft = Math.Min(maxChanges, _changesLeft + ((nowMilliseconds - _countedAt) * perSecond / 1000.0));
        _countedAt = nowMilliseconds;
        if (_changesLeft < 1)
        {
            return false;
        }

        _changesLeft--;
        return true;
    }
}
