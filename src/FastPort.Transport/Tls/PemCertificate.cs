using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;

namespace FastPort.Tls;

/// <summary>Joins certificates and private keys that are PEM.</summary>
internal static class PemCertificate
{
    /// <summary>The first certificate of a file with its key, and the other certificates of the file.</summary>
    /// <param name="file">The certificates.</param>
    /// <param name="keyFile">The key; empty if it is in the same file.</param>
    /// <param name="passwordFile">The key's password; empty for none.</param>
    /// <param name="given">The password itself; null to read it.</param>
    public static LoadedCertificate Load(string file, string keyFile, string passwordFile, string? given = null)
    {
        PemText pem = Read(file, "certificate");
        if (pem.Certificates.Count == 0)
        {
            throw NoCertificate(file, pem);
        }

        X509Certificate2Collection chain = Parse(pem.Certificates.Skip(1), file);
        PemText keyPem = keyFile.Length == 0 ? pem : Read(keyFile, "key");
        if (keyPem.Key is not { } block)
        {
            throw NoKey(file, keyFile, keyPem);
        }

        string key = block.Text;
        string? password = block.IsEncrypted ? ReadPassword(keyFile.Length == 0 ? file : keyFile, passwordFile, given) : null;
        try
        {
            X509Certificate2 certificate = password is null
                ? X509Certificate2.CreateFromPem(pem.Certificates[0].Text, key)
                : X509Certificate2.CreateFromEncryptedPem(pem.Certificates[0].Text, key, password);
            return new LoadedCertificate(certificate, chain);
        }
        catch (Exception e) when (e is CryptographicException or ArgumentException)
        {
            // First check whether the certificate is damaged.
            Parse(pem.Certificates.Take(1), file);
            throw NotJoined(file, keyFile.Length == 0 ? file : keyFile, key, password, passwordFile, e);
        }
    }

    /// <summary>The blocks of a file.</summary>
    /// <param name="file">The file.</param>
    /// <param name="what">What it is, for messages: "key".</param>
    /// <exception cref="CertificateException">It cannot be read, or a block is damaged.</exception>
    public static PemText Read(string file, string what)
    {
        PemText pem = new(CertificateBytes.ReadText(file, what));
        return pem.Damage is null
            ? pem
            : throw new CertificateException($"The {what} file {file} is damaged: {pem.Damage}. Copy or issue it again.");
    }

    /// <summary>Certificates without keys.</summary>
    public static X509Certificate2Collection Parse(IEnumerable<PemBlock> blocks, string file)
    {
        X509Certificate2Collection certificates = [];
        foreach (PemBlock block in blocks)
        {
            try
            {
                certificates.Add(X509Certificate2.CreateFromPem(block.Text));
            }
            catch (CryptographicException e)
            {
                throw new CertificateException($"The certificate in block {block.Number} of {file} is damaged. Copy or issue it again.", e);
            }
        }

        return certificates;
    }

    private static string ReadPassword(string keyFile, string passwordFile, string? given) => passwordFile.Length == 0
        ? throw new CertificateException($"The private key in {keyFile} is encrypted. Set PasswordFile to a file with its password.")
        : given ?? CertificateFile.ReadPassword(passwordFile);

    private static CertificateException NoCertificate(string file, PemText pem) => new(
        pem.Key is null
            ? $"The certificate file {file} contains no certificate. Name a PEM file (it has a line BEGIN CERTIFICATE) "
                + "or a PFX file (its name ends in .pfx or .p12)."
            : $"The certificate file {file} contains a private key, but no certificate. Put the certificate before the key.");

    private static CertificateException NoKey(string file, string keyFile, PemText pem)
    {
        string where = keyFile.Length == 0 ? $"certificate file {file}" : $"key file {keyFile}";
        if (pem.HasLegacyKey)
        {
            return new($"The private key in the {where} is encrypted in an outdated way. Convert it with `openssl pkcs8 -topk8`.");
        }

        return new(
            keyFile.Length == 0
                ? $"The {where} contains no private key. Put the key after the certificate, or into a separate file: KeyFile, or in a "
                    + "folder name.key next to name.pem."
                : $"The {where} contains no private key. Name a PEM file with a line BEGIN PRIVATE KEY.");
    }

    /// <summary>Finds out why, which .NET does not tell.</summary>
    private static CertificateException NotJoined(
        string file, string keyFile, string key, string? password, string passwordFile, Exception cause)
    {
        if (IsReadable(RSA.Create(), key, password) || IsReadable(ECDsa.Create(), key, password))
        {
            return new(
                $"The private key in {keyFile} does not belong to the first certificate in {file}. Name a matching pair; "
                + "authority certificates come after the server's certificate.",
                cause);
        }

        return new(
            password is null
                ? $"The private key in {keyFile} is damaged, or neither RSA nor ECDSA. Copy it again, or create another key."
                : $"The password in {passwordFile} does not open the private key in {keyFile}. Correct the password.",
            cause);
    }

    private static bool IsReadable(AsymmetricAlgorithm algorithm, string key, string? password)
    {
        using (algorithm)
        {
            try
            {
                if (password is null)
                {
                    algorithm.ImportFromPem(key);
                }
                else
                {
                    algorithm.ImportFromEncryptedPem(key, password);
                }

                return true;
            }
            catch (Exception e) when (e is CryptographicException or ArgumentException)
            {
                // Another algorithm's, or not readable at all.
                return false;
            }
        }
    }
}
