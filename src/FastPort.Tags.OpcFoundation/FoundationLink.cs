using System.Collections.Concurrent;
using FastPort.OpcUa.Client;
using FastPort.Tags.OpcUa;
using Microsoft.Extensions.Logging;
using Opc.Ua.Client;
using Opc.Ua.Configuration;
using static System.Text.Encoding;
using NamespaceTable = FastPort.OpcUa.Client.NamespaceTable;

namespace FastPort.Tags.OpcFoundation;

/// <summary>A connection of the OPC Foundation's stack: a session that reconnects by itself.</summary>
internal sealed class FoundationLink : IOpcUaLink
{
    private readonly ConcurrentDictionary<Own.NodeId, NodeId> _nodes = [];

    private FoundationLink(ManagedSession session)
    {
        Session = session;

        // The stack does not tell whether the session is the same: node ids count as different.
        Action replaced = () => Connected?.Invoke(true);
        session.ConnectionStateChanged += (_, e) => (e.PreviousState == ConnectionState.Connected ? Disconnected
            : e.NewState == ConnectionState.Connected ? replaced
            : null)?.Invoke();
    }

    public event Action? Disconnected;

    public event Action<bool>? Connected;

    public ManagedSession Session { get; }

    public NamespaceTable Namespaces { get; private set; } = null!;

    private IServiceMessageContext Context => Session.MessageContext;

    public static async Task<IOpcUaLink?> ConnectAsync(
        OpcUaEndpointOptions options, ILoggerFactory loggerFactory, CancellationToken cancellationToken)
    {
        Own.Client.OpcUaClientOptions client = options.Client;
        bool isSecure = client.SecurityPolicy != Own.OpcUaSecurityPolicy.None;
        string pki = Path.Combine(client.Certificates.Directory, "foundation");
        (string cn, NodeId rsa) = ($"CN={client.ApplicationName}", ObjectTypeIds.RsaSha256ApplicationCertificateType);
        var own = new CertificateIdentifier { StoreType = "Directory", StorePath = $"{pki}/own", SubjectName = cn, CertificateType = rsa };
        var telemetry = new Telemetry(loggerFactory);
        await using var application = new ApplicationInstance(telemetry) { ApplicationName = client.ApplicationName };
        ApplicationConfiguration configuration = await application.Build(client.ApplicationUri, "urn:fastport:opcua")
            .SetOperationTimeout((int)client.RequestTimeout.TotalMilliseconds)
            .AsClient()
            .AddSecurityConfiguration([own], pki)
            .SetAutoAcceptUntrustedCertificates(client.Certificates.UnsafeTrustAll)
            .CreateAsync(cancellationToken).ConfigureAwait(false);
        _ = !isSecure || await application.CheckApplicationInstanceCertificatesAsync(true, null, cancellationToken).ConfigureAwait(false);
        MessageSecurityMode mode = isSecure ? (MessageSecurityMode)client.SecurityMode : MessageSecurityMode.None;
        ManagedSessionBuilder builder = new ManagedSessionBuilder(configuration, telemetry)
            .UseEndpoint(client.EndpointUrl, mode, Own.SecureChannel.SecurityPolicy.Of(client.SecurityPolicy).Uri)
            .WithSessionTimeout(client.SessionTimeout)
            .WithUserIdentity(client.UserName is { } user ? new UserIdentity(user, UTF8.GetBytes(client.Password)) : new UserIdentity())
            .WithReconnectPolicy(terms => terms with { InitialDelay = client.ReconnectDelay, MaxDelay = client.MaxReconnectDelay })
            .WithReconnectPolicy(terms => terms with { MaxTotalReconnectTime = Timeout.InfiniteTimeSpan });
        ManagedSession session = await builder.ConnectAsync(cancellationToken).ConfigureAwait(false);
        if (session.Connected)
        {
            session.KeepAliveInterval = (int)client.KeepAliveInterval.TotalMilliseconds;
            return new FoundationLink(session);
        }

        // The stack counts a session as connected after its first attempt has failed.
        await session.DisposeAsync().ConfigureAwait(false);
        return null;
    }

    public async ValueTask RefreshNamespacesAsync(CancellationToken cancellationToken) =>
        Namespaces = NamespaceTable.Of((await ((IOpcUaLink)this)
            .ReadAsync([NamespaceTable.Node], Own.AttributeId.Value, cancellationToken).ConfigureAwait(false))[0]);

    public async ValueTask<BrowsedNode[]> BrowseAsync(
        IReadOnlyList<Own.NodeId> nodes, Own.BrowseDirection direction, CancellationToken cancellationToken)
    {
        (ArrayOf<ArrayOf<ReferenceDescription>> found, ArrayOf<ServiceResult> errors) = nodes.Count == 0 ? default : await TryAsync(
            () => Session.ManagedBrowseAsync(null, null, nodes.Select(NodeOf).ToArray(), 0, (BrowseDirection)direction,
                ReferenceTypeIds.HierarchicalReferences, true, 0, cancellationToken)).ConfigureAwait(false);
        return [.. nodes.Select((_, i) => new BrowsedNode(new(errors[i].StatusCode.Code), [.. found[i].ToList().Select(ToOwn)]))];
    }

    public async ValueTask ReadAsync(
        IReadOnlyList<Own.NodeId> nodes, Own.AttributeId attribute, IReadOnlyList<string?>? ranges, Memory<Own.DataValue> values,
        CancellationToken cancellationToken)
    {
        var reads = new ReadValueId[nodes.Count];
        for (int i = 0; i < reads.Length; i++)
        {
            reads[i] = new ReadValueId { NodeId = NodeOf(nodes[i]), AttributeId = (uint)attribute, IndexRange = ranges?[i] };
        }

        ReadResponse response = reads.Length == 0 ? new ReadResponse() : await TryAsync(
            () => Session.ReadAsync(null, 0, TimestampsToReturn.Both, reads, cancellationToken).AsTask()).ConfigureAwait(false);
        for (int i = 0; i < reads.Length; i++)
        {
            values.Span[i] = response.Results[i].ToOwn(Context);
        }
    }

    public async ValueTask WriteAsync(
        IReadOnlyList<KeyValuePair<Own.NodeId, Own.Variant>> writes, IReadOnlyList<string?> ranges, Memory<Own.StatusCode> statuses,
        CancellationToken cancellationToken)
    {
        WriteValue[] values = [.. writes.Select((one, i) => new WriteValue
        {
            NodeId = NodeOf(one.Key),
            AttributeId = Attributes.Value,
            IndexRange = ranges[i],
            Value = new DataValue(one.Value.ToFoundation(Context)),
        })];
        WriteResponse response = await TryAsync(() => Session.WriteAsync(null, values, cancellationToken).AsTask()).ConfigureAwait(false);
        for (int i = 0; i < values.Length; i++)
        {
            statuses.Span[i] = new Own.StatusCode(response.Results[i].Code);
        }
    }

    public async ValueTask<MethodCallResult> CallAsync(
        Own.NodeId node, Own.NodeId method, IReadOnlyList<Own.Variant> inputs, CancellationToken cancellationToken)
    {
        Variant[] arguments = [.. inputs.Select(one => one.ToFoundation(Context))];
        CallMethodRequest[] calls = [new() { ObjectId = NodeOf(node), MethodId = NodeOf(method), InputArguments = arguments }];
        CallResponse response = await TryAsync(() => Session.CallAsync(null, calls, cancellationToken).AsTask()).ConfigureAwait(false);
        return new(
            new(response.Results[0].StatusCode.Code),
            [.. response.Results[0].OutputArguments.ToList().Select(one => one.ToOwn(Context))]);
    }

    public async ValueTask<IOpcUaFeed> OpenFeedAsync(
        OpcUaTagSource source, TimeSpan interval, ITagFeedListener listener, CancellationToken cancellationToken)
    {
        var feed = new FoundationTagFeed(this, source, listener);
        try
        {
            await feed.OpenAsync(interval, cancellationToken).ConfigureAwait(false);
            return feed;
        }
        catch (Exception)
        {
            await feed.DisposeAsync().ConfigureAwait(false);
            throw;
        }
    }

    public ValueTask DisposeAsync() => Session.DisposeAsync();

    /// <summary>The stack's node id, which has the same text.</summary>
    public NodeId NodeOf(Own.NodeId own) => _nodes.GetOrAdd(own, static own => own.IsNull ? NodeId.Null : NodeId.Parse($"{own}"));

    // The stack does not tell whether a request was sent that has failed as a whole.
    private static async Task<T> TryAsync<T>(Func<Task<T>> call)
    {
        try
        {
            return await call().ConfigureAwait(false);
        }
        catch (ServiceResultException e)
        {
            uint code = e.StatusCode == StatusCodes.BadRequestTimeout ? Own.StatusCodes.BadTimeout.Value : e.StatusCode.Code;
            throw new Own.OpcUaException(new(code), e.Message, e) { MayHaveExecuted = true };
        }
    }

    private Own.ReferenceDescription ToOwn(ReferenceDescription one) => new()
    {
        ReferenceTypeId = new Variant(one.ReferenceTypeId).ToOwn(Context).Get<Own.NodeId>(),
        NodeId = new Variant(one.NodeId).ToOwn(Context).Get<Own.ExpandedNodeId>(),
        BrowseName = new Variant(one.BrowseName).ToOwn(Context).Get<Own.QualifiedName>(),
        NodeClass = (Own.NodeClass)one.NodeClass,
        TypeDefinition = new Variant(one.TypeDefinition).ToOwn(Context).Get<Own.ExpandedNodeId>(),
    };

    private sealed class Telemetry(ILoggerFactory loggerFactory) : TelemetryContextBase(loggerFactory);
}
