using FastPort.Configuration;
using FastPort.OpcUa;

namespace FastPort.OpcBridge.Configuration;

/// <summary>A tag of the list.</summary>
internal sealed class TagOptions
{
    public string Name { get; set; } = string.Empty;

    /// <summary>The endpoint that has it.</summary>
    public string Endpoint { get; set; } = string.Empty;

    /// <summary>URI of the node id's namespace; empty for the standard's own.</summary>
    public string NamespaceUri { get; set; } = string.Empty;

    /// <summary>The node id without a namespace, such as <c>i=1000</c> or <c>s=Pump.Speed</c>.</summary>
    public string NodeId { get; set; } = string.Empty;

    /// <summary>Its group; empty for none.</summary>
    public string Group { get; set; } = string.Empty;

    public ExpandedNodeId Id => NodeReference.TryParse($"nsu={NamespaceUri};{NodeId}", out ExpandedNodeId id) ? id : default;

    public void Describe(OptionSection section)
    {
        Name = section.Text(nameof(Name), Name, static text => !string.IsNullOrWhiteSpace(text), "give a name");
        Endpoint = section.Text(nameof(Endpoint), Endpoint, static text => !string.IsNullOrEmpty(text), "give the name of an endpoint");
        NamespaceUri = section.Text(nameof(NamespaceUri), NamespaceUri, static text => text is not null, "give a URI");
        NodeId = section.Text(
            nameof(NodeId),
            NodeId,
            static text => OpcUa.NodeId.TryParse(text, out OpcUa.NodeId id) && id.NamespaceIndex == 0,
            "give a node id without namespace, such as i=1000 or s=Pump.Speed");
        Group = section.Text(nameof(Group), Group, static text => text is not null, "give a group's name");
    }
}
