using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>
/// Types of a server's information about itself and its clients: conditions, diagnostics of sessions and subscriptions, the configuration
/// of certificates. Objects of them come and go with clients and alarms; they are tags only where browsing begins at one of them.
/// </summary>
internal static class HiddenTypes
{
    // OPC 10000-9, 5.5.2.
    private const uint ConditionType = 2782;

    // OPC 10000-5, 6.3.3, and OPC 10000-12, 7.10.3.
    private const uint ServerDiagnosticsType = 2020;
    private const uint ServerConfigurationType = 12581;

    // Types are derived in a few steps. Cycles in a server's references must not be followed forever.
    private const int MaxSteps = 20;
    private const int MaxTypes = 10_000;

    /// <summary>The types, with those that a server derives from them.</summary>
    /// <param name="link">Browses them.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="OpcUaException">They cannot be browsed now.</exception>
    public static async ValueTask<HashSet<NodeId>> FindAsync(IOpcUaLink link, CancellationToken cancellationToken)
    {
        HashSet<NodeId> types = [new(0, ConditionType), new(0, ServerDiagnosticsType), new(0, ServerConfigurationType)];
        NodeId[] level = [.. types];
        for (int i = 0; i < MaxSteps && level.Length != 0 && types.Count < MaxTypes; i++)
        {
            BrowsedNode[] browsed = await link.BrowseAsync(level, BrowseDirection.Forward, cancellationToken).ConfigureAwait(false);
            level =
            [
                .. browsed.SelectMany(static one => one.References)
                    .Where(static one => one is { NodeClass: NodeClass.ObjectType, NodeId.ServerIndex: 0, NodeId.NamespaceUri: null })
                    .Select(static one => one.NodeId.NodeId)
                    .Where(types.Add),
            ];
        }

        return types;
    }
}
