namespace FastPort.Telemetry;

/// <summary>Rare events counted by a small set of tags. Thread-safe.</summary>
internal sealed class TaggedCounts(int tags)
{
    private readonly long[] _counts = new long[tags];

    /// <summary>Adds to a tag. A tag outside the set counts as the last one, so that a peer cannot create tags.</summary>
    internal void Add(uint tag, long count = 1) => Interlocked.Add(ref _counts[Math.Min(tag, (uint)_counts.Length - 1)], count);

    internal long[] ToArray()
    {
        var copy = new long[_counts.Length];
        for (var i = 0; i < copy.Length; i++)
        {
            copy[i] = Interlocked.Read(ref _counts[i]);
        }

        return copy;
    }
}
