using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using Microsoft.Extensions.Logging;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>A connection of FastPort's client.</summary>
internal sealed class ClientLink : IOpcUaLink
{
    private readonly OpcUaClient _client;

    public ClientLink(OpcUaClient client)
    {
        _client = client;
        client.Disconnected += _ => Disconnected?.Invoke();
        client.Connected += recovery => Connected?.Invoke(recovery == SessionRecovery.Replaced);
    }

    public event Action? Disconnected;

    public event Action<bool>? Connected;

    public NamespaceTable Namespaces => _client.Namespaces;

    public static async Task<IOpcUaLink?> ConnectAsync(
        OpcUaEndpointOptions options, ILoggerFactory loggerFactory, CancellationToken cancellationToken) => new ClientLink(
            await OpcUaClient.ConnectAsync(options.Client.EndpointUrl, options.Client, loggerFactory, cancellationToken)
                .ConfigureAwait(false));

    public ValueTask RefreshNamespacesAsync(CancellationToken cancellationToken) => _client.RefreshNamespacesAsync(cancellationToken);

    public ValueTask<BrowsedNode[]> BrowseAsync(
        IReadOnlyList<NodeId> nodes, BrowseDirection direction, CancellationToken cancellationToken) =>
        _client.BrowseAsync(nodes, direction, cancellationToken);

    public ValueTask ReadAsync(
        IReadOnlyList<NodeId> nodes,
        AttributeId attribute,
        IReadOnlyList<string?>? ranges,
        Memory<DataValue> values,
        CancellationToken cancellationToken) =>
        attribute == AttributeId.Value && ranges is null
            ? _client.ReadAsync(nodes, values, cancellationToken)
            : ReadOtherAsync(nodes, attribute, ranges, values, cancellationToken);

    public ValueTask WriteAsync(
        IReadOnlyList<KeyValuePair<NodeId, Variant>> writes,
        IReadOnlyList<string?> ranges,
        Memory<StatusCode> statuses,
        CancellationToken cancellationToken) => _client.WriteAsync(writes, ranges, statuses, cancellationToken);

    public ValueTask<MethodCallResult> CallAsync(
        NodeId node, NodeId method, IReadOnlyList<Variant> inputs, CancellationToken cancellationToken) =>
        _client.CallAsync(node, method, inputs, cancellationToken);

    public async ValueTask<IOpcUaFeed> OpenFeedAsync(
        OpcUaTagSource source, TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken) =>
        await OpcUaTagFeed.OpenAsync(_client, interval, listener, source, cancellationToken).ConfigureAwait(false);

    public Task<ModelWatch> WatchModelAsync(string endpoint, ILogger logger, CancellationToken cancellationToken) =>
        ModelWatch.StartAsync(_client, endpoint, logger, cancellationToken);

    public ValueTask DisposeAsync() => _client.DisposeAsync();

    private async ValueTask ReadOtherAsync(
        IReadOnlyList<NodeId> nodes,
        AttributeId attribute,
        IReadOnlyList<string?>? ranges,
        Memory<DataValue> values,
        CancellationToken cancellationToken)
    {
        DataValue[] read = ranges is null
            ? await _client.ReadAsync(nodes, attribute, cancellationToken).ConfigureAwait(false)
            : await _client.ReadAsync(nodes, ranges, cancellationToken).ConfigureAwait(false);
        read.CopyTo(values);
    }
}
