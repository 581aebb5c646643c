namespace FastPort.OpcUa.Server;

/// <summary>
/// Bounds the cost of one Browse, BrowseNext or TranslateBrowsePathsToNodeIds, in a loop that other connections share: one request can name
/// a folder of very many nodes a thousand times. References that do not fit the response come with the next one.
/// </summary>
/// <param name="mostBytes">Maximum bytes of all references in the response.</param>
internal struct BrowseBudget(long mostBytes)
{
    // About 50 ms of comparing.
    private const int MostReferences = 1_000_000;

    // Of an encoded reference: direction, class, namespace of the name, fields of the text.
    private const int FixedBytes = 8;

    private long _references;
    private long _bytes;

    /// <summary>Whether no further node may be examined. A node that was begun is examined completely.</summary>
    public readonly bool IsUsedUp => _references > MostReferences;

    /// <summary>The encoded results so far.</summary>
    public readonly long Bytes => _bytes;

    /// <summary>Counts examined references.</summary>
    public void Visit(int references) => _references += references;

    /// <summary>
    /// Counts a result. False if the response has no room for it. The first one is never too large, or it could never be sent.
    /// </summary>
    public bool TryAdd(in ReferenceDescription found)
    {
        long bytes = FixedBytes + IdBytes(found.ReferenceTypeId) + IdBytes(found.NodeId.NodeId) + IdBytes(found.TypeDefinition.NodeId)
            + TextBytes(found.BrowseName.Name ?? string.Empty) + TextBytes(found.DisplayName.Locale) + TextBytes(found.DisplayName.Text);
        if (_bytes != 0 && _bytes + bytes > mostBytes)
        {
            return false;
        }

        _bytes += bytes;
        return true;
    }

    /// <summary>Results are not sent after all.</summary>
    /// <param name="bytes"><see cref="Bytes"/> before them.</param>
    public void Undo(long bytes) => _bytes = bytes;

    // An id of namespace 0 up to 255 has two bytes, a small one four; others have a type, a namespace, and what they are.
    private static int IdBytes(in NodeId id) => id.Type switch
    {
        NodeIdType.Numeric when id.NamespaceIndex == 0 && id.Number <= byte.MaxValue => 2,
        NodeIdType.Numeric when id.NamespaceIndex <= byte.MaxValue && id.Number <= ushort.MaxValue => 4,
        NodeIdType.Numeric => 7,
        NodeIdType.Guid => 19,
        NodeIdType.String => 3 + TextBytes(id.Text),
        _ => 3 + sizeof(int) + id.Bytes!.Length,
    };

    private static int TextBytes(string? text) => text is null ? 0 : sizeof(int) + System.Text.Encoding.UTF8.GetByteCount(text);
}
