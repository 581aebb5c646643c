namespace FastPort.Tags;

/// <summary>The kind of a node.</summary>
public enum TagBrowseKind
{
    /// <summary>Holds other nodes.</summary>
    Folder,

    /// <summary>A tag, which may hold other nodes too.</summary>
    Tag,

    /// <summary>A method, which can be called by its name.</summary>
    Method,
}

/// <summary>A node that browsing has found.</summary>
/// <param name="Name">The name of a tag or a method; for every node the path to browse.</param>
/// <param name="DisplayName">A short display name.</param>
/// <param name="Kind">Its kind.</param>
/// <param name="HasChildren">Whether there may be nodes below it.</param>
public readonly record struct TagBrowseNode(string Name, string DisplayName, TagBrowseKind Kind, bool HasChildren);
