using System.ComponentModel;
using System.Security.Authentication;

namespace FastPort.Tls;

/// <summary>A failed handshake. The message states the cause and the remedy.</summary>
internal sealed class HandshakeFailedException(string message, Exception? inner = null) : IOException(message, inner);

/// <summary>Explains why a handshake or an encrypted session failed.</summary>
internal static class HandshakeFailure
{
    /// <summary>The end of a session whose bytes cannot be decrypted, or that the peer has ended by an alert.</summary>
    public static CloseReason InSession(IOException e) =>
        new(CloseKind.ProtocolError, $"TLS failed: {Refusal(Innermost(e)) ?? Innermost(e).TrimEnd('.')}.", Exception: e);

    /// <summary>Why a client was refused, for the server's log.</summary>
    /// <param name="e">The exception of the handshake.</param>
    /// <param name="peer">What the check of the client's certificate found; null if it found nothing wrong.</param>
    public static string ToServer(Exception e, string? peer)
    {
        if (peer is not null)
        {
            return $"its certificate was refused: {peer}";
        }

        string text = Innermost(e);
        return text switch
        {
            _ when Refusal(text) is { } refusal => refusal,
            _ when Says(text, "unsupported protocol") || Says(text, "protocol version") =>
                "it offers no TLS version that is allowed here; use TLS 1.3, or set Tls:AllowTls12 for TLS 1.2",
            _ when Says(text, "no shared cipher") => "it shares no cipher suite with this server",
            _ when Says(text, "application protocol") || Says(text, "no application") =>
                "it asked for a protocol other than fastport/1 (ALPN)",
            _ when Says(text, "wrong version number") || Says(text, "http request") || e.GetBaseException() is AuthenticationException
                && Says(text, "frame") => "it does not speak TLS; give it a tls:// endpoint",
            _ when Says(text, "eof") || Says(text, "unexpected") => "it ended the connection during the TLS handshake",
            _ => $"the TLS handshake failed: {text.TrimEnd('.')}",
        };
    }

    /// <summary>Why a client could not use a server, for the client's user.</summary>
    /// <param name="e">The exception of the handshake.</param>
    /// <param name="peer">What the check of the server's certificate found; null if it found nothing wrong.</param>
    public static string ToClient(Exception e, string? peer)
    {
        if (peer is not null)
        {
            return $"the server's certificate was refused: {peer}";
        }

        string text = Innermost(e);
        return text switch
        {
            _ when Refusal(text) is { } refusal => refusal,
            _ when Says(text, "certificate required") => "the server requires a client certificate; set Tls:CertificateFile",
            _ when Says(text, "unsupported protocol") || Says(text, "protocol version") =>
                "the server allows none of the TLS versions offered; if it supports only TLS 1.2, set Tls:AllowTls12",
            _ when Says(text, "wrong version number") || Says(text, "frame") || Says(text, "corrupted") =>
                "the server does not speak TLS on this port; is it a tcp:// endpoint?",
            _ when Says(text, "eof") || Says(text, "unexpected") =>
                "the server ended the connection during the TLS handshake; its log says why. Does it require a client certificate?",
            _ => $"the TLS handshake failed: {text.TrimEnd('.')}",
        };
    }

    // The meaning of the alert of a peer that refuses this side's certificate; null for another text. With TLS 1.3 a client's comes after
    // the server's handshake, a server's after the client's.
    private static string? Refusal(string text) => text switch
    {
        _ when Says(text, "alert certificate expired") => "the peer found this side's certificate expired; renew it",
        _ when Says(text, "alert unknown ca") || Says(text, "alert bad certificate") || Says(text, "alert certificate unknown") =>
            "the peer does not trust this side's certificate; give it the authority's file, and use a name that the certificate has",
        _ => null,
    };

    // OpenSSL's message is in the inner exception of the runtime's inner exception.
    private static string Innermost(Exception e)
    {
        Exception inner = e;
        while (inner.InnerException is { } next && next is not Win32Exception { Message.Length: 0 })
        {
            inner = next;
        }

        return inner.Message.ReplaceLineEndings(" ");
    }

    private static bool Says(string text, string words) => text.Contains(words, StringComparison.OrdinalIgnoreCase);
}
