using System.Net.Security;
using System.Security.Authentication;
using FastPort.Connections;
using FastPort.Transports;

namespace FastPort.Tls;

/// <summary>What FastPort's peers offer each other: versions, the application protocol, and the scheme of their endpoints.</summary>
internal static class TlsProtocols
{
    /// <summary>The scheme of encrypted endpoints.</summary>
    public const string Scheme = "tls";

    /// <summary>The application protocol (ALPN). A peer that names none is not refused: the first frame shows its protocol.</summary>
    public static List<SslApplicationProtocol> Application { get; } = [new("fastport/1")];

    /// <summary>The versions that are offered and accepted.</summary>
    public static SslProtocols Allowed(bool tls12) => tls12 ? SslProtocols.Tls13 | SslProtocols.Tls12 : SslProtocols.Tls13;

    /// <summary>
    /// Whether a suite encrypts and authenticates in one (AEAD). Those of TLS 1.3 do; with 1.2 the runtime also accepts CBC suites if a
    /// peer has no better one. A <see cref="CipherSuitesPolicy"/> would prevent the resumption of sessions, so this is checked after the
    /// handshake.
    /// </summary>
    public static bool IsAllowed(TlsCipherSuite suite) => !$"{suite}".Contains("_CBC_", StringComparison.Ordinal);

    /// <summary>
    /// Bytes of an encrypted record after its header that are not content: the tag, and the type (RFC 8446, 5.2) or, in TLS 1.2, the part
    /// of the nonce that is sent (RFC 5288, 3; RFC 7905 has none).
    /// </summary>
    public static int Overhead(SslProtocols version, TlsCipherSuite suite)
    {
        string name = $"{suite}";
        int tag = name.Contains("_CCM_8", StringComparison.Ordinal) ? 8 : 16;
        return version == SslProtocols.Tls13 ? tag + 1
            : name.Contains("_CHACHA20_", StringComparison.Ordinal) ? tag
            : tag + 8;
    }

    /// <summary>Whether an endpoint is encrypted by this library: a custom transport may serve the scheme instead.</summary>
    public static bool Encrypts(Endpoint endpoint, ITransport transports) =>
        endpoint.Scheme == Scheme && !transports.Supports(Scheme);

    /// <summary>The endpoint of the transport below a <c>tls://</c> one.</summary>
    public static Endpoint Below(Endpoint endpoint) => endpoint with { Scheme = "tcp" };

    /// <summary>A listener for a <c>tls://</c> endpoint, whose connections are not encrypted yet.</summary>
    public static ITransportListener Listen(Endpoint endpoint, ITransport transports, ConnectionSettings settings) =>
        new AliasListener(endpoint, transports.CreateListener(Below(endpoint), TlsConnection.SettingsBelow(settings)));
}
