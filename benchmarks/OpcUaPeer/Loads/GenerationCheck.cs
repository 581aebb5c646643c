
namespace OpcUaPeer.Loads;

/// <summary>
/// Checks values that change while they are read: none may be of a generation older than those seen before, or too old when it was asked
/// for. No stale answer passes. Safe from any thread.
/// </summary>
/// <param name="maxAge">The greatest age of a value when it is asked for.</param>
/// <param name="behind">
/// Generations that a value may be behind the newest. 1 or more: a generation is told to all tags one after the other.
/// </param>
internal sealed class GenerationCheck(TimeSpan maxAge, int behind)
{
    private int _generation;
    private int _generations;

    /// <summary>What holds for values that are asked for now.</summary>
    public Asked Ask() => new(DateTime.UtcNow - maxAge, Volatile.Read(ref _generation) - behind);

    /// <summary>Checks a value.</summary>
    /// <exception cref="PeerException">It is too old.</exception>
    public void Check(int tag, int generation, DateTime sourceTime, in Asked asked)
    {
        if (sourceTime < asked.Oldest)
        {
            throw new PeerException(
                $"The value of tag {tag} was set at {sourceTime:O}, {maxAge.TotalSeconds} s or more before it was read.");
        }

        // The generation of a text is not known beyond a thousand.
        if (TagValues.IsText(tag))
        {
            return;
        }

        if (generation < asked.Least)
        {
            throw new PeerException($"Tag {tag} has generation {generation} after {asked.Least + behind} was seen.");
        }

        int seen = Volatile.Read(ref _generation);
        if (generation > seen && Interlocked.CompareExchange(ref _generation, generation, seen) == seen)
        {
            Interlocked.Increment(ref _generations);
        }
    }

    /// <summary>Checks that there was something to check. A run is longer than a period of changes only where it measures.</summary>
    /// <exception cref="PeerException">No value has changed.</exception>
    public void RequireChanges()
    {
        if (_generations == 0)
        {
            throw new PeerException("No value has ever changed.");
        }
    }

    /// <summary>A value that its tag never has.</summary>
    public static PeerException NoValueOf(int tag, string value) =>
        new($"Tag {tag} has the value {value}, which is none of its values.");

    /// <summary>What holds for values that were asked for at a time.</summary>
    internal readonly record struct Asked(DateTime Oldest, int Least);
}
