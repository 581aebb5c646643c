using FastPort.Connections;
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
    private readonly ConnectionClock _clock = new();
    private readonly Stack<PendingRequest<ReadResponse>> _reads = [];
    private readonly Stack<PendingRequest<WriteResponse>> _writes = [];
    private readonly Stack<PendingRequest<CallResponse>> _calls = [];
    private readonly Stack<PendingRequest<BrowseResponse>> _browses = [];
    private readonly Stack<PendingRequest<BrowseNextResponse>> _browsesNext = [];
    private Connection? _connection;
    private ClientChannel? _channel;
    private NodeId _token;

    private OpcUaClient(string endpointUrl, OpcUaClientOptions options)
    {
        _endpointUrl = endpointUrl;
        _options = options;
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
        var client = new OpcUaClient(endpointUrl, options ?? new OpcUaClientOptions());
        try
        {
            await client.OpenAsync((loggerFactory ?? NullLoggerFactory.Instance).CreateLogger<OpcUaClient>(), cancellationToken)
                .ConfigureAwait(false);
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

    /// <summary>Reads an attribute of nodes, with both timestamps.</summary>
    /// <param name="nodes">The nodes.</param>
    /// <param name="attribute">The attribute.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <returns>A value for each node, in order; its status says whether it was read.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public async ValueTask<DataValue[]> ReadAsync(
        IReadOnlyList<NodeId> nodes, AttributeId attribute, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(nodes);
        var items = new ReadValueId[nodes.Count];
        for (int i = 0; i < items.Length; i++)
        {
            items[i].NodeId = nodes[i];
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

    /// <summary>Writes the values of nodes.</summary>
    /// <param name="values">The nodes and their values. Status and timestamps are not written.</param>
    /// <param name="cancellationToken">Gives up waiting.</param>
    /// <returns>A status for each node, in order.</returns>
    /// <exception cref="OpcUaException">The service failed as a whole.</exception>
    public async ValueTask<StatusCode[]> WriteAsync(
        IReadOnlyList<KeyValuePair<NodeId, Variant>> values, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(values);
        var items = new WriteValue[values.Count];
        for (int i = 0; i < items.Length; i++)
        {
            items[i].NodeId = values[i].Key;
            items[i].AttributeId = (uint)AttributeId.Value;
            items[i].Value = values[i].Value;
        }

        ServiceResult<WriteResponse> result = await Channel.SendAsync(
            _token, new WriteRequest { NodesToWrite = items }, _writes, cancellationToken).ConfigureAwait(false);
        return Check(result, "Write").Results is { } statuses && statuses.Length == items.Length
            ? statuses
            : throw Failed("Write", StatusCodes.BadUnknownResponse);
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
                    _token, new CloseSessionRequest { DeleteSubscriptions = true }, new Stack<PendingRequest<CloseSessionResponse>>(), default)
                    .ConfigureAwait(false);
            }

            _connection.Close(CloseReason.LocalClosed);
            await _connection.Closed.ConfigureAwait(false);
        }

        _clock.Dispose();
    }

    private ClientChannel Channel => _channel!;

    private async Task OpenAsync(ILogger logger, CancellationToken cancellationToken)
    {
        Endpoint endpoint = Endpoint.Parse(_endpointUrl);
        TransportCollection transports = TransportCollection.CreateShared().MapScheme("opc.tcp", over: "tcp", defaultPort: 4840);
        var settings = new ConnectionSettings
        {
            Clock = _clock,
            Logger = logger,
            MaxReceiveBytes = Math.Max(2 * _options.MaxChunkBytes, 256 * 1024),
            MaxSendBytes = _options.MaxMessageBytes,
        };
        using var timeout = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        timeout.CancelAfter(_options.ConnectTimeout);
        _connection = await transports.CreateConnector(endpoint, settings).ConnectAsync(timeout.Token).ConfigureAwait(false);
        _channel = new ClientChannel(_endpointUrl, _options);
        _connection.Start(_channel);
        await _channel.Opened.WaitAsync(cancellationToken).ConfigureAwait(false);

        CreateSessionResponse session = Check(
            await _channel.SendAsync(
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
                    ClientNonce = System.Security.Cryptography.RandomNumberGenerator.GetBytes(32),
                    RequestedSessionTimeout = _options.SessionTimeout.TotalMilliseconds,
                    MaxResponseMessageSize = (uint)_options.MaxMessageBytes,
                },
                new Stack<PendingRequest<CreateSessionResponse>>(),
                cancellationToken).ConfigureAwait(false),
            "CreateSession");
        string? policy = session.ServerEndpoints?
            .SelectMany(static e => e.UserIdentityTokens ?? [])
            .FirstOrDefault(static p => p.TokenType == UserTokenType.Anonymous).PolicyId;
        Check(
            await _channel.SendAsync(
                session.AuthenticationToken,
                new ActivateSessionRequest { UserIdentityToken = Identity(new AnonymousIdentityToken { PolicyId = policy }) },
                new Stack<PendingRequest<ActivateSessionResponse>>(),
                cancellationToken).ConfigureAwait(false),
            "ActivateSession");
        _token = session.AuthenticationToken;
    }

    private static ExtensionObject Identity<T>(in T token)
        where T : struct, IServiceMessage
    {
        using var buffer = new SecureChannel.MessageBuffer(System.Buffers.ArrayPool<byte>.Shared);
        var encoder = new Encoding.BinaryEncoder(buffer);
        encoder.WriteStructure(token);
        encoder.Complete();
        return new ExtensionObject(new NodeId(0, T.EncodingId), ExtensionObjectEncoding.Binary, buffer.Written.ToArray());
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
