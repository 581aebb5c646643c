using System.Security.Cryptography.X509Certificates;

namespace FastPort.Tls;

/// <summary>Reads the files of certificates.</summary>
internal static class CertificateFile
{
    /// <summary>A certificate with its private key.</summary>
    /// <param name="file">A PEM file, its certificate first, or a PFX file.</param>
    /// <param name="keyFile">The private key of a PEM file; empty if it is in the same file.</param>
    /// <param name="passwordFile">The password of a PFX file or of an encrypted key; empty for none.</param>
    /// <param name="password">
    /// The password itself; the file is only where it comes from, for messages. Defaults to null: it is read.
    /// </param>
    /// <exception cref="CertificateException">It cannot be used.</exception>
    public static LoadedCertificate Load(string file, string keyFile, string passwordFile, string? password = null)
    {
        if (PfxCertificate.IsPfx(file))
        {
            return keyFile.Length == 0
                ? PfxCertificate.Load(file, passwordFile, password)
                : throw new CertificateException($"The certificate file {file} contains its private key. Remove KeyFile.");
        }

        LoadedCertificate loaded = PemCertificate.Load(file, keyFile, passwordFile, password);
        if (!OperatingSystem.IsWindows())
        {
            return loaded;
        }

        // Windows makes no TLS handshake with the key as it was read: it must have come from a PFX.
        byte[] pfx = loaded.Certificate.Export(X509ContentType.Pkcs12);
        return loaded with { Certificate = X509CertificateLoader.LoadPkcs12(pfx, password: null, PfxCertificate.Storage) };
    }

    /// <summary>The certificates of authorities, as PEM.</summary>
    /// <exception cref="CertificateException">They cannot be used.</exception>
    public static X509Certificate2Collection LoadAuthorities(string file)
    {
        PemText pem = PemCertificate.Read(file, "authority");
        return pem.Certificates.Count != 0
            ? PemCertificate.Parse(pem.Certificates, file)
            : throw new CertificateException(
                $"The authority file {file} contains no certificate. Put the authorities' certificates in it, as PEM.");
    }

    /// <summary>A password as editors write it: the trailing line end is not part of it.</summary>
    public static string ReadPassword(string file) => CertificateBytes.ReadText(file, "password").TrimEnd('\r', '\n');
}
