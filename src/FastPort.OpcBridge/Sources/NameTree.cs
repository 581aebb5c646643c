using FastPort.Protocol.Tags;

namespace FastPort.OpcBridge.Sources;

/// <summary>Names with slashes as a tree.</summary>
internal static class NameTree
{
    /// <summary>Lists what lies below a path; false if there is no such path.</summary>
    public static bool Browse(string path, IEnumerable<string> tags, IEnumerable<string> methods, IList<TagBrowseNode> nodes)
    {
        string prefix = path.Length == 0 ? string.Empty : path + "/";
        Dictionary<string, TagBrowseNode> found = new(StringComparer.Ordinal);
        bool isTag = false;
        foreach ((string name, TagBrowseKind kind) in tags.Select(static name => (name, TagBrowseKind.Tag))
            .Concat(methods.Select(static name => (name, TagBrowseKind.Method))))
        {
            isTag |= name == path;
            if (!name.StartsWith(prefix, StringComparison.Ordinal))
            {
                continue;
            }

            int slash = name.IndexOf('/', prefix.Length);
            string below = slash < 0 ? name : name[..slash];
            TagBrowseNode known = found.GetValueOrDefault(below);
            found[below] = new TagBrowseNode(
                below, below[prefix.Length..], slash < 0 ? kind : known.Kind, slash >= 0 || known.HasChildren);
        }

        foreach (TagBrowseNode node in found.Values)
        {
            nodes.Add(node);
        }

        return found.Count != 0 || path.Length == 0 || isTag;
    }
}
