using FastPortPeer;

namespace OpcUaPeer.Loads;

/// <summary>
/// What is known of the generations that a server's tags have been through, and how old a value may be: no stale answer passes.
/// Thread-safe.
/// </summary>
internal sealed class Generations(TimeSpan maxAge)
{
    private int _newest;
    private int _changes;

    /// <summary>What may be answered to a request that is sent now.</summary>
    public Bounds Now() => new(DateTime.UtcNow - maxAge, Volatile.Read(ref _newest) - 1);

    /// <summary>Checks a value.</summary>
    /// <param name="tag">The tag.</param>
    /// <param name="generation">The value's generation; negative if it is no value of the tag.</param>
    /// <param name="time">When the value was set.</param>
    /// <param name="bounds">From before the request.</param>
    /// <exception cref="PeerException">The value is wrong or stale.</exception>
    public void Check(int tag, int generation, DateTime time, in Bounds bounds)
    {
        if (generation < 0)
        {
            throw new PeerException($"Tag {tag} has a bad status or a value that is none of its values.");
        }

        if (time < bounds.Oldest)
        {
            throw new PeerException($"The value of tag {tag} was set at {time:O}, {maxAge.TotalSeconds} s or more before it was read.");
        }

        if (TagValues.IsText(tag))
        {
            return;
        }

        if (generation < bounds.Least)
        {
            throw new PeerException($"Tag {tag} has generation {generation} after {bounds.Least + 1} was seen.");
        }

        int seen = Volatile.Read(ref _newest);
        if (generation > seen && Interlocked.CompareExchange(ref _newest, generation, seen) == seen)
        {
            Interlocked.Increment(ref _changes);
        }
    }

    /// <summary>Checks that values have changed: a run is longer than a period of changes only where it measures.</summary>
    /// <exception cref="PeerException">None has.</exception>
    public void CheckChanged()
    {
        if (_changes == 0)
        {
            throw new PeerException("No value has ever changed.");
        }
    }

    /// <summary>What may be answered to a request.</summary>
    /// <param name="Oldest">Values were set then or later.</param>
    /// <param name="Least">
    /// Their generation at least. A generation is told to all tags one after the other, so one before the newest is not stale yet.
    /// </param>
    internal readonly record struct Bounds(DateTime Oldest, int Least);
}
