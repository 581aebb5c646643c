namespace FastPort;

/// <summary>
/// The nodes of a group of servers, this one included, for programs that show them, such as the dashboard. A backplane registers it as a
/// service of the host, with the name of its server. Thread-safe.
/// </summary>
public interface INodes
{
    /// <summary>Reads the nodes that have leases, this one included, in ordinal order of their names; empty before the start.</summary>
    IReadOnlyList<NodeInfo> Read();
}
