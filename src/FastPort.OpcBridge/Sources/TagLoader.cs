using FastPort.OpcBridge.Configuration;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.Protocol.Tags;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcBridge.Sources;

/// <summary>Finds out which tags a server has, and what they are. Tags that were known keep their numbers.</summary>
internal sealed class TagLoader(OpcUaClient client, EndpointOptions options, BridgeSettings settings, ILogger logger)
{
    // HasProperty (OPC 10000-5, 11.8).
    private const uint HasProperty = 46;

    private readonly List<OpcUaTag> _tags = [];
    private readonly Dictionary<string, OpcUaTag> _names = new(StringComparer.Ordinal);
    private readonly List<OpcUaMethod> _methods = [];
    private readonly HashSet<NodeId> _visited = [];

    public async Task<OpcUaTags> LoadAsync(OpcUaTags known, CancellationToken cancellationToken)
    {
        foreach (OpcUaTag tag in known.All)
        {
            _tags.Add(tag);
            _names.Add(tag.Info.Name, tag);
        }

        foreach (string below in options.Below)
        {
            try
            {
                NodeId start = client.Namespaces.MakeId(NodeReference.Parse(below));
                await BrowseAsync(start, options.Name, cancellationToken).ConfigureAwait(false);
            }
            catch (OpcUaException e) when (e.Status == StatusCodes.BadNodeIdUnknown)
            {
                BridgeLog.BrowseFailed(logger, options.Name, below, e.Message);
            }
        }

        NodeId[] nodes = [.. _tags.Select(tag => NodeOf(tag.Id))];
        await DescribeAsync(nodes, cancellationToken).ConfigureAwait(false);
        return new OpcUaTags(_tags, nodes, _methods);
    }

    // The null id for one whose namespace the server does not have: it answers BadNodeIdUnknown or BadNodeIdInvalid for it.
    private NodeId NodeOf(ExpandedNodeId id) =>
        id.NamespaceUri is { } uri && !client.Namespaces.TryGetIndex(uri, out _) ? default : client.Namespaces.MakeId(id);

    private async Task BrowseAsync(NodeId start, string path, CancellationToken cancellationToken)
    {
        var waiting = new Queue<(NodeId Node, string Path)>([(start, path)]);
        while (waiting.TryDequeue(out (NodeId Node, string Path) next))
        {
            if (!_visited.Add(next.Node))
            {
                continue;
            }

            foreach (ReferenceDescription reference in
                await client.BrowseAsync(next.Node, cancellationToken: cancellationToken).ConfigureAwait(false))
            {
                if (reference.ReferenceTypeId == new NodeId(0, HasProperty) || reference.NodeId.ServerIndex != 0)
                {
                    continue;
                }

                NodeId node = client.Namespaces.MakeId(reference.NodeId);
                string name = $"{next.Path}/{reference.BrowseName.Name}";
                switch (reference.NodeClass)
                {
                    case NodeClass.Variable when !Add(name, client.Namespaces.Expand(node)):
                        return;
                    case NodeClass.Variable or NodeClass.Object:
                        waiting.Enqueue((node, name));
                        break;
                    case NodeClass.Method:
                        _methods.Add(new OpcUaMethod(name, client.Namespaces.Expand(next.Node), client.Namespaces.Expand(node)));
                        break;
                }
            }
        }
    }

    // False if there are too many.
    private bool Add(string name, ExpandedNodeId id)
    {
        if (_names.TryGetValue(name, out OpcUaTag? known))
        {
            if (known.Id != id)
            {
                BridgeLog.NameTwice(logger, name, $"{known.Id}", $"{id}");
            }

            return true;
        }

        if (_tags.Count >= options.MaxTags)
        {
            BridgeLog.TooManyTags(logger, options.Name, options.MaxTags);
            return false;
        }

        GroupOptions? group = settings.Groups.GetValueOrDefault(options.Group);
        var tag = new OpcUaTag(
            id,
            new TagInfo(_tags.Count, name)
            {
                Interval = group?.PublishingInterval,
                ReportsAllChanges = group is null || group.Filter == Deadband.None,
            },
            group);
        _tags.Add(tag);
        _names.Add(name, tag);
        return true;
    }

    private async Task DescribeAsync(NodeId[] nodes, CancellationToken cancellationToken)
    {
        if (nodes.Length == 0)
        {
            return;
        }

        DataValue[] types = await client.ReadAsync(nodes, AttributeId.DataType, cancellationToken).ConfigureAwait(false);
        DataValue[] ranks = await client.ReadAsync(nodes, AttributeId.ValueRank, cancellationToken).ConfigureAwait(false);
        DataValue[] access = await client.ReadAsync(nodes, AttributeId.UserAccessLevel, cancellationToken).ConfigureAwait(false);
        DataValue[] descriptions = await client.ReadAsync(nodes, AttributeId.Description, cancellationToken).ConfigureAwait(false);
        for (int i = 0; i < nodes.Length; i++)
        {
            // What cannot be read now stays as it is known.
            OpcUaTag tag = _tags[i];
            bool isKnown = access[i].Value.TryGet(out byte level);
            _tags[i] = tag with
            {
                Info = tag.Info with
                {
                    Type = types[i].Value.TryGet(out NodeId type) ? TypeOf(type) : tag.Info.Type,
                    Rank = ranks[i].Value.TryGet(out int rank) ? rank : tag.Info.Rank,
                    IsReadable = !isKnown || (level & 1) != 0,
                    IsWritable = options.AllowWrite && (!isKnown || (level & 2) != 0),
                    Description = descriptions[i].Value.TryGet(out LocalizedText text) ? text.Text ?? string.Empty : tag.Info.Description,
                },
            };
        }
    }

    // Of the built-in types the DataType has the same number; enumerations are Int32 (OPC 10000-6, 5.1.2 and 5.2.4).
    private static TagType TypeOf(NodeId type) =>
        type is { NamespaceIndex: 0, Number: >= 1 and <= 25 } ? (TagType)type.Number
        : type == new NodeId(0, 29) ? TagType.Int32
        : TagType.Null;
}
