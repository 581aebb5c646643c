namespace FastPort.Dashboard.Live;

/// <summary>Reads the nodes once a second. Used by one thread at a time.</summary>
/// <param name="nodes">The nodes of the server's group; null if it is not a node.</param>
internal sealed class NodeSampler(INodes? nodes)
{
    // Two nodes may have the same name and then cannot be told apart.
    private Dictionary<string, NodeInfo> _before = new(StringComparer.Ordinal);

    /// <summary>Reads the nodes, with the rates sent to each since the previous read.</summary>
    public IReadOnlyList<LiveNode> Read(TimeSpan elapsed)
    {
        if (nodes is null)
        {
            return [];
        }

        // If this throws, the next figures have no rates.
        Dictionary<string, NodeInfo> earlier = _before;
        _before = [];
        IReadOnlyList<NodeInfo> read = nodes.Read();
        Dictionary<string, NodeInfo> unique = read.GroupBy(static node => node.Name, StringComparer.Ordinal)
            .Where(static same => same.Count() == 1)
            .ToDictionary(static same => same.Key, static same => same.First(), StringComparer.Ordinal);
        LiveNode[] rows = [.. read.Select(Describe)];
        _before = unique;
        return rows;

        LiveNode Describe(NodeInfo node) => new(
            node.Name,
            node.IsSelf,
            node.LeaseLeft is { } left ? Math.Round(left.TotalSeconds, 1) : null,
            node.IsCompatible,
            node.Lag is { } lag ? Math.Round(lag.TotalMicroseconds, 1) : null,
            node.QueuedBytes,
            Rate(node, static one => one.RelaysSent),
            Rate(node, static one => one.BatchesSent),
            Rate(node, static one => one.BatchBytesSent));

        // A restarted node counts from zero.
        double? Rate(NodeInfo node, Func<NodeInfo, long> count) =>
            !node.IsSelf && elapsed > TimeSpan.Zero && unique.ContainsKey(node.Name)
            && earlier.TryGetValue(node.Name, out NodeInfo? before) && count(node) >= count(before)
                ? Math.Round((count(node) - count(before)) / elapsed.TotalSeconds, 1)
                : null;
    }
}
