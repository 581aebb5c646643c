using System.Net.Security;
using System.Security.Authentication;
using FastPort.Connections;

namespace FastPort.Tls;

/// <summary>
/// Encrypts the connections of an encrypted endpoint: a stage between the transport and the protocol. Thread-safe.
/// </summary>
internal sealed class TlsServer(
    TlsServerOptions options, ServerCertificates certificates, ConnectionSettings settings, HandshakeWorkers workers,
    List<SslApplicationProtocol> applications)
{
    /// <summary>Performs the handshake.</summary>
    /// <param name="below">The connection of the transport.</param>
    /// <param name="cancellationToken">Cancels the handshake.</param>
    /// <returns>The encrypted connection, not started.</returns>
    /// <exception cref="HandshakeFailedException">The handshake failed; the message says why.</exception>
    /// <exception cref="PeerLeftException">The peer has left before it.</exception>
    public async ValueTask<Connection?> EncryptAsync(Connection below, CancellationToken cancellationToken)
    {
        var connection = new TlsConnection(below, settings, workers);
        var check = new PeerCheck(options.ClientCertificates == ClientCertificateMode.Required);
        string serverName = string.Empty;
        try
        {
            await connection.AuthenticateAsync(
                stream => stream.AuthenticateAsServerAsync(
                    (_, hello, _, _) =>
                    {
                        serverName = hello.ServerName;
                        return ValueTask.FromResult(Options(hello.ServerName, check));
                    },
                    state: null,
                    cancellationToken),
                () => serverName).ConfigureAwait(false);
            return connection;
        }
        catch (Exception e) when (
            e is AuthenticationException or IOException or InvalidOperationException && connection.HasPeerLeft)
        {
            throw new PeerLeftException();
        }
        catch (Exception e) when (e is AuthenticationException or IOException or InvalidOperationException)
        {
            throw new HandshakeFailedException(HandshakeFailure.ToServer(e, check.Problem), e);
        }
    }

    private SslServerAuthenticationOptions Options(string serverName, PeerCheck check)
    {
        bool asks = options.ClientCertificates != ClientCertificateMode.None;
        return new SslServerAuthenticationOptions
        {
            ServerCertificateContext = certificates.Select(serverName).Context,
            EnabledSslProtocols = TlsProtocols.Allowed(options.AllowTls12),
            ApplicationProtocols = applications,
            ClientCertificateRequired = asks,
            CertificateChainPolicy = asks ? PeerCheck.Policy(certificates.ClientAuthorities, options.Revocation, isClient: true) : null,
            RemoteCertificateValidationCallback = asks ? check.Check : null,
            AllowRenegotiation = false,

            // A resumed session has its peer's certificate without the intermediate ones: the check would fail.
            AllowTlsResume = !asks,
            EncryptionPolicy = EncryptionPolicy.RequireEncryption,
        };
    }
}
