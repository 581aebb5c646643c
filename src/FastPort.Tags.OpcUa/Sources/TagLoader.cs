using FastPort.Logging;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using Microsoft.Extensions.Logging;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>Loads a server's tags and their descriptions. Known tags keep their numbers.</summary>
internal sealed class TagLoader(IOpcUaLink link, OpcUaEndpointOptions options, OpcUaTagsOptions settings, ILogger logger)
{
    // HasProperty (OPC 10000-5, 11.8).
    private const uint HasProperty = 46;

    // Number of nodes whose references are in memory at a time. The client requests no more at once.
    private const int NodesAtATime = 100;

    // A line of the log stays readable.
    private const int MostNamed = 10;
    private const int MaxNamespacesText = 1024;
    private const int MaxNamesText = 2048;

    // They are looked for again and again.
    private const int MaxAbsent = 1000;

    private readonly List<OpcUaTag> _tags = [];
    private readonly Dictionary<string, OpcUaTag> _names = new(StringComparer.Ordinal);

    // Names whose node browsing has found now.
    private readonly HashSet<string> _found = new(StringComparer.Ordinal);
    private readonly Dictionary<string, OpcUaMethod> _methods = new(StringComparer.Ordinal);

    // Nodes that have a configured name.
    private readonly HashSet<NodeId> _configured = [];

    // They have the first numbers.
    private int _configuredCount;
    private readonly HashSet<NodeId> _browsed = [];

    // The browsed nodes, with the nodes where browsing began.
    private readonly List<FoundNode> _nodes = [];
    private readonly List<ExpandedNodeId> _absent = [];
    private int _variableCount;
    private HashSet<NodeId> _hidden = [];
    private readonly UnitsAndRanges _unitsAndRanges = new(link);

    // Objects and methods count, too: a server may have any number of them.
    private readonly long _maxNodes = Math.Max(10_000, 10L * options.MaxTags);

    public async Task<OpcUaTags> LoadAsync(OpcUaTags known, CancellationToken cancellationToken)
    {
        foreach (OpcUaTag tag in known.All)
        {
            _tags.Add(tag);
            _names.Add(tag.Info.Name, tag);
        }

        OpcUaTagOptions[] configured = [.. settings.Tags.Where(tag => tag.Endpoint == options.Name)];
        _configured.UnionWith(configured.Select(tag => NodeOf(tag.Id)));
        _configuredCount = configured.Length;
        _hidden = options.Below.Count == 0 ? [] : await HiddenTypes.FindAsync(link, cancellationToken).ConfigureAwait(false);
        foreach (string below in options.Below)
        {
            try
            {
                NodeId start = link.Namespaces.MakeId(NodeReference.Parse(below));
                await BrowseBelowAsync(start, cancellationToken).ConfigureAwait(false);
            }
            catch (OpcUaException e) when (e.Status == StatusCodes.BadNodeIdUnknown)
            {
                _absent.Add(NodeReference.Parse(below));
                OpcUaTagsLog.BrowseFailed(logger, options.Name, below, e.Message);
            }
        }

        string shared = Place(known);
        NodeId[] nodes = [.. _tags.Select(tag => NodeOf(tag.Id))];

        // For tags that were not found by browsing: their units and ranges.
        foreach (NodeId[] part in nodes.Where(static node => !node.IsNull).Chunk(NodesAtATime))
        {
            await BrowseAsync(
                Array.ConvertAll(part, static node => new FoundNode(null, node, NodeClass.Variable, string.Empty)), cancellationToken)
                .ConfigureAwait(false);
        }

        StatusCode[] statuses = await DescribeAsync(nodes, cancellationToken).ConfigureAwait(false);
        _absent.AddRange(_tags.Where((_, i) => IsAbsent(statuses[i])).Select(static tag => tag.Id));
        return new OpcUaTags(_tags, nodes, _methods)
        {
            Shared = shared,
            Absent = [.. _absent.Take(MaxAbsent)],
            Missing = TellMissing(statuses, known.Missing),
            PresentCount = statuses.Count(static status => !IsMissing(status)),
        };
    }

    // Tags of the configuration that have no variable: usually a mistake in it. Logged when the text has changed.
    private string TellMissing(StatusCode[] statuses, string before)
    {
        int[] missing = [.. Enumerable.Range(0, _configuredCount).Where(i => IsMissing(statuses[i]))];
        if (missing.Length == 0)
        {
            return string.Empty;
        }

        IEnumerable<string> first = missing.Take(MostNamed).Select(i =>
            $"'{_tags[i].Info.Name}' is {_tags[i].Id}: {(HasNamespace(_tags[i].Id) ? $"{statuses[i]}" : "no such namespace")}");
        string others = missing.Length > MostNamed ? $"; and {missing.Length - MostNamed} more" : string.Empty;
        string namespaces = PeerText.Escape(string.Join(", ", link.Namespaces.Uris), MaxNamespacesText);
        string text = $"{string.Join("; ", first)}{others}. The server's namespaces are {namespaces}";
        if (text != before)
        {
            OpcUaTagsLog.TagsMissing(logger, options.Name, missing.Length, text);
        }

        return text;
    }

    /// <summary>Whether a status says that the server does not have a node.</summary>
    public static bool IsAbsent(StatusCode status) =>
        status == StatusCodes.BadNodeIdUnknown || status == StatusCodes.BadNodeIdInvalid;

    // The other one is the status of a node that is not a variable.
    private static bool IsMissing(StatusCode status) => IsAbsent(status) || status == StatusCodes.BadAttributeIdInvalid;

    private bool HasNamespace(ExpandedNodeId id) => id.NamespaceUri is not { } uri || link.Namespaces.TryGetIndex(uri, out _);

    // The null id for one whose namespace the server does not have: it answers BadNodeIdUnknown or BadNodeIdInvalid for it.
    private NodeId NodeOf(ExpandedNodeId id) => HasNamespace(id) ? link.Namespaces.MakeId(id) : default;

    // Level by level, until there are too many.
    private async Task BrowseBelowAsync(NodeId start, CancellationToken cancellationToken)
    {
        List<FoundNode> level = [new FoundNode(null, start, NodeClass.Object, options.Name)];
        while (level.Count != 0)
        {
            _nodes.AddRange(level);
            List<FoundNode> below = [];
            foreach (FoundNode[] part in level.Where(static one => one.Class != NodeClass.Method).Chunk(NodesAtATime))
            {
                if (!await BrowseAsync(part, below, cancellationToken).ConfigureAwait(false))
                {
                    _nodes.AddRange(below);
                    return;
                }
            }

            level = below;
        }
    }

    // Finds the nodes below nodes. False if there are too many.
    private async Task<bool> BrowseAsync(FoundNode[] nodes, List<FoundNode> below, CancellationToken cancellationToken)
    {
        foreach ((FoundNode node, ReferenceDescription reference) in await BrowseAsync(nodes, cancellationToken).ConfigureAwait(false))
        {
            if (reference.NodeClass is not (NodeClass.Variable or NodeClass.Object or NodeClass.Method)
                || _hidden.Contains(NodeOf(reference.TypeDefinition)))
            {
                continue;
            }

            if (reference.NodeClass == NodeClass.Variable && ++_variableCount > options.MaxTags)
            {
                OpcUaTagsLog.TooManyTags(logger, options.Name, options.MaxTags);
                return false;
            }

            if (_nodes.Count + below.Count >= _maxNodes)
            {
                OpcUaTagsLog.TooManyNodes(logger, options.Name, _maxNodes);
                return false;
            }

            below.Add(new FoundNode(node, NodeOf(reference.NodeId), reference.NodeClass, reference.BrowseName.Name ?? string.Empty));
        }

        return true;
    }

    // Browses the nodes that were not browsed yet. Keeps units and ranges, and returns the references that are not properties.
    private async Task<List<(FoundNode Node, ReferenceDescription Reference)>> BrowseAsync(
        FoundNode[] nodes, CancellationToken cancellationToken)
    {
        nodes = Array.FindAll(nodes, one => _browsed.Add(one.Node));
        BrowsedNode[] browsed = await link
            .BrowseAsync(Array.ConvertAll(nodes, static one => one.Node), BrowseDirection.Forward, cancellationToken).ConfigureAwait(false);
        List<(FoundNode Node, ReferenceDescription Reference)> references = [];
        foreach ((int i, FoundNode node) in nodes.Index())
        {
            if (browsed[i].Status.IsBad && node.Path.Length != 0)
            {
                if (node.Depth == 0 && IsAbsent(browsed[i].Status))
                {
                    _absent.Add(link.Namespaces.Expand(node.Node));
                }

                string id = PeerText.Escape($"{link.Namespaces.Expand(node.Node)}");
                OpcUaTagsLog.BrowseFailed(logger, options.Name, id, $"{browsed[i].Status}");
            }

            // Several references may lead from one node to another.
            foreach (ReferenceDescription reference in browsed[i].References.Where(one => IsHere(one.NodeId))
                .DistinctBy(static one => (one.NodeId, one.ReferenceTypeId == new NodeId(0, HasProperty))))
            {
                if (reference.ReferenceTypeId != new NodeId(0, HasProperty))
                {
                    references.Add((node, reference));
                }
                else
                {
                    _unitsAndRanges.Add(node.Node, reference.BrowseName, NodeOf(reference.NodeId));
                }
            }
        }

        return references;
    }

    private bool IsHere(ExpandedNodeId id) => id.ServerIndex == 0 && !NodeOf(id).IsNull;

    // Names the found nodes. Earlier names stay with their nodes, for clients that know them, unless another node has them now.
    private string Place(OpcUaTags known)
    {
        var names = new NodeNames(
            link.Namespaces, _tags.Take(_configuredCount).ToDictionary(static tag => tag.Info.Name, tag => NodeOf(tag.Id)), _configured);
        names.Give(_nodes);
        foreach (FoundNode one in _nodes.Where(static one => one.Class == NodeClass.Variable))
        {
            if (!TryAdd(one.Name, link.Namespaces.Expand(one.Node)))
            {
                OpcUaTagsLog.TooManyNames(logger, options.Name, 2L * options.MaxTags);
                break;
            }
        }

        // The node that had the name may be gone, or have another name now.
        foreach ((string name, NodeId[] nodes) in names.SharedVariables)
        {
            if (_names.TryGetValue(name, out OpcUaTag? tag) && tag.Info.Tag >= _configuredCount && !nodes.Contains(NodeOf(tag.Id)))
            {
                Move(tag, link.Namespaces.Expand(nodes.MinBy(static node => $"{node}", StringComparer.Ordinal)));
            }
        }

        OpcUaMethod[] methods =
        [
            .. _nodes.Where(static one => one.Class == NodeClass.Method).Select(one =>
                new OpcUaMethod(one.Name, link.Namespaces.Expand(one.Parent), link.Namespaces.Expand(one.Node))),
        ];
        var found = methods.Select(static one => (one.Object, one.Method)).ToHashSet();
        foreach (OpcUaMethod method in methods.Concat(known.Methods.Values.Where(one => found.Contains((one.Object, one.Method)))))
        {
            _methods.TryAdd(method.Name, method);
        }

        return TellShared(names.Shared, known.Shared);
    }

    // Logged when they have changed.
    private string TellShared(List<string> shared, string before)
    {
        if (shared.Count == 0)
        {
            return string.Empty;
        }

        string others = shared.Count > MostNamed ? $" and {shared.Count - MostNamed} more" : string.Empty;
        string text = $"{PeerText.Escape($"'{string.Join("', '", shared.Take(MostNamed))}'", MaxNamesText)}{others}";
        if (text != before)
        {
            OpcUaTagsLog.NamesShared(logger, options.Name, shared.Count, text);
        }

        return text;
    }

    // False if there are too many.
    private bool TryAdd(string name, ExpandedNodeId id)
    {
        if (_names.TryGetValue(name, out OpcUaTag? known))
        {
            // A browse name may have a slash in it: of two nodes with one name then the first has it.
            if (_found.Add(name) && NodeOf(known.Id) != NodeOf(id))
            {
                Move(known, id);
            }

            return true;
        }

        // A name is kept even when its node is gone, for clients that have its number. Up to as many again may be kept.
        if (_tags.Count - _configuredCount >= 2L * options.MaxTags)
        {
            return false;
        }

        var tag = OpcUaTag.Create(id, new TagInfo(_tags.Count, name), settings.FindGroup(options.Group));
        _tags.Add(tag);
        _names.Add(name, tag);
        _found.Add(name);
        return true;
    }

    private void Move(OpcUaTag tag, ExpandedNodeId id) => _names[tag.Info.Name] = _tags[tag.Info.Tag] = tag with { Id = id };

    // Returns the server's answer about each node's data type, which every variable has.
    private async Task<StatusCode[]> DescribeAsync(NodeId[] nodes, CancellationToken cancellationToken)
    {
        if (nodes.Length == 0)
        {
            return [];
        }

        DataValue[] types = await link.ReadAsync(nodes, AttributeId.DataType, cancellationToken).ConfigureAwait(false);
        DataValue[] ranks = await link.ReadAsync(nodes, AttributeId.ValueRank, cancellationToken).ConfigureAwait(false);
        DataValue[] access = await link.ReadAsync(nodes, AttributeId.UserAccessLevel, cancellationToken).ConfigureAwait(false);
        DataValue[] descriptions = await link.ReadAsync(nodes, AttributeId.Description, cancellationToken).ConfigureAwait(false);
        Dictionary<NodeId, string> units = await _unitsAndRanges.ReadUnitsAsync(cancellationToken).ConfigureAwait(false);
        Dictionary<NodeId, (double Low, double High)> ranges =
            await _unitsAndRanges.ReadRangesAsync(cancellationToken).ConfigureAwait(false);
        HashSet<NodeId> numbers = await NumberTypes.FindAsync(
            link,
            types.Where((_, i) => HasFilter(_tags[i])).Select(static one => one.Value.TryGet(out NodeId type) ? type : default),
            cancellationToken).ConfigureAwait(false);
        for (int i = 0; i < nodes.Length; i++)
        {
            // Values that cannot be read now keep their known state.
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

    // Of the built-in types the DataType has the same number; enumerations are Int32 (OPC 10000-6, 5.1.2 and 5.2.4). 24 is BaseDataType,
    // whose values may have any type; the same applies to Number.
    private static TagType TypeOf(NodeId type) =>
        type is { NamespaceIndex: 0, Number: (>= 1 and <= 23) or 25 } ? (TagType)type.Number
        : type == new NodeId(0, 29) ? TagType.Int32
        : TagType.Null;
}
