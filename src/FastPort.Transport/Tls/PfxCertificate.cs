using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.Tls;

/// <summary>Reads PFX files.</summary>
internal static class PfxCertificate
{
    /// <summary>Of <see cref="CryptographicException"/>, on every system: the password is wrong, or there must be one.</summary>
    private const int InvalidPassword = unchecked((int)0x80070056);

    /// <summary>
    /// Where keys of PFX files go. On Linux, nowhere. Windows makes no TLS handshake with a key that only this process has, and macOS
    /// knows no such keys.
    /// </summary>
    public static X509KeyStorageFlags Storage =>
        OperatingSystem.IsLinux() ? X509KeyStorageFlags.EphemeralKeySet : X509KeyStorageFlags.DefaultKeySet;

    public static bool IsPfx(string file) =>
        Path.GetExtension(file) is { } extension
        && (extension.Equals(".pfx", StringComparison.OrdinalIgnoreCase) || extension.Equals(".p12", StringComparison.OrdinalIgnoreCase));

    /// <summary>The certificate with the key, and the others.</summary>
    public static LoadedCertificate Load(string file, string passwordFile, string? given = null)
    {
        byte[] bytes = CertificateBytes.Read(file, "certificate");
        X509Certificate2Collection all = Open(file, bytes, passwordFile, given);
        X509Certificate2 certificate = all.FirstOrDefault(static c => c.HasPrivateKey) ?? throw new CertificateException(
            all.Count == 0
                ? $"The certificate file {file} contains no certificate. Export it again, with its private key."
                : $"The certificate file {file} contains no private key. Export it again, with its private key.");
        all.Remove(certificate);
        return new LoadedCertificate(certificate, all);
    }

    private static X509Certificate2Collection Open(string file, byte[] bytes, string passwordFile, string? given)
    {
        string? password = passwordFile.Length == 0 ? null : given ?? CertificateFile.ReadPassword(passwordFile);
        try
        {
            return X509CertificateLoader.LoadPkcs12Collection(bytes, password, Storage);
        }
        catch (CryptographicException e) when (e.HResult == InvalidPassword)
        {
            throw new CertificateException(
                password is null
                    ? $"The certificate file {file} has a password. Set PasswordFile to a file with it."
                    : $"The password in {passwordFile} does not open the certificate file {file}. Correct the password.",
                e);
        }
        catch (CryptographicException e)
        {
            throw new CertificateException(
                IsCertificateRepeated(bytes, password)
                    ? $"The certificate file {file} holds the certificate of its private key more than once. Export it again, with each "
                        + "certificate once."
                    : $"The certificate file {file} is damaged or not a PFX file. Export it again.",
                e);
        }
    }

    // .NET refuses such a file, as a second certificate leads to the same key, and does not distinguish it from others by a separate error.
    private static bool IsCertificateRepeated(byte[] bytes, string? password)
    {
        try
        {
            X509Certificate2Collection all = X509CertificateLoader.LoadPkcs12Collection(
                bytes, password, Storage, new Pkcs12LoaderLimits { IgnorePrivateKeys = true });
            return all.DistinctBy(static one => one.Thumbprint).Count() < all.Count;
        }
        catch (CryptographicException)
        {
            return false;
        }
    }
}
