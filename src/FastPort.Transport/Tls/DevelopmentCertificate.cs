using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.Tls;

/// <summary>ASP.NET Core's development certificate.</summary>
internal static class DevelopmentCertificate
{
    /// <summary>What messages call it.</summary>
    public const string Source = "the development certificate";

    /// <summary>The extension that marks it.</summary>
    public const string Mark = "1.3.6.1.4.1.311.84.1.1";

    /// <summary>The current user's.</summary>
    /// <exception cref="CertificateException">There is none.</exception>
    public static LoadedCertificate Load(DateTimeOffset now)
    {
        X509Certificate2? certificate = null;
        try
        {
            using X509Store store = new(StoreName.My, StoreLocation.CurrentUser, OpenFlags.ReadOnly | OpenFlags.OpenExistingOnly);
            certificate = Find(store.Certificates, now);
        }
        catch (CryptographicException)
        {
            // The user has no store yet.
        }

        return certificate is not null
            ? new LoadedCertificate(certificate, [])
            : throw new CertificateException("There is no currently valid development certificate. Run `dotnet dev-certs https`.");
    }

    /// <summary>The one of several that expires last; null for none. The others are disposed.</summary>
    internal static X509Certificate2? Find(X509Certificate2Collection certificates, DateTimeOffset now)
    {
        X509Certificate2? found = certificates
            .Where(c => c.HasPrivateKey && c.Extensions[Mark] is not null && IsValid(c, now))
            .MaxBy(static c => c.NotAfter);
        foreach (X509Certificate2 certificate in certificates)
        {
            if (!ReferenceEquals(certificate, found))
            {
                certificate.Dispose();
            }
        }

        return found;
    }

    private static bool IsValid(X509Certificate2 certificate, DateTimeOffset now) =>
        new DateTimeOffset(certificate.NotBefore) <= now && now < new DateTimeOffset(certificate.NotAfter);
}
