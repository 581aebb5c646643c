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

    /// <summary>Whether the references of one more node may be looked at. Those of the first one may in any case.</summary>
    public bool TryVisit(int references)
    {
        if (_references > MostReferences)
        {
            return false;
        }

        _references += references;
        return true;
    }

    /// <summary>Counts a result, about, and never too much.</summary>
    public void Add(in ReferenceDescription found) =>
        _bytes += ReferenceBytes + (found.NodeId.NodeId.Text?.Length ?? 0)
            + (found.BrowseName.Name?.Length ?? 0) + (found.DisplayName.Text?.Length ?? 0);
}
