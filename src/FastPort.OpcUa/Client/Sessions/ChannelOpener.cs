using System.Security.Cryptography.X509Certificates;
using FastPort.Connections;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.Sessions.Logging;
using FastPort.Transports;
using Microsoft.Extensions.Logging;

namespace FastPort.OpcUa.Client;

/// <summary>
/// Opens secure channels to one endpoint, with a certificate of the server that is checked each time. Used by one task at a time.
/// </summary>
internal sealed class ChannelOpener(string endpointUrl, OpcUaClientOptions options, ConnectionClock clock, ILogger logger) : IDisposable
{
    // All policies and modes that there are, in a message.
    private const int MaxOfferedText = 1024;

    // Each only if it is needed: they make folders and files.
    private CertificateStore? _store;
    private ApplicationCertificates? _certificates;

    /// <summary>The client's URI, the certificate's where a channel has needed it.</summary>
    public string ApplicationUri => _certificates?.ApplicationUri ?? options.ApplicationUri;

    /// <summary>Opens a channel with the policy of the options.</summary>
    public async Task<ClientChannelLink> OpenAsync(CancellationToken cancellationToken)
    {
        ChannelCredentials? credentials = options.SecurityPolicy == OpcUaSecurityPolicy.None
            ? null
            : await FindCredentialsAsync(cancellationToken).ConfigureAwait(false);
        return await OpenAsync(credentials, cancellationToken).ConfigureAwait(false);
    }

    /// <summary>Opens a channel without security, for discovery.</summary>
    public Task<ClientChannelLink> OpenPlainAsync(CancellationToken cancellationToken) => OpenAsync(credentials: null, cancellationToken);

    /// <summary>Checks a certificate that the server has shown, before anything is encrypted for it.</summary>
    /// <param name="certificate">The certificate.</param>
    /// <param name="applicationUri">The server's URI, as it says; null if it says none, which no certificate is for.</param>
    /// <exception cref="OpcUaException">It is not trusted; the message says why, and what to do.</exception>
    public void CheckTrust(X509Certificate2 certificate, string? applicationUri)
    {
        StatusCode status = Validate(certificate, applicationUri);
        if (status.IsGood)
        {
            return;
        }

        // Others are not saved: to trust them is of no use, as for one that has expired.
        bool isOtherHost = status == StatusCodes.BadCertificateHostNameInvalid;
        string names = isOtherHost ? $" It is for {CertificateHosts.Describe(certificate)}, not for {Host}." : string.Empty;
        string advice = isOtherHost || status == StatusCodes.BadCertificateUntrusted
            ? $" To trust it{(isOtherHost ? " under any name" : string.Empty)}, {Store.HowToTrust}."
            : string.Empty;
        throw new OpcUaException(
            status, $"The certificate {certificate.Thumbprint} of {endpointUrl} is refused: {status}.{names}{advice}");
    }

    public void Dispose() => _certificates?.Dispose();

    // Null for other transports, which stay within the machine.
    private string? Host =>
        Endpoint.Parse(endpointUrl) is { Scheme: not ("unix" or "inproc"), Host: { Length: > 0 } host } ? host : null;

    // A server that says no URI has none that could be in the certificate (OPC 10000-4, 5.5.1).
    private StatusCode Validate(X509Certificate2 certificate, string? applicationUri) =>
        Store.Validate(certificate, applicationUri ?? string.Empty, Host);

    private CertificateStore Store => _store ??= new CertificateStore(options.Certificates, clock.Time, logger);

    private async Task<ClientChannelLink> OpenAsync(ChannelCredentials? credentials, CancellationToken cancellationToken)
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

        var channel = new ClientChannel(endpointUrl, options, credentials, clock);
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

    // The server's certificate is asked for without security, then checked, and used from the first message on.
    private async Task<ChannelCredentials> FindCredentialsAsync(CancellationToken cancellationToken)
    {
        _certificates ??= new ApplicationCertificates(
            Store,
            options.ApplicationUri,
            options.ApplicationUri == OpcUaClientOptions.DefaultApplicationUri,
            options.ApplicationName,
            [Environment.MachineName],
            clock.Time,
            logger);
        EndpointDescription[] endpoints = await DiscoverAsync(cancellationToken).ConfigureAwait(false);
        var policy = SecurityPolicy.Of(options.SecurityPolicy);
        EndpointDescription endpoint = Array.Find(
            endpoints, one => one.SecurityPolicyUri == policy.Uri && one.SecurityMode == options.SecurityMode);
        if (endpoint.SecurityPolicyUri is null)
        {
            string offered = string.Join(", ", endpoints.Select(static e => $"{e.SecurityPolicyUri} with {e.SecurityMode}"));
            throw new OpcUaException(
                StatusCodes.BadSecurityPolicyRejected,
                $"{endpointUrl} does not offer {options.SecurityPolicy} with {options.SecurityMode}; it offers "
                + $"{PeerText.Escape(offered, MaxOfferedText)}.");
        }

        if (CertificateStore.TryReadLeaf(endpoint.ServerCertificate.Span) is not { } certificate)
        {
            throw new OpcUaException(StatusCodes.BadCertificateInvalid, $"The certificate of {endpointUrl} cannot be read.");
        }

        try
        {
            CheckTrust(certificate, endpoint.Server.ApplicationUri);
        }
        catch
        {
            certificate.Dispose();
            throw;
        }

        return new ChannelCredentials(
            policy, _certificates.Own, certificate, one => Validate(one, endpoint.Server.ApplicationUri));
    }

    private async Task<EndpointDescription[]> DiscoverAsync(CancellationToken cancellationToken)
    {
        ClientChannelLink plain = await OpenPlainAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            ServiceResult<GetEndpointsResponse> result = await plain.Channel.SendAsync(
                NodeId.Null,
                new GetEndpointsRequest { EndpointUrl = endpointUrl },
                new Stack<PendingRequest<GetEndpointsResponse>>(),
                cancellationToken).ConfigureAwait(false);
            return ServiceFailure.Check(result, "GetEndpoints", endpointUrl).Endpoints ?? [];
        }
        finally
        {
            plain.Channel.Close();
        }
    }
}

/// <summary>An open secure channel and its connection.</summary>
internal readonly record struct ClientChannelLink(Connection Connection, ClientChannel Channel);
