using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>
/// Finds the data types that are numbers: those of the standard, and those that a server derives from them (OPC 10000-3, 8.32).
/// Enumerations are not numbers.
/// </summary>
internal static class NumberTypes
{
    // OPC 10000-5, 11.2.
    private const uint HasSubtype = 45;

    // Types are derived in a few steps. Cycles in a server's references must not be followed forever.
    private const int MaxSteps = 20;

    /// <summary>Those of some types that are numbers.</summary>
    /// <param name="link">Browses the types that are not the standard's.</param>
    /// <param name="types">The types.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="OpcUaException">The types cannot be browsed now.</exception>
    public static async ValueTask<HashSet<NodeId>> FindAsync(
        IOpcUaLink link, IEnumerable<NodeId> types, CancellationToken cancellationToken)
    {
        HashSet<NodeId> numbers = [];

        // Each type, with its base type: there is only one, regardless of what a server reports.
        List<(NodeId Type, NodeId Base)> left = [.. types.Distinct().Select(static type => (type, type))];
        for (int i = 0; i < MaxSteps; i++)
        {
            numbers.UnionWith(left.Where(static one => IsNumber(one.Base)).Select(static one => one.Type));
            left.RemoveAll(static one => IsNumber(one.Base) || IsOther(one.Base));
            if (left.Count == 0)
            {
                break;
            }

            BrowsedNode[] browsed = await link
                .BrowseAsync([.. left.Select(static one => one.Base)], BrowseDirection.Inverse, cancellationToken).ConfigureAwait(false);
            left =
            [
                .. left.SelectMany((one, at) => browsed[at].References
                    .Where(static reference => reference.ReferenceTypeId == new NodeId(0, HasSubtype)).Take(1)
                    .Select(reference => (one.Type, reference.NodeId.NodeId))),
            ];
        }

        return numbers;
    }

    // The built-in types of numbers, and Number, Integer and UInteger (OPC 10000-6, 5.1.2; OPC 10000-5, 12.2).
    private static bool IsNumber(NodeId type) => type is { NamespaceIndex: 0, Number: (>= 2 and <= 11) or (>= 26 and <= 28) };

    // The other built-in types, and Enumeration.
    private static bool IsOther(NodeId type) => type.IsNull || type is { NamespaceIndex: 0, Number: (>= 1 and <= 25) or 29 };
}
