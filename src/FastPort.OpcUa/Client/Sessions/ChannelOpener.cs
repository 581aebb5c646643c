using System.Security.Cryptography.X509Certificates;
using FastPort.Connections;
using FastPort.Logging;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.Transports;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.Client;

/// <summary>
/// Opens secure channels to one endpoint, with a certificate of the server that is checked each time. Used by one task at a time.
/// </summary>
internal sealed class ChannelOpener(string endpointUrl, OpcUaClientOptions options, ConnectionClock clock, ILogger logger) : IDisposable
{
    // All offered policies and modes, for a message.
    private const int MaxOfferedText = 1024;

    // Each only if needed: they create folders and files.
    private CertificateStore? _store;
    private ApplicationCertificates? _certificates;

    /// <summary>The client's URI: that of the certificate if a channel has needed it.</summary>
    public string ApplicationUri => _certificates?.ApplicationUri ?? options.ApplicationUri;

    /// <summary>Opens a channel with the policy of the options.</summary>
    public async Task<ClientChannelLink> OpenAsync(CancellationToken cancellationToken)
    {
        if (options.SecurityPolicy == OpcUaSecurityPolicy.None && !DiscoveryUrl.IsOne(endpointUrl))
        {
            return await OpenAsync(endpointUrl, credentials: null, cancellationToken).ConfigureAwait(false);
        }

        (EndpointDescription[] all, string asked) = await DiscoveryUrl
            .AskAsync(endpointUrl, url => DiscoverAsync(url, cancellationToken)).ConfigureAwait(false);
        EndpointDescription endpoint = Find(all);
        ChannelCredentials? credentials = options.SecurityPolicy == OpcUaSecurityPolicy.None ? null : MakeCredentials(endpoint);
        string sessionUrl = DiscoveryUrl.IsOne(asked) ? DiscoveryUrl.Follow(endpointUrl, endpoint) : endpointUrl;
        return await OpenAsync(sessionUrl, credentials, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Opens a channel without security, for discovery.</summary>
    /// <param name="url">The URL of the server: its endpoint, or where it lists its endpoints.</param>
    /// <param name="cancellationToken">Cancels the call.</param>
    public Task<ClientChannelLink> OpenPlainAsync(string url, CancellationToken cancellationToken) =>
        OpenAsync(url, credentials: null, cancellationToken);

    /// <summary>Checks a certificate that the server has presented, before anything is encrypted for it.</summary>
    /// <param name="certificate">The certificate.</param>
    /// <param name="sent">The bytes that the server has sent: the certificate, possibly followed by those of its issuers.</param>
    /// <param name="applicationUri">The server's URI, as it reports; null if it reports none, which matches no certificate.</param>
    /// <exception cref="OpcUaException">It is not trusted; the message states the cause and the remedy.</exception>
    public void CheckTrust(X509Certificate2 certificate, ByteString sent, string? applicationUri)
    {
        StatusCode status = Validate(certificate, sent, applicationUri);
        if (status.IsGood)
        {
            return;
        }

        string names = status == StatusCodes.BadCertificateHostNameInvalid
            ? $" It is for {CertificateHosts.Describe(certificate)}, not for {Host}."
            : status == StatusCodes.BadCertificateUriInvalid ? $" {CertificateStore.DescribeUris(certificate, applicationUri)}."
            : string.Empty;
        string advice = Store.Advise(status, certificate, sent.Memory) is { Length: > 0 } advised ? $" {advised}." : string.Empty;
        throw new OpcUaException(
            status, $"The certificate {certificate.Thumbprint} of {endpointUrl} is refused: {status}.{names}{advice}");
    }

    public void Dispose() => _certificates?.Dispose();

    // Null for other transports, which stay within the machine.
    private string? Host =>
        Endpoint.Parse(endpointUrl) is { Scheme: not ("unix" or "inproc"), Host: { Length: > 0 } host } ? host : null;

    // A server that reports no URI has none that could be in the certificate (OPC 10000-4, 5.5.1).
    private StatusCode Validate(X509Certificate2 certificate, ByteString sent, string? applicationUri) =>
        Store.Validate(certificate, applicationUri ?? string.Empty, Host, sent.Memory);

    private CertificateStore Store => _store ??= new CertificateStore(options.Certificates, clock.Time, logger);

    private async Task<ClientChannelLink> OpenAsync(
        string sessionUrl, ChannelCredentials? credentials, CancellationToken cancellationToken)
    {
        Endpoint endpoint = Endpoint.Parse(endpointUrl);
        TransportCollection transports = options.CreateTransports().MapScheme("opc.tcp", over: "tcp", defaultPort: 4840);
        var settings = new ConnectionSettings
        {
            Clock = clock,
            Logger = logger,
            MaxReceiveBytes = Math.Max(2 * options.MaxChunkBytes, 256 * 1024),
            MaxSendBytes = options.MaxSendBytes,
        };
        Connection connection;
        try
        {
            connection = await transports.CreateConnector(endpoint, settings).ConnectAsync(cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            credentials?.Dispose();
            throw;
        }

        var channel = new ClientChannel(sessionUrl, options, credentials, clock);
        connection.Start(channel);
        try
        {
            await channel.Opened.WaitAsync(cancellationToken).ConfigureAwait(false);
            return new ClientChannelLink(connection, channel);
        }
        catch
        {
            connection.Abort(CloseReason.LocalClosed);
            throw;
        }
    }

    // The endpoint of the options' policy and mode.
    private EndpointDescription Find(EndpointDescription[] endpoints)
    {
        var policy = SecurityPolicy.Of(options.SecurityPolicy);
        MessageSecurityMode mode = policy.IsNone ? MessageSecurityMode.None : options.SecurityMode;
        EndpointDescription endpoint = EndpointList.Of(endpoints, policy, mode).FirstOrDefault();
        if (endpoint.SecurityPolicyUri is null)
        {
            string offered = string.Join(", ", endpoints.Select(static e => $"{e.SecurityPolicyUri} with {e.SecurityMode}"));
            throw new OpcUaException(
                StatusCodes.BadSecurityPolicyRejected,
                $"{endpointUrl} does not offer {options.SecurityPolicy} with {mode}; it offers "
                + $"{PeerText.Escape(offered, MaxOfferedText)}.");
        }

        return endpoint;
    }

    // The server's certificate is checked, and used from the first message on.
    private ChannelCredentials MakeCredentials(EndpointDescription endpoint)
    {
        _certificates ??= new ApplicationCertificates(
            Store,
            options.ApplicationUri,
            options.ApplicationUri == OpcUaClientOptions.DefaultApplicationUri,
            options.ApplicationName,
            [Environment.MachineName],
            clock.Time,
            logger);
        if (CertificateStore.TryReadLeaf(endpoint.ServerCertificate.Span) is not { } certificate)
        {
            throw new OpcUaException(StatusCodes.BadCertificateInvalid, $"The certificate of {endpointUrl} cannot be read.");
        }

        try
        {
            CheckTrust(certificate, endpoint.ServerCertificate, endpoint.Server.ApplicationUri);
        }
        catch
        {
            certificate.Dispose();
            throw;
        }

        return new ChannelCredentials(
            SecurityPolicy.Of(options.SecurityPolicy),
            _certificates.Own,
            certificate,
            one => Validate(one, endpoint.ServerCertificate, endpoint.Server.ApplicationUri));
    }

    // Asked for without security.
    private async Task<EndpointDescription[]> DiscoverAsync(string url, CancellationToken cancellationToken)
    {
        ClientChannelLink plain = await OpenPlainAsync(url, cancellationToken).ConfigureAwait(false);
        try
        {
            ServiceResult<GetEndpointsResponse> result = await plain.Channel.SendAsync(
                NodeId.Null,
                new GetEndpointsRequest { EndpointUrl = url },
                new Stack<PendingRequest<GetEndpointsResponse>>(),
                cancellationToken).ConfigureAwait(false);
            return ServiceFailure.Check(result, "GetEndpoints", url).Endpoints ?? [];
        }
        finally
        {
            plain.Channel.Close();
        }
    }
}

/// <summary>An open secure channel and its connection.</summary>
internal readonly record struct ClientChannelLink(Connection Connection, ClientChannel Channel);
