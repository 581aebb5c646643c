namespace FastPort.OpcUa.Client;

/// <summary>The target of a path of browse names.</summary>
/// <param name="Status">Whether there is such a node.</param>
/// <param name="Target">The first node that the path leads to; null if there is none.</param>
public readonly record struct TranslatedPath(StatusCode Status, ExpandedNodeId Target);
