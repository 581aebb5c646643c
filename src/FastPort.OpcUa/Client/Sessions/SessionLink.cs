using FastPort.Connections;
using FastPort.OpcUa.Services;

namespace FastPort.OpcUa.Client;

/// <summary>A session that is active on a channel, until the channel's connection ends. Thread-safe.</summary>
/// <param name="endpointUrl">For messages.</param>
/// <param name="link">The channel.</param>
/// <param name="session">The session.</param>
/// <param name="limits">The server's limits for one request; kept for later sessions.</param>
internal sealed class SessionLink(string endpointUrl, ClientChannelLink link, ClientSession session, OperationLimits limits)
{
    // Server/ServerStatus/StartTime.
    private static readonly NodeId StartTimeNode = new(0, 2257);

    public ClientSession Session => session;

    public ClientChannel Channel => link.Channel;

    public Connection Connection => link.Connection;

    /// <summary>How much the server serves in one request.</summary>
    public OperationLimits Limits => limits;

    /// <summary>The server's namespaces. More may be appended while the session lasts.</summary>
    public NamespaceTable Namespaces { get; private set; } = NamespaceTable.Standard;

    /// <summary>When the server was started: ids of another run may now have other meanings. Null if it does not report that.</summary>
    public DateTime? StartTime { get; private set; }

    /// <summary>Sends a request of the session and waits for its response.</summary>
    public ValueTask<ServiceResult<TResponse>> SendAsync<TRequest, TResponse>(
        in TRequest request, Stack<PendingRequest<TResponse>> pool, CancellationToken cancellationToken, RequestTerms terms = default,
        in TResponse into = default)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage =>
        link.Channel.SendAsync(session.Token, request, pool, cancellationToken, terms, into);

    /// <summary>As <see cref="SendAsync"/>, for requests that are rare.</summary>
    public ValueTask<ServiceResult<TResponse>> SendOnceAsync<TRequest, TResponse>(
        in TRequest request, CancellationToken cancellationToken, RequestTerms terms = default)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage =>
        SendAsync(request, new Stack<PendingRequest<TResponse>>(), cancellationToken, terms);

    /// <summary>As <see cref="SendOnceAsync"/>, with an exception if the request fails.</summary>
    /// <exception cref="OpcUaException">The request failed as a whole.</exception>
    public async ValueTask<TResponse> CallAsync<TRequest, TResponse>(
        TRequest request, string service, CancellationToken cancellationToken)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage
    {
        ServiceResult<TResponse> result =
            await SendOnceAsync<TRequest, TResponse>(request, cancellationToken).ConfigureAwait(false);
        return ServiceFailure.Check(result, service, endpointUrl);
    }

    /// <summary>Ends the connection of a session that no longer works; the client then reconnects.</summary>
    public void Break(string why) => Connection.Abort(new CloseReason(CloseKind.ConnectionLost, why));

    /// <summary>Whether a status means that the server does not know the session on this channel.</summary>
    public static bool IsSessionLost(StatusCode status) =>
        status == StatusCodes.BadSessionIdInvalid || status == StatusCodes.BadSessionClosed
        || status == StatusCodes.BadSessionNotActivated || status == StatusCodes.BadSecureChannelIdInvalid;

    /// <summary>
    /// Whether a request was not sent because the channel has ended, even if the server's status has another meaning here. Otherwise it was
    /// too large, or too much waited to be sent.
    /// </summary>
    public bool IsOver(RequestFate fate, StatusCode status) =>
        fate == RequestFate.Unsent
        && (Connection.IsClosing
            || (status != StatusCodes.BadEncodingLimitsExceeded && status != StatusCodes.BadTcpNotEnoughResources));

    /// <summary>
    /// Reads the data that the client needs about the server. Indexes of namespaces may differ from those before a restart.
    /// </summary>
    public async Task ReadServerAsync(CancellationToken cancellationToken)
    {
        // One request each, all at once: the allowed number of nodes in a request is one of the answers.
        IEnumerable<NodeId> nodes = OperationLimits.Nodes.Append(NamespaceTable.Node).Append(StartTimeNode);
        DataValue[] values =
            await Task.WhenAll(nodes.Select(node => ReadAsync(node, cancellationToken))).ConfigureAwait(false);
        limits.Declare(values);
        StartTime = !values[^1].Status.IsBad && values[^1].Value.TryGet(out DateTime start) ? start : null;
        Namespaces = NamespacesOf(values[^2]);
    }

    /// <summary>Reads the namespaces again. False if the meaning of indexes has changed.</summary>
    public async Task<bool> TryReadNamespacesAsync(CancellationToken cancellationToken)
    {
        NamespaceTable read = NamespacesOf(await ReadAsync(NamespaceTable.Node, cancellationToken).ConfigureAwait(false));
        bool isExtended = read.Extends(Namespaces);
        Namespaces = isExtended && read.Uris.Count != Namespaces.Uris.Count ? read : Namespaces;
        return isExtended;
    }

    // Without them, node ids may be those of other nodes.
    private NamespaceTable NamespacesOf(in DataValue value) => value.Status.IsBad
        ? throw ServiceFailure.Create(value.Status, "Read of NamespaceArray", endpointUrl)
        : NamespaceTable.Of(value);

    private async Task<DataValue> ReadAsync(NodeId node, CancellationToken cancellationToken)
    {
        var request = new ReadRequest
        {
            TimestampsToReturn = TimestampsToReturn.Neither,
            NodesToRead = [new ReadValueId { NodeId = node, AttributeId = (uint)AttributeId.Value }],
        };
        ReadResponse response = await CallAsync<ReadRequest, ReadResponse>(request, "Read", cancellationToken).ConfigureAwait(false);
        return response.Results is [var value]
            ? value
            : throw ServiceFailure.Create(StatusCodes.BadUnknownResponse, "Read", endpointUrl);
    }
}
