using System.Security.Cryptography;

namespace FastPort.Tls;

/// <summary>What a PEM text holds: the blocks of its certificates, in order, and of its first private key.</summary>
internal sealed class PemText
{
    private const string EncryptedKey = "ENCRYPTED PRIVATE KEY";

    private readonly List<string> _certificates = [];

    /// <summary>Finds the blocks; what stands around them is passed over, as are blocks of other kinds.</summary>
    public PemText(string text)
    {
        HasLegacyKey = text.Contains("Proc-Type: 4,ENCRYPTED", StringComparison.Ordinal);
        for (ReadOnlySpan<char> rest = text; PemEncoding.TryFind(rest, out PemFields fields); rest = rest[fields.Location.End..])
        {
            ReadOnlySpan<char> label = rest[fields.Label];
            if (label is "CERTIFICATE")
            {
                _certificates.Add(rest[fields.Location].ToString());
            }
            else if (Key is null && label.EndsWith("PRIVATE KEY"))
            {
                Key = rest[fields.Location].ToString();
                IsKeyEncrypted = label is EncryptedKey;
            }
        }
    }

    /// <summary>Each certificate's block.</summary>
    public IReadOnlyList<string> Certificates => _certificates;

    /// <summary>The block of the first private key; null for none.</summary>
    public string? Key { get; }

    /// <summary>Whether <see cref="Key"/> needs a password.</summary>
    public bool IsKeyEncrypted { get; }

    /// <summary>Whether a key is encrypted in the way OpenSSL had before PKCS#8, which .NET does not read.</summary>
    public bool HasLegacyKey { get; }
}
