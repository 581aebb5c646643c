using FastPort.OpcUa;

namespace FastPort.Tags.OpcUa;

/// <summary>Node ids in the configuration: with the namespace's URI, because its index may differ after a restart of the server.</summary>
internal static class NodeReference
{
    public const string Form = "give node ids such as i=85 or nsu=urn:plant;i=1000";

    private const string Prefix = "nsu=";

    /// <summary>A node id that was checked before.</summary>
    public static ExpandedNodeId Parse(string text) => TryParse(text, out ExpandedNodeId id) ? id : throw new FormatException(text);

    public static bool TryParse(string? text, out ExpandedNodeId id)
    {
        id = default;
        string uri = string.Empty;
        if (text?.StartsWith(Prefix, StringComparison.Ordinal) == true)
        {
            // A URI may have semicolons: the id begins at the last one that leaves an id.
            int end = text.IndexOf(';', StringComparison.Ordinal);
            while (end >= 0 && !NodeId.TryParse(text[(end + 1)..], out _))
            {
                end = text.IndexOf(';', end + 1);
            }

            if (end < 0)
            {
                return false;
            }

            uri = text[Prefix.Length..end];
            text = text[(end + 1)..];
        }

        if (!NodeId.TryParse(text, out NodeId node) || node.NamespaceIndex != 0)
        {
            return false;
        }

        id = uri.Length == 0 ? node : new ExpandedNodeId(node, uri);
        return true;
    }
}
