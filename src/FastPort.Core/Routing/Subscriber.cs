using FastPort.Sessions;

namespace FastPort.Routing;

/// <summary>
/// A session that was subscribed at least once, until its end. <see cref="Session"/> and <see cref="Number"/> are for any thread, the rest
/// is guarded by <see cref="TopicIndex"/>.
/// </summary>
/// <param name="session">The session.</param>
/// <param name="number">A small number that no other subscriber has; see <see cref="DeliveryMarks"/>.</param>
/// <param name="maxChanges">Changes that its peer may make at once.</param>
/// <param name="nowMilliseconds">The clock's reading.</param>
internal sealed class Subscriber(Session session, int number, int maxChanges, long nowMilliseconds)
{
    private double _changesLeft = maxChanges;
    private long _countedAt = nowMilliseconds;

    public Session Session { get; } = session;

    public int Number { get; } = number;

    /// <summary>The prefixes that its peer has subscribed to.</summary>
    public PrefixTrie<byte[]> OfPeer { get; } = new();

    /// <summary>The prefixes that the server's program has subscribed it to; made with the first.</summary>
    public PrefixTrie<byte[]>? OfServer { get; set; }

    /// <summary>How many prefixes these are together.</summary>
    public int Count { get; set; }

    /// <summary>False where the peer changes its subscriptions too often.</summary>
    /// <param name="perSecond">Changes that it may make for long.</param>
    /// <param name="nowMilliseconds">The clock's reading.</param>
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
