using System.Globalization;
using System.Net;

namespace FastPort.Security.Audit;

/// <summary>One line of the audit log. Values may come from a peer: the log escapes them.</summary>
/// <param name="Name">What happened, in lower case with dots: <c>message.refused</c>.</param>
/// <param name="Session">The session's number; 0 for none.</param>
/// <param name="Remote">The peer's address; null for none.</param>
/// <param name="User">The identity's name; null for an anonymous peer, and before there is one.</param>
/// <param name="Details">More, by key.</param>
internal sealed record AuditEvent(
    string Name, long Session = 0, string? Remote = null, string? User = null, params (string Key, string Value)[] Details)
{
    /// <summary>Whether it concerns a single message; a peer can cause any number of these.</summary>
    public bool IsOfMessage => Name.StartsWith("message.", StringComparison.Ordinal);

    /// <summary>An event of a session.</summary>
    public static AuditEvent Of(string name, Session session, params (string Key, string Value)[] details) =>
        new(name, session.Id, AddressOf(session.RemoteEndPoint), session.User?.Identity?.Name, details);

    /// <summary>An event of a certificate of the server.</summary>
    public static AuditEvent Of(string name, CertificateInfo certificate) => new(
        name,
        Details:
        [
            ("source", certificate.Source),
            ("subject", certificate.Subject),
            ("thumbprint", certificate.Thumbprint),
            ("notAfter", certificate.NotAfter.UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss'Z'", CultureInfo.InvariantCulture)),
        ]);

    private static string? AddressOf(EndPoint? address) => address?.ToString();
}
