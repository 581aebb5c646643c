using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using FastPort.Connections;

namespace FastPort.Tls;

/// <content>The handshake, before the connection is started.</content>
internal sealed partial class TlsConnection
{
    /// <summary>Whether the peer has left before it has sent a byte of the handshake.</summary>
    public bool HasPeerLeft => !_records.HasReceived && PeerLeftException.IsReason(_below.ClosingReason);

    /// <summary>
    /// Starts the connection below and performs the handshake. If it fails, the caller closes the connection below. The task completes on
    /// the worker that makes the last step.
    /// </summary>
    /// <param name="authenticate">Begins the handshake.</param>
    /// <param name="serverName">The name that the client requested, known when the handshake has ended.</param>
    /// <exception cref="AuthenticationException">The peers did not agree.</exception>
    /// <exception cref="IOException">The connection ended, or the peer does not speak TLS.</exception>
    public async Task AuthenticateAsync(Func<SslStream, Task> authenticate, Func<string> serverName)
    {
        _below.Start(this);
        if (_below.IsClosing)
        {
            // It was aborted before the start, so nothing is called any more.
            _records.Fail("The connection was closed before the TLS handshake.");
        }

        await authenticate(_stream).ConfigureAwait(false);
        TlsCipherSuite suite = _stream.NegotiatedCipherSuite;
        if (!TlsProtocols.IsAllowed(suite))
        {
            throw new AuthenticationException($"The cipher suite {suite} is not allowed; offer one with AES-GCM or ChaCha20.");
        }

        _info = new TlsInfo(
            _stream.SslProtocol,
            suite,
            _stream.RemoteCertificate as X509Certificate2,
            serverName(),
            _stream.NegotiatedApplicationProtocol.ToString());
        _records.BeginData(TlsProtocols.Overhead(_info.Protocol, suite));
    }
}
