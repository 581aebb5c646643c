using FastPort.Connections;
using FastPort.OpcUa.Services;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.OpcUa.Client;

/// <content>Discovery, which needs no session (OPC 10000-4, 5.5).</content>
public sealed partial class OpcUaClient
{
    /// <summary>
    /// Asks a server for its endpoints (OPC 10000-4, 5.5.4); if it refuses, at the path <c>/discovery</c> below the URL, where some servers
    /// list them. The answer is not signed.
    /// </summary>
    /// <param name="endpointUrl">The server: <c>opc.tcp://host:4840/path</c>.</param>
    /// <param name="options">Limits and times. Defaults to the default values.</param>
    /// <param name="loggerFactory">Creates the logger. Defaults to no logging.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="FormatException"><paramref name="endpointUrl"/> is not an endpoint.</exception>
    /// <exception cref="EndpointException">The server cannot be reached.</exception>
    /// <exception cref="OpcUaException">The server refuses.</exception>
    public static async Task<IReadOnlyList<EndpointDescription>> GetEndpointsAsync(
        string endpointUrl,
        OpcUaClientOptions? options = null,
        ILoggerFactory? loggerFactory = null,
        CancellationToken cancellationToken = default)
    {
        (GetEndpointsResponse response, _) = await DiscoveryUrl.AskAsync(
            endpointUrl,
            url => DiscoverAsync<GetEndpointsRequest, GetEndpointsResponse>(
                url, new GetEndpointsRequest { EndpointUrl = url }, "GetEndpoints", options, loggerFactory, cancellationToken))
            .ConfigureAwait(false);
        return response.Endpoints ?? [];
    }

    /// <summary>Asks a discovery server, or a server about itself, which servers it knows (OPC 10000-4, 5.5.2).</summary>
    /// <param name="endpointUrl">The server: <c>opc.tcp://host:4840/path</c>.</param>
    /// <param name="options">Limits and times. Defaults to the default values.</param>
    /// <param name="loggerFactory">Creates the logger. Defaults to no logging.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    /// <exception cref="FormatException"><paramref name="endpointUrl"/> is not an endpoint.</exception>
    /// <exception cref="EndpointException">The server cannot be reached.</exception>
    /// <exception cref="OpcUaException">The server refuses.</exception>
    public static async Task<IReadOnlyList<ApplicationDescription>> FindServersAsync(
        string endpointUrl,
        OpcUaClientOptions? options = null,
        ILoggerFactory? loggerFactory = null,
        CancellationToken cancellationToken = default)
    {
        FindServersResponse response = await DiscoverAsync<FindServersRequest, FindServersResponse>(
            endpointUrl, new FindServersRequest { EndpointUrl = endpointUrl }, "FindServers", options, loggerFactory, cancellationToken)
            .ConfigureAwait(false);
        return response.Servers ?? [];
    }

    private static async Task<TResponse> DiscoverAsync<TRequest, TResponse>(
        string endpointUrl, TRequest request, string service, OpcUaClientOptions? options, ILoggerFactory? loggerFactory,
        CancellationToken cancellationToken)
        where TRequest : struct, IServiceMessage
        where TResponse : struct, IServiceMessage
    {
        options ??= new OpcUaClientOptions();
        options.ThrowIfInvalid();
        ILogger logger = (loggerFactory ?? NullLoggerFactory.Instance).CreateLogger<OpcUaClient>();
        using var clock = new ConnectionClock();
        using var opener = new ChannelOpener(endpointUrl, options, clock, logger);
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        limit.CancelAfter(options.ConnectTimeout);
        ClientChannelLink link = await opener.OpenPlainAsync(endpointUrl, limit.Token).ConfigureAwait(false);
        try
        {
            ServiceResult<TResponse> result = await link.Channel.SendAsync(
                NodeId.Null, request, new Stack<PendingRequest<TResponse>>(), cancellationToken).ConfigureAwait(false);
            link.Channel.Close();
            await link.Connection.Closed.WaitAsync(cancellationToken).ConfigureAwait(false);
            return ServiceFailure.Check(result, service, endpointUrl);
        }
        finally
        {
            // Also if the wait was canceled.
            link.Connection.Abort(CloseReason.LocalClosed);
        }
    }
}
