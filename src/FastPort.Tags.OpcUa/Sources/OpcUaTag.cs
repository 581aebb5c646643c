using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>A tag of an OPC UA server. Immutable; replaced when more is known.</summary>
/// <param name="Id">The node, with its namespace's URI.</param>
/// <param name="Info">The description for clients.</param>
/// <param name="Group">How it is sampled and published; null for as subscribers ask.</param>
internal sealed record OpcUaTag(ExpandedNodeId Id, TagInfo Info, OpcUaTagGroupOptions? Group)
{
    /// <summary>Changes that the server is asked to leave out: those of its group, if it is a tag of which a server takes that.</summary>
    public Deadband Filter { get; init; }

    /// <summary>A tag of which no more is known: until its type is, changes may be left out.</summary>
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

/// <summary>All that is known of an OPC UA server's tags at a time. Immutable: readers see one or the next.</summary>
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

    /// <summary>The node ids of now, by number; null for a tag whose namespace the server does not have.</summary>
    public IReadOnlyList<NodeId> Nodes { get; }

    /// <summary>By name.</summary>
    public IReadOnlyDictionary<string, OpcUaMethod> Methods { get; }

    /// <summary>Names that several nodes share, as the log has them; empty if there are none.</summary>
    public string Shared { get; init; } = string.Empty;

    /// <summary>What is wrong with tags of the configuration that have no values; empty if nothing is.</summary>
    public string Missing { get; init; } = string.Empty;

    /// <summary>Nodes of tags, and nodes to browse below, that the server does not have now; not more than are looked for.</summary>
    public IReadOnlyList<ExpandedNodeId> Absent { get; init; } = [];

    /// <summary>Number of tags whose variables the server has.</summary>
    public int PresentCount { get; init; }

    public IEnumerable<string> Names => _byName.Keys;

    public OpcUaTag? Find(string name) => _byName.GetValueOrDefault(name);
}
