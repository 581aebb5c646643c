using FastPort.OpcUa;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>A node found by browsing.</summary>
/// <param name="parent">The node that refers to it; null for one where browsing begins.</param>
/// <param name="node">The node.</param>
/// <param name="nodeClass">Its class.</param>
/// <param name="browseName">Its browse name; the endpoint's name for a node where browsing begins.</param>
internal sealed class FoundNode(FoundNode? parent, NodeId node, NodeClass nodeClass, string browseName)
{
    public NodeId Node => node;

    public NodeClass Class => nodeClass;

    public string BrowseName => browseName;

    /// <summary>The node that refers to it; the null id where browsing begins.</summary>
    public NodeId Parent => parent?.Node ?? default;

    public int Depth { get; } = parent is null ? 0 : parent.Depth + 1;

    /// <summary>
    /// The text that distinguishes it from others of its name. A method is one of an object: objects of one type share the method's node.
    /// </summary>
    public (NodeId Node, NodeId Object) Identity => (node, nodeClass == NodeClass.Method ? Parent : default);

    /// <summary>The browse names from the endpoint's name on.</summary>
    public string Path => parent is null ? BrowseName : $"{parent.Name}/{BrowseName}";

    /// <summary>The path, with the text that distinguishes it from others of the same path. Set by <see cref="NodeNames"/>.</summary>
    public string Name
    {
        get => field ?? BrowseName;
        set;
    }
}
