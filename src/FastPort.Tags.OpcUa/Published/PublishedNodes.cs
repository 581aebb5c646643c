using System.Collections.Concurrent;
using FastPort.Tags.OpcUa.Sources;
using FastPort.OpcUa;
using FastPort.OpcUa.Server;

namespace FastPort.Tags.OpcUa.Published;

/// <summary>
/// The tags that FastPort clients publish, as variables of the bridge's own OPC UA server: below Objects/Published, by the parts of their
/// names, with the name as node id. Their values are those of the source; writes go to it.
/// </summary>
internal sealed class PublishedNodes : ITagFeedListener
{
    public const string NamespaceUri = "urn:fastport:published";

    private readonly AddressSpace _space;
    private readonly PublishedTagSource _source;
    private readonly ushort _namespace;
    private readonly NodeId _root;

    // Guards adding. Taken before the source's own.
    private readonly Lock _gate = new();

    // By the source's number, and back. Only added to; read without the gate.
    private readonly ConcurrentDictionary<int, VariableNode> _nodes = new();
    private readonly ConcurrentDictionary<VariableNode, int> _tags = new();
    private readonly ITagFeed _feed;

    public PublishedNodes(AddressSpace space, PublishedTagSource source)
    {
        _space = space;
        _source = source;
        _namespace = space.AddNamespace(NamespaceUri);
        _root = new NodeId(_namespace, 1);
        space.AddFolder(AddressSpace.ObjectsFolder, _root, new QualifiedName(_namespace, "Published"));
        _feed = source.OpenFeed(TimeSpan.Zero, this);
        source.Declared += OnDeclared;
    }

    /// <summary>
    /// The name of a variable's tag, or of the variable that it is a property of; null if there is none. By its node id: clients can find
    /// the node of a tag that is being declared before the tables contain it. Safe from any thread.
    /// </summary>
    public string? NameOf(VariableNode node)
    {
        if (node.Id.NamespaceIndex != _namespace)
        {
            return null;
        }

        // A property has the node id of its variable, two slashes and its name. No tag has two slashes in its name.
        string text = node.Id.Text ?? string.Empty;
        int end = text.LastIndexOf("//", StringComparison.Ordinal);
        return end < 0 ? text : NodeId.Parse(text[..end]).Text;
    }

    public void OnChanges(ReadOnlySpan<int> tags, TagSamples samples)
    {
        for (int i = 0; i < tags.Length; i++)
        {
            if (_nodes.TryGetValue(tags[i], out VariableNode? node))
            {
                // Bytes that are not a value of their type are reported as such.
                bool isValue = TagValues.TryToVariant(samples.GetValue(i), out Variant value);
                node.Value = new DataValue(
                    isValue ? value : Variant.Null,
                    isValue ? new StatusCode(samples.GetStatus(i).Code) : StatusCodes.BadTypeMismatch,
                    samples.GetSourceTime(i),
                    samples.GetServerTime(i));
            }
        }
    }

    // The feed reports the current value of a new tag.
    private void OnDeclared(TagInfo info)
    {
        lock (_gate)
        {
            if (!_nodes.TryGetValue(info.Tag, out VariableNode? node))
            {
                node = Add(info);
                _tags[node] = info.Tag;
                _nodes[info.Tag] = node;
                _ = _feed.AddAsync([info.Tag], new TagStatus[1], CancellationToken.None).AsTask();
            }

            node.Description = info.Description.Length == 0 ? default : info.Description;
            node.IsReadable = info.IsReadable;
            node.IsWritable = info.IsWritable;
            (double Low, double High)? range = info.Range is { } given && IsRange(given) ? given : null;
            _space.SetRangeAndUnit(node, range, info.Unit.Length == 0 ? null : info.Unit);
        }
    }

    // A range of OPC UA has two ends that are numbers (OPC 10000-8, 5.6.2).
    private static bool IsRange((double Low, double High) range) =>
        double.IsFinite(range.Low) && double.IsFinite(range.High) && range.Low < range.High;

    // A tag may have the name of a folder, so the ids of folders end with a slash.
    private VariableNode Add(TagInfo info)
    {
        NodeId parent = _root;
        int begin = 0;
        for (int slash; (slash = info.Name.IndexOf('/', begin)) >= 0; begin = slash + 1)
        {
            var folder = new NodeId(_namespace, info.Name[..(slash + 1)]);
            if (_space.Find(folder) is null)
            {
                _space.AddFolder(parent, folder, new QualifiedName(_namespace, info.Name[begin..slash]));
            }

            parent = folder;
        }

        return _space.AddVariableOfType(
            parent,
            new NodeId(_namespace, info.Name),
            new QualifiedName(_namespace, info.Name[begin..]),
            (BuiltInType)info.Type,
            info.Rank,
            WriteAsync);
    }

    private async ValueTask WriteAsync(
        ReadOnlyMemory<VariableWrite> writes, Memory<StatusCode> statuses, CancellationToken cancellationToken)
    {
        List<int> tags = new(writes.Length);
        List<int> rows = new(writes.Length);
        var values = new TagSamples();
        for (int i = 0; i < writes.Length; i++)
        {
            // Publishers accept only values: a status would be lost. So is the source timestamp, which the server sets if the client does
            // not.
            VariableWrite write = writes.Span[i];
            if (write.Value.Status != StatusCodes.Good)
            {
                statuses.Span[i] = StatusCodes.BadWriteNotSupported;
                continue;
            }

            if (!_tags.TryGetValue(write.Variable, out int tag))
            {
                // It is being declared.
                statuses.Span[i] = StatusCodes.BadNoCommunication;
                continue;
            }

            tags.Add(tag);
            rows.Add(i);
            values.Add(TagValues.ToTagValue(write.Value.Value));
        }

        if (tags.Count == 0)
        {
            return;
        }

        var results = new TagStatus[tags.Count];
        TagStatus status = await _source.WriteAsync(tags, values, results, cancellationToken).ConfigureAwait(false);
        for (int i = 0; i < results.Length; i++)
        {
            statuses.Span[rows[i]] = new StatusCode((status.IsGood ? results[i] : status).Code);
        }
    }
}
