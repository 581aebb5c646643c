using System.Security.Cryptography;
using System.Text;
using Microsoft.IdentityModel.Tokens;

namespace FastPort.Security.Identities;

/// <summary>
/// The keys that sign tokens: a JSON Web Key Set (RFC 7517), or public keys and certificates in PEM. Immutable once read.
/// </summary>
internal sealed class TokenKeys
{
    /// <summary>Size of a file in bytes; a larger one is an error.</summary>
    public const int MaxBytes = 1024 * 1024;

    private readonly List<SecurityKey> _keys = [];
    private readonly List<string> _leftOut = [];

    private TokenKeys()
    {
    }

    /// <summary>The keys; at least one.</summary>
    public IReadOnlyList<SecurityKey> Keys => _keys;

    /// <summary>
    /// Names of keys of a set that may be whole, but of a kind that is not known here: a reader ignores those (RFC 7517, 5).
    /// </summary>
    public IReadOnlyList<string> LeftOut => _leftOut;

    /// <summary>Reads a file.</summary>
    /// <param name="bytes">The text.</param>
    /// <param name="problems">Receives one sentence for each error, without any key.</param>
    /// <returns>Null if there is an error.</returns>
    public static TokenKeys? Read(byte[] bytes, ICollection<string> problems)
    {
        string text = Encoding.UTF8.GetString(bytes).TrimStart('\uFEFF').Trim();
        var read = new TokenKeys();
        int before = problems.Count;
        try
        {
            if (text.StartsWith('{'))
            {
                read.AddSet(text, problems);
            }
            else
            {
                read.AddPem(text);
            }

            if (problems.Count == before && read._keys.Count == 0)
            {
                problems.Add("It has no key that can verify a signature; give a JSON Web Key Set, or a public key in PEM.");
            }
        }
        catch (Exception e) when (e is ArgumentException or CryptographicException or FormatException or System.Text.Json.JsonException)
        {
            problems.Add($"It is neither a JSON Web Key Set nor PEM: {e.Message}");
        }

        return problems.Count == before ? read : null;
    }

    private void AddSet(string json, ICollection<string> problems)
    {
        int number = 0;
        foreach (JsonWebKey key in new JsonWebKeySet(json).Keys)
        {
            number++;
            string name = UserNames.IsAllowed(key.Kid ?? string.Empty) ? $"key {number} '{key.Kid}'" : $"key {number}";
            if ((key.D ?? key.P ?? key.Q ?? key.DP ?? key.DQ ?? key.QI ?? key.K) is not null)
            {
                problems.Add($"Its {name} has a secret part, which does not belong here; give the public key.");
            }
            else if (string.IsNullOrEmpty(key.Use) || key.Use == JsonWebKeyUseNames.Sig)
            {
                AddKey(key, name, problems);
            }
        }
    }

    private void AddKey(JsonWebKey key, string name, ICollection<string> problems)
    {
        // Alone: of several the library leaves out what it cannot convert, in some cases without a trace.
        JsonWebKeySet alone = new() { SkipUnresolvedJsonWebKeys = false };
        alone.Keys.Add(key);
        IList<SecurityKey> converted = alone.GetSigningKeys();
        if (converted.Count != 0 && !converted.Contains(key))
        {
            _keys.AddRange(converted);
        }
        else if (IsOfKnownKind(key))
        {
            problems.Add($"Its {name} is damaged: a key has kty; with EC crv, x and y, with RSA n and e, in base64url.");
        }
        else
        {
            _leftOut.Add(name);
        }
    }

    private static bool IsOfKnownKind(JsonWebKey key) =>
        string.IsNullOrEmpty(key.Kty)
        || key.Kty == JsonWebAlgorithmsKeyTypes.RSA
        || (key.Kty == JsonWebAlgorithmsKeyTypes.EllipticCurve
            && (string.IsNullOrEmpty(key.Crv)
                || key.Crv is JsonWebKeyECTypes.P256 or JsonWebKeyECTypes.P384 or JsonWebKeyECTypes.P521));

    private void AddPem(string text)
    {
        ReadOnlySpan<char> rest = text;
        while (PemEncoding.TryFind(rest, out PemFields fields))
        {
            ReadOnlySpan<char> label = rest[fields.Label];
            string pem = rest[fields.Location].ToString();
            if (label is "PUBLIC KEY")
            {
                _keys.Add(FromPublicKey(pem));
            }
            else if (label is "RSA PUBLIC KEY")
            {
                _keys.Add(RsaKey(pem));
            }
            else if (label is "CERTIFICATE")
            {
                _keys.Add(new X509SecurityKey(System.Security.Cryptography.X509Certificates.X509Certificate2.CreateFromPem(pem)));
            }
            else if (label.EndsWith("PRIVATE KEY", StringComparison.Ordinal))
            {
                throw new CryptographicException("a private key does not belong here; give the public key.");
            }

            rest = rest[fields.Location.End..];
        }
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
