namespace FastPort.OpcUa.Server;

/// <summary>
/// Bounds what one Browse, BrowseNext or TranslateBrowsePathsToNodeIds costs: one request can name a folder of very many nodes a thousand
/// times, in a loop that other connections share.
/// </summary>
/// <param name="mostBytes">Largest response.</param>
internal struct BrowseBudget(int mostBytes)
{
    // About 50 ms of comparing.
    private const int MostReferences = 1_000_000;

    // Of an encoded reference without its texts; the least.
    private const int ReferenceBytes = 18;

    private long _references;
    private long _bytes;

    /// <summary>Whether the results are larger than the response may be. They are then of no use.</summary>
    public readonly bool IsFull => _bytes > mostBytes;

    /// <summary>Whether no further node may be looked at. One that was begun is looked at to its end.</summary>
    public readonly bool IsUsedUp => _references > MostReferences;

    /// <summary>The results so far, about, and never too much.</summary>
    public readonly long Bytes => _bytes;

    /// <summary>Counts references that were looked at.</summary>
    public void Visit(int references) => _references += references;

    /// <summary>Counts a result.</summary>
    public void Add(in ReferenceDescription found) =>
        _bytes += ReferenceBytes + (found.NodeId.NodeId.Text?.Length ?? 0)
            + (found.BrowseName.Name?.Length ?? 0) + (found.DisplayName.Text?.Length ?? 0);

    /// <summary>Results are not sent after all.</summary>
    /// <param name="bytes"><see cref="Bytes"/> before them.</param>
    public void Undo(long bytes) => _bytes = bytes;
}
