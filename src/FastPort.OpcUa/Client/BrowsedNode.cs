namespace FastPort.OpcUa.Client;

/// <summary>The references of a node that was browsed.</summary>
/// <param name="Status">Whether the node was browsed.</param>
/// <param name="References">The references; none if the status is bad.</param>
public readonly record struct BrowsedNode(StatusCode Status, IReadOnlyList<ReferenceDescription> References);
