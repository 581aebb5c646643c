namespace FastPort.Tags;

/// <summary>Names with slashes as a tree, for sources that keep all of their names in memory.</summary>
public static class TagNameTree
{
    /// <summary>Lists the nodes below a path.</summary>
    /// <param name="path">The path; empty for the root.</param>
    /// <param name="tags">The names of all tags.</param>
    /// <param name="methods">The names of all methods.</param>
    /// <param name="nodes">Receives the nodes.</param>
    /// <returns>Good, or <see cref="TagStatus.BadNodeIdUnknown"/> if there is no such path.</returns>
    public static TagStatus Browse(string path, IEnumerable<string> tags, IEnumerable<string> methods, IList<TagBrowseNode> nodes)
    {
        ArgumentNullException.ThrowIfNull(path);
        ArgumentNullException.ThrowIfNull(nodes);
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

            // A name that begins with a slash must not lead from the root to the root.
            int slash = name.IndexOf('/', Math.Min(prefix.Length + 1, name.Length));
            string below = slash < 0 ? name : name[..slash];
            TagBrowseNode known = found.GetValueOrDefault(below);
            found[below] = new TagBrowseNode(
                below, below[prefix.Length..], slash < 0 ? kind : known.Kind, slash >= 0 || known.HasChildren);
        }

        foreach (TagBrowseNode node in found.Values)
        {
            nodes.Add(node);
        }

        return found.Count != 0 || path.Length == 0 || isTag ? TagStatus.Good : TagStatus.BadNodeIdUnknown;
    }
}
