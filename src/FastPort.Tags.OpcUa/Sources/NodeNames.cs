using System.Runtime.InteropServices;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>
/// Names of the nodes that browsing has found: their paths of browse names. Browse names need not be unique (OPC 10000-3, 5.2.4): nodes
/// that share a path have their node ids appended to it, so that a name does not depend on the order in which a server lists its nodes.
/// </summary>
/// <param name="namespaces">The server's namespaces.</param>
/// <param name="configuredNames">Names that the configuration gives, and their nodes.</param>
/// <param name="configuredNodes">Nodes that have names in the configuration.</param>
internal sealed class NodeNames(
    NamespaceTable namespaces, IReadOnlyDictionary<string, NodeId> configuredNames, IReadOnlySet<NodeId> configuredNodes)
{
    /// <summary>Between a path and a node id.</summary>
    public const char Separator = '@';

    /// <summary>Paths that several nodes share.</summary>
    public List<string> Shared { get; } = [];

    /// <summary>The variables of each path that several variables share.</summary>
    public Dictionary<string, NodeId[]> SharedVariables { get; } = new(StringComparer.Ordinal);

    /// <summary>Sets the names of nodes. Nodes below a node have its name in their paths, so they are named after it.</summary>
    /// <param name="found">The nodes, those where browsing began among them.</param>
    public void Give(IEnumerable<FoundNode> found)
    {
        foreach (IGrouping<int, FoundNode> level in found.GroupBy(static one => one.Depth).OrderBy(static level => level.Key).Skip(1))
        {
            Dictionary<(NodeClass Class, string Path), List<FoundNode>> paths = [];
            foreach (FoundNode one in level)
            {
                one.Name = one.Path;
                (CollectionsMarshal.GetValueRefOrAddDefault(paths, (one.Class, one.Name), out _) ??= []).Add(one);
            }

            foreach (((NodeClass kind, string path), List<FoundNode> nodes) in paths)
            {
                Divide(kind, path, nodes);
            }
        }
    }

    // The nodes of one path. A node with a configured name leaves the path to the other one.
    private void Divide(NodeClass kind, string path, List<FoundNode> nodes)
    {
        bool isTaken = kind == NodeClass.Variable
            && configuredNames.TryGetValue(path, out NodeId owner) && nodes.Exists(one => one.Node != owner);
        FoundNode[] all = [.. nodes.DistinctBy(static one => one.Identity)];
        if (all.Length == 1 && !isTaken)
        {
            return;
        }

        FoundNode[] others = Array.FindAll(all, one => kind != NodeClass.Variable || !configuredNodes.Contains(one.Node));
        FoundNode? named = others.Length == 1 && !isTaken ? others[0] : null;
        if (named is null && others.Length != 0)
        {
            Shared.Add(path);
        }

        if (named is null && kind == NodeClass.Variable)
        {
            SharedVariables[path] = Array.ConvertAll(all, static one => one.Node);
        }

        // Methods of several objects may be one node.
        bool isOneNode = all.Length > 1 && Array.TrueForAll(all, one => one.Node == all[0].Node);
        NodeId IdOf(FoundNode one) => isOneNode ? one.Parent : one.Node;

        // Without the namespace where that suffices.
        bool isShort = all.DistinctBy(one => ShortId(IdOf(one))).Count() == all.DistinctBy(IdOf).Count();
        foreach (FoundNode one in nodes.Where(one => one.Identity != named?.Identity))
        {
            NodeId id = IdOf(one);
            one.Name = $"{path}{Separator}{Escape(isShort ? ShortId(id) : $"{namespaces.Expand(id)}")}";
        }
    }

    private static string ShortId(NodeId node)
    {
        string text = $"{node}";
        return node.NamespaceIndex == 0 ? text : text[(text.IndexOf(';', StringComparison.Ordinal) + 1)..];
    }

    // A slash would divide the name where tags are browsed.
    private static string Escape(string id) =>
        id.Replace("%", "%25", StringComparison.Ordinal).Replace("/", "%2F", StringComparison.Ordinal);
}
