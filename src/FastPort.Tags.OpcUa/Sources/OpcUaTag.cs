using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>A tag of an OPC UA server. Immutable; replaced when more details are known.</summary>
/// <param name="Id">The node, with its namespace's URI.</param>
/// <param name="Info">The description for clients.</param>
/// <param name="Group">How it is sampled and published; null to follow the subscribers.</param>
internal sealed record OpcUaTag(ExpandedNodeId Id, TagInfo Info, OpcUaTagGroupOptions? Group)
{
    /// <summary>The deadband requested from the server: that of its group, if servers accept it for this tag.</summary>
    public Deadband Filter { get; init; }

    /// <summary>A tag without further details: until its type is known, changes may be left out.</summary>
    public static OpcUaTag Create(ExpandedNodeId id, TagInfo info, OpcUaTagGroupOptions? group) => new(
        id,
        info with
        {
            Interval = group?.PublishingInterval,
            ReportsAllChanges = group is null || group.Filter == Deadband.None,
        },
        group);
}

/// <summary>A method of an OPC UA server.</summary>
internal sealed record OpcUaMethod(string Name, ExpandedNodeId Object, ExpandedNodeId Method);

/// <summary>All known tags of an OPC UA server at one time. Immutable: readers see one version or the next.</summary>
internal sealed class OpcUaTags
{
    private readonly Dictionary<string, OpcUaTag> _byName;

    public OpcUaTags(IReadOnlyList<OpcUaTag> tags, IReadOnlyList<NodeId> nodes, IReadOnlyDictionary<string, OpcUaMethod> methods)
    {
        All = tags;
        Nodes = nodes;
        Methods = methods;
        _byName = tags.ToDictionary(static tag => tag.Info.Name, StringComparer.Ordinal);
    }

    /// <summary>By number.</summary>
    public IReadOnlyList<OpcUaTag> All { get; }

    /// <summary>The current node ids, by number; null for a tag whose namespace the server does not have.</summary>
    public IReadOnlyList<NodeId> Nodes { get; }

    /// <summary>By name.</summary>
    public IReadOnlyDictionary<string, OpcUaMethod> Methods { get; }

    /// <summary>Names that several nodes share, as logged; empty if there are none.</summary>
    public string Shared { get; init; } = string.Empty;

    /// <summary>What is wrong with tags of the configuration that have no values; empty if nothing is.</summary>
    public string Missing { get; init; } = string.Empty;

    /// <summary>
    /// Nodes of tags, and nodes to browse below, that the server does not have now; limited to the number that is looked up.
    /// </summary>
    public IReadOnlyList<ExpandedNodeId> Absent { get; init; } = [];

    /// <summary>Number of tags whose variables the server has.</summary>
    public int PresentCount { get; init; }

    public IEnumerable<string> Names => _byName.Keys;

    public OpcUaTag? Find(string name) => _byName.GetValueOrDefault(name);
}
