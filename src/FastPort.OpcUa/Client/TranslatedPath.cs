namespace FastPort.OpcUa.Client;

/// <summary>Where a path of browse names leads.</summary>
/// <param name="Status">Whether there is such a node.</param>
/// <param name="Target">The first node that the path leads to; null if there is none.</param>
public readonly record struct TranslatedPath(StatusCode Status, ExpandedNodeId Target);
