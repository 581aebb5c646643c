using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.Tls;

/// <summary>
/// Connects to an encrypted endpoint: the transport's connection, then the handshake. Files are read on each connection attempt, so
/// renewed files need no restart.
/// </summary>
internal sealed class TlsConnector(
    Endpoint endpoint, ITransportConnector below, ConnectionSettings settings, TlsClientOptions options,
    List<SslApplicationProtocol> applications) : ITransportConnector
{
    public async ValueTask<Connection> ConnectAsync(CancellationToken cancellationToken)
    {
        var check = new PeerCheck(isRequired: true, options.PinnedHash);
        string name = options.ServerName.Length != 0 ? options.ServerName : endpoint.Host;
        SslClientAuthenticationOptions client = Options(name, check);
        Connection inner = await below.ConnectAsync(cancellationToken).ConfigureAwait(false);
        var connection = new TlsConnection(inner, settings, HandshakeWorkers.Clients);
        try
        {
            using CancellationTokenRegistration _ = cancellationToken.UnsafeRegister(
                static state => ((Connection)state!).Abort(CloseReason.LocalClosed), inner);

            // The worker that runs the last step must not run the continuation: it may be the application's code.
            await connection.AuthenticateAsync(
                stream => stream.AuthenticateAsClientAsync(client, cancellationToken),
                () => name).ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
            return connection;
        }
        catch (Exception e)
        {
            // The alert with the reason for the server is already written.
            inner.Close(CloseReason.LocalClosed);
            cancellationToken.ThrowIfCancellationRequested();
            if (e is AuthenticationException or IOException or InvalidOperationException)
            {
                throw new EndpointException(endpoint, $"Cannot connect to {endpoint}: {HandshakeFailure.ToClient(e, check.Problem)}.", e);
            }

            throw;
        }
    }

    private SslClientAuthenticationOptions Options(string name, PeerCheck check)
    {
        try
        {
            X509Certificate2Collection? authorities =
                options.AuthorityFile.Length == 0 ? null : CertificateFile.LoadAuthorities(options.AuthorityFile);
            LoadedCertificate? own = options.CertificateFile.Length == 0
                ? null
                : CertificateFile.Load(options.CertificateFile, options.KeyFile, options.PasswordFile);
            return new SslClientAuthenticationOptions
            {
                TargetHost = name,
                EnabledSslProtocols = TlsProtocols.Allowed(options.AllowTls12),
                ApplicationProtocols = applications,
                CertificateChainPolicy = PeerCheck.Policy(authorities, options.Revocation, isClient: false),
                RemoteCertificateValidationCallback = check.Check,
                ClientCertificateContext = own is null
                    ? null
                    : SslStreamCertificateContext.Create(own.Certificate, own.Chain, offline: true),
                AllowRenegotiation = false,
                EncryptionPolicy = EncryptionPolicy.RequireEncryption,
            };
        }
        catch (Exception e) when (e is CertificateException or CryptographicException)
        {
            throw new EndpointException(endpoint, $"Cannot connect to {endpoint}: {e.Message}", e);
        }
    }
}
