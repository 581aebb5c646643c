using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using Microsoft.Extensions.Logging;

namespace FastPort.Tags.OpcUa.Sources;

/// <summary>
/// A connection to an OPC UA server through one of the stacks, which reconnects after each loss. Services that fail as a whole throw an
/// <see cref="OpcUaException"/>. Members may be called from any thread, several at a time.
/// </summary>
internal interface IOpcUaLink : IAsyncDisposable
{
    /// <summary>Raised after a loss, before the link connects again.</summary>
    event Action? Disconnected;

    /// <summary>Raised when the link is connected again: true if the session is another one, whose node ids may differ.</summary>
    event Action<bool>? Connected;

    /// <summary>The server's namespaces, as last read; unknown before <see cref="RefreshNamespacesAsync"/>.</summary>
    NamespaceTable Namespaces { get; }

    /// <summary>Reads the namespaces again.</summary>
    ValueTask RefreshNamespacesAsync(CancellationToken cancellationToken);

    /// <summary>Follows the hierarchical references of nodes.</summary>
    ValueTask<BrowsedNode[]> BrowseAsync(
        IReadOnlyList<NodeId> nodes, BrowseDirection direction, CancellationToken cancellationToken);

    /// <summary>Reads an attribute of nodes, or the parts of it that the ranges name.</summary>
    ValueTask ReadAsync(
        IReadOnlyList<NodeId> nodes,
        AttributeId attribute,
        IReadOnlyList<string?>? ranges,
        Memory<DataValue> values,
        CancellationToken cancellationToken);

    /// <summary>Reads an attribute of nodes.</summary>
    async ValueTask<DataValue[]> ReadAsync(IReadOnlyList<NodeId> nodes, AttributeId attribute, CancellationToken cancellationToken)
    {
        var values = new DataValue[nodes.Count];
        await ReadAsync(nodes, attribute, null, values, cancellationToken).ConfigureAwait(false);
        return values;
    }

    /// <summary>
    /// Writes values of nodes, or the parts of them that the ranges name. If it fails, the statuses of the values that were answered are
    /// set.
    /// </summary>
    ValueTask WriteAsync(
        IReadOnlyList<KeyValuePair<NodeId, Variant>> writes,
        IReadOnlyList<string?> ranges,
        Memory<StatusCode> statuses,
        CancellationToken cancellationToken);

    /// <summary>Calls a method.</summary>
    ValueTask<MethodCallResult> CallAsync(
        NodeId node, NodeId method, IReadOnlyList<Variant> inputs, CancellationToken cancellationToken);

    /// <summary>Subscribes.</summary>
    ValueTask<IOpcUaFeed> OpenFeedAsync(
        OpcUaTagSource source, TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken);

    /// <summary>Watches for new nodes. Defaults to a watch without signals.</summary>
    Task<ModelWatch> WatchModelAsync(string endpoint, ILogger logger, CancellationToken cancellationToken) =>
        Task.FromResult(ModelWatch.WithoutSignals());
}

/// <summary>A feed of an OPC UA server.</summary>
internal interface IOpcUaFeed : ITagFeed
{
    /// <summary>
    /// Ends the feed if the node of one of its tags is another one than when the tag was added, because it would report another node's
    /// values; or its deadband, because the server may have refused the previous one.
    /// </summary>
    void EndIfMoved(OpcUaTags tags);

    /// <summary>The server has nodes now that were absent.</summary>
    void TellAppeared();
}

/// <summary>Connects to an endpoint. Null if it does not answer or refuses the connection, which may change.</summary>
/// <exception cref="Exception">The endpoint can never be used.</exception>
internal delegate Task<IOpcUaLink?> OpcUaLinkFactory(
    OpcUaEndpointOptions options, ILoggerFactory loggerFactory, CancellationToken cancellationToken);

/// <summary>Connects through the stack of the OPC Foundation. A service of hosts that have it.</summary>
internal sealed record OpcFoundationLinks(OpcUaLinkFactory Connect);
