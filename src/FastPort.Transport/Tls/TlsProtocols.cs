using System.Net.Security;
using System.Security.Authentication;

namespace FastPort.Tls;

/// <summary>What FastPort's peers offer each other: versions and the application protocol.</summary>
internal static class TlsProtocols
{
    private static readonly List<SslApplicationProtocol> Frames = [new("fastport/1")];
    private static readonly List<SslApplicationProtocol> Http = [SslApplicationProtocol.Http11];

    /// <summary>
    /// The application protocol (ALPN): FastPort's, or that of a WebSocket's handshake. A peer that names none is not refused: its first
    /// bytes show its protocol.
    /// </summary>
    public static List<SslApplicationProtocol> Applications(bool isWebSocket) => isWebSocket ? Http : Frames;

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
}
