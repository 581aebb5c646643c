using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;

namespace FastPort;

/// <summary>The result of a TLS handshake. Immutable; safe from any thread.</summary>
public sealed class TlsInfo
{
    internal TlsInfo(
        SslProtocols protocol, TlsCipherSuite cipherSuite, X509Certificate2? peerCertificate, string serverName, string applicationProtocol)
    {
        Protocol = protocol;
        CipherSuite = cipherSuite;
        PeerCertificate = peerCertificate;
        ServerName = serverName;
        ApplicationProtocol = applicationProtocol;
    }

    /// <summary>The version: <see cref="SslProtocols.Tls13"/> or <see cref="SslProtocols.Tls12"/>.</summary>
    public SslProtocols Protocol { get; }

    /// <summary>The cipher suite.</summary>
    public TlsCipherSuite CipherSuite { get; }

    /// <summary>
    /// The peer's certificate, checked; null if it presented none. The connection owns it: it is valid until the connection has ended; do
    /// not dispose it.
    /// </summary>
    public X509Certificate2? PeerCertificate { get; }

    /// <summary>The server name that the client requested (SNI); empty for none.</summary>
    public string ServerName { get; }

    /// <summary>The negotiated protocol (ALPN), <c>fastport/1</c>; empty if the peer named none.</summary>
    public string ApplicationProtocol { get; }

    /// <summary>The protocol and the cipher suite.</summary>
    public override string ToString() => $"{Protocol} {CipherSuite}";
}
