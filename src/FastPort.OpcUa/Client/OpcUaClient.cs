using FastPort.Connections;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.Transports;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;

namespace FastPort.OpcUa.Client;

/// <summary>A session with an OPC UA server. Its members are safe from any thread; many requests can be under way at a time.</summary>
public sealed class OpcUaClient : IAsyncDisposable
{
    // The type of all references of a tree (OPC 10000-5, 11.2).
    private const uint HierarchicalReferences = 33;

    private readonly string _endpointUrl;
    private readonly OpcUaClientOptions _options;
    private readonly ILogger _logger;
    private readonly ConnectionClock _clock = new();
    private readonly Stack<PendingRequest<ReadResponse>> _reads = [];
    private readonly Stack<PendingRequest<WriteResponse>> _writes = [];
    private readonly Stack<PendingRequest<CallResponse>> _calls = [];
    private readonly Stack<PendingRequest<BrowseResponse>> _browses = [];
    private readonly Stack<PendingRequest<BrowseNextResponse>> _browsesNext = [];
    private Connection? _connection;
    private ClientChannel? _channel;
    private ApplicationCertificates? _certificates;
    private NodeId _token;
    private OperationLimits _limits = OperationLimits.None;

    private OpcUaClient(string endpointUrl, OpcUaClientOptions options, ILogger logger)
    {
        _endpointUrl = endpointUrl;
        _options = options;
        _logger = logger;
    }

    /// <summary>Connects to a server, opens a secure channel, and creates and activates a session.</summary>
    /// <param name="endpointUrl">The endpoint: <c>opc.tcp://host:4840/path</c>.</param>
    /// <param name="options">Options. Defaults to the default values.</param>
    /// <param name="loggerFactory">Creates the client's logger. Defaults to no logging.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="FormatException"><paramref name="endpointUrl"/> is not an endpoint.</exception>
    /// <exception cref="EndpointException">The server cannot be reached.</exception>
    /// <exception cref="OpcUaException">The server refuses the channel or the session.</exception>
    public static async Task<OpcUaClient> ConnectAsync(
        string endpointUrl,
        OpcUaClientOptions? options = null,
        ILoggerFactory? loggerFactory = null,
        CancellationToken cancellationToken = default)
    {
        ILogger logger = (loggerFactory ?? NullLoggerFactory.Instance).CreateLogger<OpcUaClient>();
        var client = new OpcUaClient(endpointUrl, options ?? new OpcUaClientOptions(), logger);
        try
        {
            await client.OpenAsync(cancellationToken).ConfigureAwait(false);
            return client;
        }
        catch
        {
            await client.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    /// <summary>Reads the values of nodes, with both timestamps.</summary>
    /// <param name="nodes">The nodes.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <returns>A value for each node, in order; its status says whether it was read.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public ValueTask<DataValue[]> ReadAsync(IReadOnlyList<NodeId> nodes, CancellationToken cancellationToken = default) =>
        ReadAsync(nodes, AttributeId.Value, cancellationToken);

    /// <summary>
    /// Reads an attribute of nodes, with both timestamps. More nodes than the server reads at a time are read in several requests.
    /// </summary>
    /// <param name="nodes">The nodes.</param>
    /// <param name="attribute">The attribute.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <returns>A value for each node, in order; its status says whether it was read.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public async ValueTask<DataValue[]> ReadAsync(
        IReadOnlyList<NodeId> nodes, AttributeId attribute, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(nodes);
        if (nodes.Count <= _limits.MaxNodesPerRead)
        {
            return await ReadPartAsync(nodes, 0, nodes.Count, attribute, cancellationToken).ConfigureAwait(false);
        }

        var values = new DataValue[nodes.Count];
        for (int from = 0; from < values.Length; from += _limits.MaxNodesPerRead)
        {
            int count = Math.Min(_limits.MaxNodesPerRead, values.Length - from);
            DataValue[] part = await ReadPartAsync(nodes, from, count, attribute, cancellationToken).ConfigureAwait(false);
            part.CopyTo(values, from);
        }

        return values;
    }

    /// <summary>
    /// Writes the values of nodes. More nodes than the server writes at a time are written in several requests, one after the other.
    /// </summary>
    /// <param name="values">The nodes and their values. Status and timestamps are not written.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <returns>A status for each node, in order.</returns>
    /// <exception cref="OpcUaException">A request failed as a whole; those before it were written.</exception>
    public async ValueTask<StatusCode[]> WriteAsync(
        IReadOnlyList<KeyValuePair<NodeId, Variant>> values, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(values);
        if (values.Count <= _limits.MaxNodesPerWrite)
        {
            return await WritePartAsync(values, 0, values.Count, cancellationToken).ConfigureAwait(false);
        }

        var statuses = new StatusCode[values.Count];
        for (int from = 0; from < statuses.Length; from += _limits.MaxNodesPerWrite)
        {
            int count = Math.Min(_limits.MaxNodesPerWrite, statuses.Length - from);
            StatusCode[] part = await WritePartAsync(values, from, count, cancellationToken).ConfigureAwait(false);
            part.CopyTo(statuses, from);
        }

        return statuses;
    }

    /// <summary>Calls a method.</summary>
    /// <param name="objectId">The object that has the method.</param>
    /// <param name="methodId">The method.</param>
    /// <param name="inputs">The input arguments.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <returns>The method's status and output arguments.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public async ValueTask<MethodCallResult> CallAsync(
        NodeId objectId, NodeId methodId, IReadOnlyList<Variant> inputs, CancellationToken cancellationToken = default)
    {
        var method = new CallMethodRequest { ObjectId = objectId, MethodId = methodId, InputArguments = [.. inputs] };
        ServiceResult<CallResponse> result = await Channel.SendAsync(
            _token, new CallRequest { MethodsToCall = [method] }, _calls, cancellationToken).ConfigureAwait(false);
        return Check(result, "Call").Results is [var called]
            ? new MethodCallResult(called.StatusCode, called.OutputArguments ?? [])
            : throw Failed("Call", StatusCodes.BadUnknownResponse);
    }

    /// <summary>Lists the references of a node that lead to other nodes, whatever their number.</summary>
    /// <param name="node">The node.</param>
    /// <param name="direction">Which references. Defaults to those that begin at the node.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <exception cref="OpcUaException">The service or the node's result is bad.</exception>
    public async ValueTask<IReadOnlyList<ReferenceDescription>> BrowseAsync(
        NodeId node, BrowseDirection direction = BrowseDirection.Forward, CancellationToken cancellationToken = default)
    {
        const uint AllFields = 63;
        var description = new BrowseDescription
        {
            NodeId = node,
            BrowseDirection = direction,
            ReferenceTypeId = new NodeId(0, HierarchicalReferences),
            IncludeSubtypes = true,
            ResultMask = AllFields,
        };
        ServiceResult<BrowseResponse> result = await Channel.SendAsync(
            _token,
            new BrowseRequest { NodesToBrowse = [description], RequestedMaxReferencesPerNode = (uint)_options.MaxReferencesPerBrowse },
            _browses,
            cancellationToken).ConfigureAwait(false);
        BrowseResult part = Only(Check(result, "Browse").Results, "Browse");
        List<ReferenceDescription> references = [.. part.References ?? []];
        while (part.ContinuationPoint.Length != 0)
        {
            ServiceResult<BrowseNextResponse> next = await Channel.SendAsync(
                _token, new BrowseNextRequest { ContinuationPoints = [part.ContinuationPoint] }, _browsesNext, cancellationToken)
                .ConfigureAwait(false);
            part = Only(Check(next, "BrowseNext").Results, "BrowseNext");
            references.AddRange(part.References ?? []);
        }

        return references;
    }

    /// <summary>Closes the session and the connection.</summary>
    public async ValueTask DisposeAsync()
    {
        if (_connection is not null)
        {
            if (!_token.IsNull)
            {
                await _channel!.SendAsync(
                    _token,
                    new CloseSessionRequest { DeleteSubscriptions = true },
                    new Stack<PendingRequest<CloseSessionResponse>>(),
                    CancellationToken.None).ConfigureAwait(false);
            }

            _connection.Close(CloseReason.LocalClosed);
            await _connection.Closed.ConfigureAwait(false);
        }

        _certificates?.Dispose();
        _clock.Dispose();
    }

    internal ClientChannel Channel => _channel!;

    private async ValueTask<DataValue[]> ReadPartAsync(
        IReadOnlyList<NodeId> nodes, int from, int count, AttributeId attribute, CancellationToken cancellationToken)
    {
        var items = new ReadValueId[count];
        for (int i = 0; i < items.Length; i++)
        {
            items[i].NodeId = nodes[from + i];
            items[i].AttributeId = (uint)attribute;
        }

        ServiceResult<ReadResponse> result = await Channel.SendAsync(
            _token,
            new ReadRequest { TimestampsToReturn = TimestampsToReturn.Both, NodesToRead = items },
            _reads,
            cancellationToken).ConfigureAwait(false);
        return Check(result, "Read").Results is { } values && values.Length == items.Length
            ? values
            : throw Failed("Read", StatusCodes.BadUnknownResponse);
    }

    private async ValueTask<StatusCode[]> WritePartAsync(
        IReadOnlyList<KeyValuePair<NodeId, Variant>> values, int from, int count, CancellationToken cancellationToken)
    {
        var items = new WriteValue[count];
        for (int i = 0; i < items.Length; i++)
        {
            items[i].NodeId = values[from + i].Key;
            items[i].AttributeId = (uint)AttributeId.Value;
            items[i].Value = values[from + i].Value;
        }

        ServiceResult<WriteResponse> result = await Channel.SendAsync(
            _token, new WriteRequest { NodesToWrite = items }, _writes, cancellationToken).ConfigureAwait(false);
        return Check(result, "Write").Results is { } statuses && statuses.Length == items.Length
            ? statuses
            : throw Failed("Write", StatusCodes.BadUnknownResponse);
    }

    private async Task OpenAsync(CancellationToken cancellationToken)
    {
        using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        timeout.CancelAfter(_options.ConnectTimeout);
        ChannelCredentials? credentials = _options.SecurityPolicy == OpcUaSecurityPolicy.None
            ? null
            : await FindCredentialsAsync(timeout.Token).ConfigureAwait(false);
        (_connection, _channel) = await OpenChannelAsync(credentials, timeout.Token).ConfigureAwait(false);
        _token = await OpenSessionAsync(timeout.Token).ConfigureAwait(false);
        _limits = OperationLimits.Of(
            await ReadAsync(OperationLimits.Nodes, AttributeId.Value, timeout.Token).ConfigureAwait(false));
    }

    // The server's certificate is asked for without security, then checked, and used from the first message on.
    private async Task<ChannelCredentials> FindCredentialsAsync(CancellationToken cancellationToken)
    {
        _certificates = new ApplicationCertificates(
            _options.Certificates,
            _options.ApplicationUri,
            _options.ApplicationName,
            [Environment.MachineName],
            TimeProvider.System,
            _logger);
        var (connection, channel) = await OpenChannelAsync(credentials: null, cancellationToken).ConfigureAwait(false);
        GetEndpointsResponse response = Check(
            await channel.SendAsync(
                NodeId.Null,
                new GetEndpointsRequest { EndpointUrl = _endpointUrl },
                new Stack<PendingRequest<GetEndpointsResponse>>(),
                cancellationToken).ConfigureAwait(false),
            "GetEndpoints");
        connection.Close(CloseReason.LocalClosed);
        await connection.Closed.WaitAsync(cancellationToken).ConfigureAwait(false);

        var policy = SecurityPolicy.Of(_options.SecurityPolicy);
        EndpointDescription endpoint = (response.Endpoints ?? []).FirstOrDefault(
            one => one.SecurityPolicyUri == policy.Uri && one.SecurityMode == _options.SecurityMode);
        if (endpoint.SecurityPolicyUri is null)
        {
            throw new OpcUaException(
                StatusCodes.BadSecurityPolicyRejected,
                $"{_endpointUrl} does not offer {_options.SecurityPolicy} with {_options.SecurityMode}; it offers "
                + $"{string.Join(", ", (response.Endpoints ?? []).Select(static e => $"{e.SecurityPolicyUri} with {e.SecurityMode}"))}.");
        }

        if (CertificateStore.TryReadLeaf(endpoint.ServerCertificate.Span) is not { } certificate)
        {
            throw new OpcUaException(StatusCodes.BadCertificateInvalid, $"The certificate of {_endpointUrl} cannot be read.");
        }

        StatusCode status = _certificates.Validate(certificate, endpoint.Server.ApplicationUri);
        if (status.IsBad)
        {
            string thumbprint = certificate.Thumbprint;
            certificate.Dispose();
            throw new OpcUaException(
                status,
                $"The certificate {thumbprint} of {_endpointUrl} is refused: {status}. To trust it, move its file from "
                + $"{Path.Combine(_options.Certificates.Directory, "rejected")} to "
                + $"{Path.Combine(_options.Certificates.Directory, "trusted")}.");
        }

        return new ChannelCredentials(policy, _certificates.Own, certificate);
    }

    private async Task<(Connection Connection, ClientChannel Channel)> OpenChannelAsync(
        ChannelCredentials? credentials, CancellationToken cancellationToken)
    {
        Endpoint endpoint = Endpoint.Parse(_endpointUrl);
        TransportCollection transports = TransportCollection.CreateShared().MapScheme("opc.tcp", over: "tcp", defaultPort: 4840);
        var settings = new ConnectionSettings
        {
            Clock = _clock,
            Logger = _logger,
            MaxReceiveBytes = Math.Max(2 * _options.MaxChunkBytes, 256 * 1024),
            MaxSendBytes = _options.MaxMessageBytes,
        };
        Connection connection = await transports.CreateConnector(endpoint, settings).ConnectAsync(cancellationToken).ConfigureAwait(false);
        var channel = new ClientChannel(_endpointUrl, _options, credentials);
        connection.Start(channel);
        try
        {
            await channel.Opened.WaitAsync(cancellationToken).ConfigureAwait(false);
            return (connection, channel);
        }
        catch
        {
            connection.Abort(CloseReason.LocalClosed);
            throw;
        }
    }

    private async Task<NodeId> OpenSessionAsync(CancellationToken cancellationToken)
    {
        ChannelCredentials? credentials = Channel.Credentials;
        byte[] nonce = ChannelCredentials.CreateNonce();
        CreateSessionResponse session = Check(
            await Channel.SendAsync(
                NodeId.Null,
                new CreateSessionRequest
                {
                    ClientDescription = new ApplicationDescription
                    {
                        ApplicationUri = _options.ApplicationUri,
                        ProductUri = "urn:fastport:opcua",
                        ApplicationName = _options.ApplicationName,
                        ApplicationType = ApplicationType.Client,
                    },
                    EndpointUrl = _endpointUrl,
                    SessionName = _options.ApplicationName,
                    ClientNonce = nonce,
                    ClientCertificate = credentials?.OwnCertificate,
                    RequestedSessionTimeout = _options.SessionTimeout.TotalMilliseconds,
                    MaxResponseMessageSize = (uint)_options.MaxMessageBytes,
                },
                new Stack<PendingRequest<CreateSessionResponse>>(),
                cancellationToken).ConfigureAwait(false),
            "CreateSession");
        if (credentials is not null
            && !(credentials.IsPeer(session.ServerCertificate.Span)
                && credentials.VerifyPeer(nonce, session.ServerSignature.Signature.Span)))
        {
            throw Failed("CreateSession", StatusCodes.BadApplicationSignatureInvalid);
        }

        SecurityPolicy policy = credentials?.Policy ?? SecurityPolicy.None;
        MessageSecurityMode mode = credentials is null ? MessageSecurityMode.None : _options.SecurityMode;
        UserTokenPolicy[] users = [.. (session.ServerEndpoints ?? [])
            .Where(e => e.SecurityPolicyUri == policy.Uri && e.SecurityMode == mode)
            .SelectMany(static e => e.UserIdentityTokens ?? [])];
        Check(
            await Channel.SendAsync(
                session.AuthenticationToken,
                new ActivateSessionRequest
                {
                    ClientSignature = credentials is null ? default : new SignatureData
                    {
                        Algorithm = policy.SignatureUri,
                        Signature = credentials.SignPeer(session.ServerNonce.Span),
                    },
                    UserIdentityToken = UserToken.Create(_endpointUrl, _options, policy, mode, users, session),
                },
                new Stack<PendingRequest<ActivateSessionResponse>>(),
                cancellationToken).ConfigureAwait(false),
            "ActivateSession");
        return session.AuthenticationToken;
    }

    private BrowseResult Only(BrowseResult[]? results, string service) =>
        results is not [var result] ? throw Failed(service, StatusCodes.BadUnknownResponse)
        : result.StatusCode.IsBad ? throw Failed(service, result.StatusCode)
        : result;

    private T Check<T>(in ServiceResult<T> result, string service) =>
        result.Status.IsGood ? result.Response : throw Failed(service, result.Status);

    private OpcUaException Failed(string service, StatusCode status) =>
        new(status, $"{service} of {_endpointUrl} failed: {status}.");
}
