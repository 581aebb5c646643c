using FastPort.OpcBridge.Configuration;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.Protocol.Tags;
using FastPort.Sessions.Logging;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcBridge.Sources;

/// <summary>Finds out which tags a server has, and what they are. Tags that were known keep their numbers.</summary>
internal sealed class TagLoader(OpcUaClient client, EndpointOptions options, BridgeSettings settings, ILogger logger)
{
    // HasProperty (OPC 10000-5, 11.8).
    private const uint HasProperty = 46;

    // Their references are in memory at a time. The client asks for no more in one request.
    private const int NodesAtATime = 100;

    // A line of the log stays readable.
    private const int MissingNamed = 10;
    private const int MaxNamespacesText = 1024;

    private readonly List<OpcUaTag> _tags = [];
    private readonly Dictionary<string, OpcUaTag> _names = new(StringComparer.Ordinal);

    // Names whose node browsing has found now, and other nodes that it has found under names, in that order.
    private readonly HashSet<string> _found = new(StringComparer.Ordinal);
    private readonly List<(string Name, ExpandedNodeId Id)> _others = [];
    private readonly Dictionary<string, OpcUaMethod> _methods = new(StringComparer.Ordinal);
    private readonly List<string> _namesTwice = [];
    private IReadOnlyDictionary<string, OpcUaMethod> _knownMethods = new Dictionary<string, OpcUaMethod>();

    // Nodes that have a name of their own.
    private readonly HashSet<NodeId> _configured = [];

    // They have the first numbers.
    private int _configuredCount;
    private readonly HashSet<NodeId> _browsed = [];
    private readonly UnitsAndRanges _unitsAndRanges = new(client);

    // Objects and methods count, too: a server may have any number of them.
    private readonly long _maxNodes = Math.Max(10_000, 10L * options.MaxTags);

    public async Task<OpcUaTags> LoadAsync(OpcUaTags known, CancellationToken cancellationToken)
    {
        _knownMethods = known.Methods;
        foreach (OpcUaTag tag in known.All)
        {
            _tags.Add(tag);
            _names.Add(tag.Info.Name, tag);
        }

        TagOptions[] configured = [.. settings.Tags.Where(tag => tag.Endpoint == options.Name)];
        _configured.UnionWith(configured.Select(tag => NodeOf(tag.Id)));
        _configuredCount = configured.Length;
        foreach (string below in options.Below)
        {
            try
            {
                NodeId start = client.Namespaces.MakeId(NodeReference.Parse(below));
                await BrowseBelowAsync(start, cancellationToken).ConfigureAwait(false);
            }
            catch (OpcUaException e) when (e.Status == StatusCodes.BadNodeIdUnknown)
            {
                BridgeLog.BrowseFailed(logger, options.Name, below, e.Message);
            }
        }

        PlaceOthers();
        NodeId[] nodes = [.. _tags.Select(tag => NodeOf(tag.Id))];

        // Of tags that were not found by browsing, for their units and ranges.
        foreach (NodeId[] part in nodes.Where(static node => !node.IsNull).Chunk(NodesAtATime))
        {
            await BrowseAsync(Array.ConvertAll(part, static node => (node, string.Empty)), cancellationToken).ConfigureAwait(false);
        }

        StatusCode[] statuses = await DescribeAsync(nodes, cancellationToken).ConfigureAwait(false);
        return new OpcUaTags(_tags, nodes, _methods)
        {
            NamesTwice = _namesTwice,
            Missing = TellMissing(statuses, known.Missing),
            PresentCount = statuses.Count(static status => !IsMissing(status)),
        };
    }

    // Tags of the configuration that have no variable: most often a mistake in it. Told when it is another one than before.
    private string TellMissing(StatusCode[] statuses, string before)
    {
        int[] missing = [.. Enumerable.Range(0, _configuredCount).Where(i => IsMissing(statuses[i]))];
        if (missing.Length == 0)
        {
            return string.Empty;
        }

        IEnumerable<string> first = missing.Take(MissingNamed).Select(i =>
            $"'{_tags[i].Info.Name}' is {_tags[i].Id}: {(HasNamespace(_tags[i].Id) ? $"{statuses[i]}" : "no such namespace")}");
        string others = missing.Length > MissingNamed ? $"; and {missing.Length - MissingNamed} others" : string.Empty;
        string namespaces = PeerText.Escape(string.Join(", ", client.Namespaces.Uris), MaxNamespacesText);
        string text = $"{string.Join("; ", first)}{others}. The server's namespaces are {namespaces}";
        if (text != before)
        {
            BridgeLog.TagsMissing(logger, options.Name, missing.Length, text);
        }

        return text;
    }

    // The last one is that of a node that is no variable.
    private static bool IsMissing(StatusCode status) =>
        status == StatusCodes.BadNodeIdUnknown || status == StatusCodes.BadNodeIdInvalid || status == StatusCodes.BadAttributeIdInvalid;

    private bool HasNamespace(ExpandedNodeId id) => id.NamespaceUri is not { } uri || client.Namespaces.TryGetIndex(uri, out _);

    // The null id for one whose namespace the server does not have: it answers BadNodeIdUnknown or BadNodeIdInvalid for it.
    private NodeId NodeOf(ExpandedNodeId id) => HasNamespace(id) ? client.Namespaces.MakeId(id) : default;

    // Level by level. Adds what is found to the tags until there are too many.
    private async Task BrowseBelowAsync(NodeId start, CancellationToken cancellationToken)
    {
        List<(NodeId Node, string Path)> level = [(start, options.Name)];
        while (level.Count != 0)
        {
            List<(NodeId Node, string Path)> below = [];
            foreach ((NodeId Node, string Path)[] part in level.Chunk(NodesAtATime))
            {
                if (!await BrowseAsync(part, below, cancellationToken).ConfigureAwait(false))
                {
                    return;
                }
            }

            level = below;
        }
    }

    // Adds what lies below nodes to the tags and methods, and what is to be browsed next. False if there are too many tags.
    private async Task<bool> BrowseAsync(
        (NodeId Node, string Path)[] nodes, List<(NodeId Node, string Path)> below, CancellationToken cancellationToken)
    {
        foreach ((NodeId node, string path, ReferenceDescription reference) in
            await BrowseAsync(nodes, cancellationToken).ConfigureAwait(false))
        {
            NodeId found = NodeOf(reference.NodeId);
            string name = $"{path}/{reference.BrowseName.Name}";
            switch (reference.NodeClass)
            {
                case NodeClass.Variable when !Add(name, client.Namespaces.Expand(found)):
                    return false;
                case NodeClass.Variable or NodeClass.Object or NodeClass.Method
                    when _browsed.Count + below.Count + _methods.Count + _namesTwice.Count >= _maxNodes:
                    BridgeLog.TooManyNodes(logger, options.Name, _maxNodes);
                    return false;
                case NodeClass.Variable or NodeClass.Object:
                    below.Add((found, name));
                    break;
                case NodeClass.Method:
                    Add(new OpcUaMethod(name, client.Namespaces.Expand(node), client.Namespaces.Expand(found)));
                    break;
            }
        }

        return true;
    }

    // Browses those nodes that were not yet. Keeps units and ranges, and returns the references that are no properties.
    private async Task<List<(NodeId Node, string Path, ReferenceDescription Reference)>> BrowseAsync(
        (NodeId Node, string Path)[] nodes, CancellationToken cancellationToken)
    {
        nodes = Array.FindAll(nodes, one => _browsed.Add(one.Node));
        BrowsedNode[] browsed = await client
            .BrowseAsync(Array.ConvertAll(nodes, static one => one.Node), cancellationToken: cancellationToken).ConfigureAwait(false);
        List<(NodeId Node, string Path, ReferenceDescription Reference)> references = [];
        foreach ((int i, (NodeId node, string path)) in nodes.Index())
        {
            if (browsed[i].Status.IsBad && path.Length != 0)
            {
                BridgeLog.BrowseFailed(logger, options.Name, $"{client.Namespaces.Expand(node)}", $"{browsed[i].Status}");
            }

            foreach (ReferenceDescription reference in browsed[i].References.Where(one => IsHere(one.NodeId)))
            {
                if (reference.ReferenceTypeId != new NodeId(0, HasProperty))
                {
                    references.Add((node, path, reference));
                }
                else
                {
                    _unitsAndRanges.Add(node, reference.BrowseName, NodeOf(reference.NodeId));
                }
            }
        }

        return references;
    }

    private bool IsHere(ExpandedNodeId id) => id.ServerIndex == 0 && !NodeOf(id).IsNull;

    // False if there are too many.
    private bool Add(string name, ExpandedNodeId id)
    {
        NodeId node = NodeOf(id);
        if (_names.TryGetValue(name, out OpcUaTag? known))
        {
            if (NodeOf(known.Id) == node)
            {
                _found.Add(name);
            }
            else if (!_configured.Contains(node))
            {
                _others.Add((name, id));
            }

            return true;
        }

        if (_found.Count >= options.MaxTags)
        {
            BridgeLog.TooManyTags(logger, options.Name, options.MaxTags);
            return false;
        }

        // A name is kept also when its node is gone, for those who have its number. As many again may be.
        if (_tags.Count - _configuredCount >= 2L * options.MaxTags)
        {
            BridgeLog.TooManyNames(logger, options.Name, 2L * options.MaxTags);
            return false;
        }

        var tag = OpcUaTag.Create(id, new TagInfo(_tags.Count, name), settings.Groups.GetValueOrDefault(options.Group));
        _tags.Add(tag);
        _names.Add(name, tag);
        _found.Add(name);
        return true;
    }

    // A name moves to another node only if the one that it had is not there: of two nodes of one name the tag stays what it is.
    private void PlaceOthers()
    {
        foreach ((string name, ExpandedNodeId id) in _others)
        {
            OpcUaTag known = _names[name];
            if (NodeOf(known.Id) == NodeOf(id))
            {
                continue;
            }

            if (known.Info.Tag >= _configuredCount && _found.Add(name))
            {
                _names[name] = _tags[known.Info.Tag] = known with { Id = id };
            }
            else
            {
                RefuseName(name, $"{known.Id}", $"{id}", "Give one a name of its own under Tags");
            }
        }
    }

    // Of two methods of one name it stays the one that it was, or that was found first.
    private void Add(OpcUaMethod method)
    {
        if (_methods.TryAdd(method.Name, method))
        {
            return;
        }

        OpcUaMethod first = _methods[method.Name];
        if (first != method)
        {
            (OpcUaMethod stays, OpcUaMethod other) =
                _knownMethods.GetValueOrDefault(method.Name) == method ? (method, first) : (first, method);
            _methods[method.Name] = stays;
            RefuseName(
                method.Name, $"{stays.Method} of {stays.Object}", $"{other.Method} of {other.Object}", "Give each an endpoint of its own");
        }
    }

    private void RefuseName(string name, string first, string second, string advice)
    {
        BridgeLog.NameTwice(logger, name, first, second, advice);
        _namesTwice.Add($"Endpoint {options.Name}: '{name}' is the name of {first} and of {second}. {advice}.");
    }

    // Returns what the server says of each node's data type, which every variable has.
    private async Task<StatusCode[]> DescribeAsync(NodeId[] nodes, CancellationToken cancellationToken)
    {
        if (nodes.Length == 0)
        {
            return [];
        }

        DataValue[] types = await client.ReadAsync(nodes, AttributeId.DataType, cancellationToken).ConfigureAwait(false);
        DataValue[] ranks = await client.ReadAsync(nodes, AttributeId.ValueRank, cancellationToken).ConfigureAwait(false);
        DataValue[] access = await client.ReadAsync(nodes, AttributeId.UserAccessLevel, cancellationToken).ConfigureAwait(false);
        DataValue[] descriptions = await client.ReadAsync(nodes, AttributeId.Description, cancellationToken).ConfigureAwait(false);
        Dictionary<NodeId, string> units = await _unitsAndRanges.ReadUnitsAsync(cancellationToken).ConfigureAwait(false);
        Dictionary<NodeId, (double Low, double High)> ranges =
            await _unitsAndRanges.ReadRangesAsync(cancellationToken).ConfigureAwait(false);
        HashSet<NodeId> numbers = await NumberTypes.FindAsync(
            client,
            types.Where((_, i) => HasFilter(_tags[i])).Select(static one => one.Value.TryGet(out NodeId type) ? type : default),
            cancellationToken).ConfigureAwait(false);
        for (int i = 0; i < nodes.Length; i++)
        {
            // What cannot be read now stays as it is known.
            OpcUaTag tag = _tags[i];
            bool isKnown = access[i].Value.TryGet(out byte level);
            bool hasType = types[i].Value.TryGet(out NodeId type);
            tag = tag with
            {
                Info = tag.Info with
                {
                    Type = hasType ? TypeOf(type) : tag.Info.Type,
                    Rank = ranks[i].Value.TryGet(out int rank) ? rank : tag.Info.Rank,
                    IsReadable = !isKnown || (level & 1) != 0,
                    IsWritable = options.AllowWrite && (!isKnown || (level & 2) != 0),
                    Unit = units.GetValueOrDefault(nodes[i], tag.Info.Unit),
                    Range = ranges.TryGetValue(nodes[i], out (double Low, double High) range) ? range : tag.Info.Range,
                    Description = descriptions[i].Value.TryGet(out LocalizedText text) ? text.Text ?? string.Empty : tag.Info.Description,
                },
            };
            _tags[i] = hasType && HasFilter(tag) ? WithFilter(tag, tag.Group!.FilterOf(numbers.Contains(type), tag.Info.Range)) : tag;
        }

        return Array.ConvertAll(types, static type => type.Status);
    }

    private static bool HasFilter(OpcUaTag tag) => tag.Group is { } group && group.Filter != Deadband.None;

    private static OpcUaTag WithFilter(OpcUaTag tag, Deadband filter) =>
        tag with { Filter = filter, Info = tag.Info with { ReportsAllChanges = filter == Deadband.None } };

    // Of the built-in types the DataType has the same number; enumerations are Int32 (OPC 10000-6, 5.1.2 and 5.2.4).
    private static TagType TypeOf(NodeId type) =>
        type is { NamespaceIndex: 0, Number: >= 1 and <= 25 } ? (TagType)type.Number
        : type == new NodeId(0, 29) ? TagType.Int32
        : TagType.Null;
}
