using System.Security.Cryptography;
using System.Text;
using Microsoft.IdentityModel.Tokens;

namespace FastPort.Security.Identities;

/// <summary>The keys that sign tokens: a JSON Web Key Set (RFC 7517), or public keys and certificates in PEM. Immutable.</summary>
internal sealed class TokenKeys
{
    /// <summary>Size of a file in bytes; a larger one is an error.</summary>
    public const int MaxBytes = 1024 * 1024;

    private TokenKeys(IReadOnlyList<SecurityKey> keys) => Keys = keys;

    /// <summary>The keys; at least one.</summary>
    public IReadOnlyList<SecurityKey> Keys { get; }

    /// <summary>Reads a file.</summary>
    /// <param name="bytes">The text.</param>
    /// <param name="problems">Receives one sentence for each error, without any key.</param>
    /// <returns>Null if there is an error.</returns>
    public static TokenKeys? Read(byte[] bytes, ICollection<string> problems)
    {
        string text = Encoding.UTF8.GetString(bytes).TrimStart('\uFEFF').Trim();
        try
        {
            List<SecurityKey> keys = text.StartsWith('{') ? FromSet(text) : FromPem(text);
            if (keys.Count != 0)
            {
                return new TokenKeys(keys);
            }

            problems.Add("It has no key that can verify a signature; give a JSON Web Key Set, or a public key in PEM.");
        }
        catch (Exception e) when (e is ArgumentException or CryptographicException or FormatException or System.Text.Json.JsonException)
        {
            problems.Add($"It is neither a JSON Web Key Set nor PEM: {e.Message}");
        }

        return null;
    }

    private static List<SecurityKey> FromSet(string json) => [.. new JsonWebKeySet(json).GetSigningKeys()];

    private static List<SecurityKey> FromPem(string text)
    {
        List<SecurityKey> keys = [];
        ReadOnlySpan<char> rest = text;
        while (PemEncoding.TryFind(rest, out PemFields fields))
        {
            ReadOnlySpan<char> label = rest[fields.Label];
            string pem = rest[fields.Location].ToString();
            if (label is "PUBLIC KEY")
            {
                keys.Add(FromPublicKey(pem));
            }
            else if (label is "RSA PUBLIC KEY")
            {
                keys.Add(RsaKey(pem));
            }
            else if (label is "CERTIFICATE")
            {
                keys.Add(new X509SecurityKey(System.Security.Cryptography.X509Certificates.X509Certificate2.CreateFromPem(pem)));
            }
            else if (label.EndsWith("PRIVATE KEY", StringComparison.Ordinal))
            {
                throw new CryptographicException("a private key does not belong here; give the public key.");
            }

            rest = rest[fields.Location.End..];
        }

        return keys;
    }

    private static AsymmetricSecurityKey FromPublicKey(string pem)
    {
        ECDsa curve = ECDsa.Create();
        try
        {
            curve.ImportFromPem(pem);
            return new ECDsaSecurityKey(curve);
        }
        catch (CryptographicException)
        {
            curve.Dispose();
            return RsaKey(pem);
        }
    }

    private static RsaSecurityKey RsaKey(string pem)
    {
        RSA rsa = RSA.Create();
        rsa.ImportFromPem(pem);
        return new RsaSecurityKey(rsa);
    }
}
