using FastPort.Configuration;
using FastPort.OpcUa;

namespace FastPort.Tags.OpcUa;

/// <summary>A variable of an OPC UA server that is a tag with a name that you choose.</summary>
public sealed class OpcUaTagOptions
{
    /// <summary>The tag's name, with slashes for a path. Required.</summary>
    public string Name { get; set; } = string.Empty;

    /// <summary>Name of the endpoint that has the variable. Required.</summary>
    public string Endpoint { get; set; } = string.Empty;

    /// <summary>URI of the node id's namespace. Defaults to empty: that of the standard.</summary>
    public string NamespaceUri { get; set; } = string.Empty;

    /// <summary>The node id without a namespace, such as <c>i=1000</c> or <c>s=Pump.Speed</c>. Required.</summary>
    public string NodeId { get; set; } = string.Empty;

    /// <summary>The tag's group. Defaults to empty: none.</summary>
    public string Group { get; set; } = string.Empty;

    internal ExpandedNodeId Id => NodeReference.TryParse($"nsu={NamespaceUri};{NodeId}", out ExpandedNodeId id) ? id : default;

    internal void Describe(OptionSection section)
    {
        Name = section.Text(nameof(Name), Name, static text => !string.IsNullOrWhiteSpace(text), "give a name");
        Endpoint = section.Text(nameof(Endpoint), Endpoint, static text => !string.IsNullOrEmpty(text), "give the name of an endpoint");
        NamespaceUri = section.Text(nameof(NamespaceUri), NamespaceUri, static text => text is not null, "give a URI");
        NodeId = section.Text(
            nameof(NodeId),
            NodeId,
            static text => FastPort.OpcUa.NodeId.TryParse(text, out FastPort.OpcUa.NodeId id) && id.NamespaceIndex == 0,
            "give a node id without namespace, such as i=1000 or s=Pump.Speed");
        Group = section.Text(nameof(Group), Group, static text => text is not null, "give a group's name");
    }
}
