using System.Diagnostics.CodeAnalysis;

namespace FastPort.OpcUa.Client;

/// <summary>
/// The namespaces of a server (OPC 10000-5, 6.3.1): maps their URIs, which stay the same, to the indexes in node ids, which may differ
/// after a restart of the server. Immutable.
/// </summary>
public sealed class NamespaceTable
{
    // Server/NamespaceArray.
    private const uint NamespaceArray = 2255;

    private const string StandardUri = "http://opcfoundation.org/UA/";

    private readonly string[] _uris;

    private NamespaceTable(string[] uris) => _uris = uris;

    /// <summary>The URIs; a namespace's index is its place.</summary>
    public IReadOnlyList<string> Uris => _uris;

    internal static NodeId Node { get; } = new(0, NamespaceArray);

    internal static NamespaceTable Standard { get; } = new([StandardUri]);

    /// <summary>Finds the index of a namespace.</summary>
    /// <param name="uri">The namespace's URI; compared exactly.</param>
    /// <param name="index">The index, on success.</param>
    public bool TryGetIndex(string uri, out ushort index)
    {
        int found = Array.IndexOf(_uris, uri);
        index = (ushort)Math.Max(found, 0);
        return found >= 0;
    }

    /// <summary>A numeric node id of a namespace.</summary>
    /// <param name="uri">The namespace's URI.</param>
    /// <param name="number">The number.</param>
    /// <exception cref="OpcUaException">BadNodeIdUnknown: the server does not have the namespace.</exception>
    public NodeId MakeId(string uri, uint number) => new(IndexOf(uri), number);

    /// <summary>A string node id in a namespace.</summary>
    /// <param name="uri">The namespace's URI.</param>
    /// <param name="text">The text.</param>
    /// <exception cref="OpcUaException">BadNodeIdUnknown: the server does not have the namespace.</exception>
    public NodeId MakeId(string uri, string text) => new(IndexOf(uri), text);

    /// <summary>The node id at this server of an expanded node id.</summary>
    /// <param name="id">The id, with or without a namespace URI.</param>
    /// <exception cref="OpcUaException">
    /// BadNodeIdUnknown: the server does not have the namespace, or the id names another server.
    /// </exception>
    public NodeId MakeId(ExpandedNodeId id) =>
        id.ServerIndex != 0 ? throw new OpcUaException(StatusCodes.BadNodeIdUnknown, $"{id} is a node of another server.")
        : id.NamespaceUri is null || IsOfNow(id) ? id.NodeId
        : id.NodeId.InNamespace(IndexOf(id.NamespaceUri));

    /// <summary>The same node with its namespace's URI, which stays valid when indexes change.</summary>
    /// <param name="id">A node id of this server.</param>
    /// <returns>The id with the URI; without one if the index has none.</returns>
    public ExpandedNodeId Expand(NodeId id) =>
        id.NamespaceIndex > 0 && id.NamespaceIndex < _uris.Length ? new ExpandedNodeId(id, _uris[id.NamespaceIndex]) : id;

    internal static NamespaceTable Of(in DataValue value) =>
        value.Value is { IsArray: true, Type: BuiltInType.String } uris && uris.GetArray<string>() is { Length: > 0 } all
            ? new NamespaceTable([.. all.Select(static uri => uri ?? string.Empty)])
            : Standard;

    /// <summary>
    /// The current node id of an expanded one of this server; the null id if the server does not have its namespace: any index would mean
    /// another node.
    /// </summary>
    internal NodeId Find(ExpandedNodeId id) =>
        id.NamespaceUri is not { } uri || IsOfNow(id) ? id.NodeId
        : TryGetIndex(uri, out ushort index) ? id.NodeId.InNamespace(index)
        : NodeId.Null;

    /// <summary>Whether each index of an earlier table has the same namespace in this one.</summary>
    internal bool Extends(NamespaceTable earlier) =>
        ReferenceEquals(this, earlier) || _uris.AsSpan().StartsWith(earlier._uris);

    // Several namespaces may have one URI, such as an empty one: the index distinguishes them while it means that URI.
    private bool IsOfNow(ExpandedNodeId id) =>
        id.NodeId.NamespaceIndex < _uris.Length && _uris[id.NodeId.NamespaceIndex] == id.NamespaceUri;

    private ushort IndexOf(string uri)
    {
        ArgumentNullException.ThrowIfNull(uri);
        if (!TryGetIndex(uri, out ushort index))
        {
            ThrowUnknown(uri);
        }

        return index;
    }

    [DoesNotReturn]
    private void ThrowUnknown(string uri) => throw new OpcUaException(
        StatusCodes.BadNodeIdUnknown, $"The server has no namespace '{uri}'; it has {string.Join(", ", _uris)}.");
}
