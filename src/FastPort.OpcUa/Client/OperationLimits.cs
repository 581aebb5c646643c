namespace FastPort.OpcUa.Client;

/// <summary>How many operations a server serves in a request (OPC 10000-5, 6.3.11).</summary>
/// <param name="MaxNodesPerRead">Nodes of a Read.</param>
/// <param name="MaxNodesPerWrite">Nodes of a Write.</param>
/// <param name="MaxNodesPerBrowse">Nodes of a Browse or BrowseNext.</param>
/// <param name="MaxNodesPerRegisterNodes">Nodes of a RegisterNodes.</param>
/// <param name="MaxNodesPerTranslateBrowsePaths">Paths of a TranslateBrowsePathsToNodeIds.</param>
/// <param name="MaxMonitoredItemsPerCall">
/// Items of a service of monitored items; <see cref="MostItems"/> if the server names no limit: it may need long for each.
/// </param>
internal sealed record OperationLimits(
    int MaxNodesPerRead,
    int MaxNodesPerWrite,
    int MaxNodesPerBrowse,
    int MaxNodesPerRegisterNodes,
    int MaxNodesPerTranslateBrowsePaths,
    int MaxMonitoredItemsPerCall)
{
    // The nodes of namespace 0 that hold the limits.
    private const uint Read = 11705;
    private const uint Write = 11707;
    private const uint Browse = 11710;
    private const uint RegisterNodes = 11711;
    private const uint TranslateBrowsePaths = 11712;
    private const uint MonitoredItems = 11714;

    private const int MostItems = 1000;

    public static OperationLimits None { get; } =
        new(int.MaxValue, int.MaxValue, int.MaxValue, int.MaxValue, int.MaxValue, MostItems);

    /// <summary>The nodes that hold the limits, in the order of <see cref="Of"/>.</summary>
    public static IReadOnlyList<NodeId> Nodes { get; } =
        [new(0, Read), new(0, Write), new(0, Browse), new(0, RegisterNodes), new(0, TranslateBrowsePaths), new(0, MonitoredItems)];

    /// <summary>The limits from the nodes' values. A node that is missing or 0 is no limit.</summary>
    public static OperationLimits Of(DataValue[] values) =>
        new(Limit(values[0]), Limit(values[1]), Limit(values[2]), Limit(values[3]), Limit(values[4]), Limit(values[5], MostItems));

    private static int Limit(in DataValue value, int otherwise = int.MaxValue) =>
        value.Value.TryGet(out uint limit) && limit is > 0 and < int.MaxValue ? (int)limit : otherwise;
}
