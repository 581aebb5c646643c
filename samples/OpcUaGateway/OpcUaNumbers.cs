using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.Tags;
using FastPort.Tags.Sources;

namespace OpcUaGateway;

/// <summary>
/// Variables of type Double of an OPC UA server as tags: a tag's name is the text of its node id, with slashes for a path. Until the client
/// has connected, and while it connects again, the server of tags answers BadNoCommunication.
/// </summary>
internal sealed class OpcUaNumbers : ITagSource
{
    private readonly OpcUaClient _client;
    private readonly string _namespace;
    private readonly string[] _names;

    public OpcUaNumbers(OpcUaClient client, string namespaceUri, params string[] names)
    {
        (_client, _namespace, _names) = (client, namespaceUri, names);
        client.Disconnected += _ => ConnectionChanged?.Invoke();
        client.Connected += _ => ConnectionChanged?.Invoke();
    }

    public event Action? ConnectionChanged;

    public string Name => "plant";

    public bool IsConnected => _client.IsConnected;

    public ValueTask ResolveAsync(IReadOnlyList<string> names, Memory<TagInfo?> tags, CancellationToken cancellationToken)
    {
        for (int i = 0; i < names.Count; i++)
        {
            // Whether it can be written the OPC UA server says at each write.
            int tag = Array.IndexOf(_names, names[i]);
            tags.Span[i] = tag < 0 ? null : new TagInfo(tag, names[i]) { Type = TagType.Double, Rank = -1, IsWritable = true };
        }

        return ValueTask.CompletedTask;
    }

    public async ValueTask<TagStatus> ReadAsync(IReadOnlyList<int> tags, TagSamples samples, CancellationToken cancellationToken)
    {
        try
        {
            foreach (DataValue value in await _client.ReadAsync([.. tags.Select(NodeOf)], cancellationToken))
            {
                TagSample sample = value.Value.TryGet(out double number) ? new TagSample(number, new TagStatus(value.Status.Value))
                    : TagSample.Bad(value.Status.IsBad ? new TagStatus(value.Status.Value) : TagStatus.BadTypeMismatch);
                samples.Add(sample with { SourceTime = value.SourceTimestamp, ServerTime = value.ServerTimestamp });
            }

            return TagStatus.Good;
        }
        catch (OpcUaException e)
        {
            return new TagStatus(e.Status.Value);
        }
    }

    public async ValueTask<TagStatus> WriteAsync(
        IReadOnlyList<int> tags, TagSamples values, Memory<TagStatus> statuses, CancellationToken cancellationToken)
    {
        try
        {
            // The server of tags has checked the types.
            StatusCode[] written = await _client.WriteAsync(
                [.. tags.Select((tag, i) => KeyValuePair.Create(NodeOf(tag), Variant.From(values.GetValue(i).Get<double>())))],
                cancellationToken);
            Array.ConvertAll(written, static status => new TagStatus(status.Value)).CopyTo(statuses);
            return TagStatus.Good;
        }
        catch (OpcUaException e)
        {
            // What may have been done is not known to have failed.
            return e.MayHaveExecuted ? TagStatus.BadTimeout : new TagStatus(e.Status.Value);
        }
    }

    // Read again and again. A feed of an OpcUaSubscription has less to ask for, and reports sooner.
    public ValueTask<ITagFeed> OpenFeedAsync(TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken) =>
        new(new PolledTagFeed(this, interval, listener));

    public ValueTask<TagStatus> BrowseAsync(string path, IList<TagBrowseNode> nodes, CancellationToken cancellationToken) =>
        new(TagNameTree.Browse(path, _names, [], nodes));

    public ValueTask<TagStatus> CallAsync(string method, TagSamples inputs, TagSamples outputs, CancellationToken cancellationToken) =>
        new(TagStatus.BadMethodInvalid);

    // Whoever made the client closes it.
    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    // Not kept: the namespace may have another index after a restart of the server.
    private NodeId NodeOf(int tag) => _client.Namespaces.MakeId(_namespace, _names[tag]);
}
