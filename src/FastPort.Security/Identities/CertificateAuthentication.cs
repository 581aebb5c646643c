using System.Security.Cryptography.X509Certificates;

namespace FastPort.Security.Identities;

/// <summary>Turns a client's certificate, which the TLS handshake has verified, into an identity.</summary>
internal static class CertificateAuthentication
{
    /// <summary>The identity of a certificate's owner, or the reason why it has none.</summary>
    /// <param name="certificate">The certificate.</param>
    /// <param name="kind">The name that identifies the user; not <see cref="CertificateName.None"/>.</param>
    public static AuthenticationResult Authenticate(X509Certificate2 certificate, CertificateName kind)
    {
        string? name = CertificateNames.Find(certificate, kind);
        if (name is null)
        {
            return AuthenticationResult.Refuse(
                $"The client certificate has no {CertificateNames.Describe(kind)}, which names its user; issue a certificate that has it.");
        }

        // The name is not repeated: it may be long, or unsuitable for a log line.
        return UserNames.IsAllowed(name)
            ? AuthenticationResult.Accept(UserIdentity.Of("certificate", name, []))
            : AuthenticationResult.Refuse(
                $"The client certificate's {CertificateNames.Describe(kind)} cannot be a user's name: {UserNames.Rules}.");
    }
}
