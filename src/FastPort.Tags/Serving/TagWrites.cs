namespace FastPort.Tags.Serving;

/// <summary>
/// Writes of a tag and of its parts: one of them at a time, because they have elements in common. The source's gate guards it.
/// </summary>
internal sealed class TagWrites
{
    /// <summary>When the last write began or ended; <see cref="long.MinValue"/> for none.</summary>
    public long WrittenAt { get; set; } = long.MinValue;

    /// <summary>Whether a write is in progress, and the writes that wait for its end.</summary>
    public bool IsUnderWay { get; set; }

    public Queue<WriteItem>? Waiting { get; set; }
}
