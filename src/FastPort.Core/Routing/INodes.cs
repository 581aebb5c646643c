namespace FastPort.Routing;

/// <summary>
/// The servers of which this one is a node, for whoever shows them, such as the dashboard. A backplane registers it as a service of the
/// host, with the name of its server. Thread-safe.
/// </summary>
public interface INodes
{
    /// <summary>Reads the nodes that have leases, this one included, in ordinal order of their names; empty before the start.</summary>
    IReadOnlyList<NodeInfo> Read();
}
