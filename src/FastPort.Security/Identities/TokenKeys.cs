using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using FastPort.Tls;
using Microsoft.IdentityModel.Tokens;

namespace FastPort.Security.Identities;

/// <summary>
/// The keys that sign tokens: a JSON Web Key Set (RFC 7517), or public keys and certificates in PEM. Immutable once read.
/// </summary>
internal sealed class TokenKeys
{
    /// <summary>Size of a file in bytes; a larger one is an error.</summary>
    public const int MaxBytes = 1024 * 1024;

    // Object identifiers of the curves.
    private const string P256 = "1.2.840.10045.3.1.7";
    private const string P384 = "1.3.132.0.34";
    private const string P521 = "1.3.132.0.35";

    private readonly List<SecurityKey> _keys = [];
    private readonly List<string> _leftOut = [];

    private TokenKeys()
    {
    }

    /// <summary>The keys; at least one.</summary>
    public IReadOnlyList<SecurityKey> Keys => _keys;

    /// <summary>Names of valid keys of a set that are of an unknown kind: a reader ignores those (RFC 7517, 5).</summary>
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
                read.AddPem(new PemText(text), problems);
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
        // Alone: of several keys the library drops those that it cannot convert, sometimes silently.
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

    private void AddPem(PemText pem, ICollection<string> problems)
    {
        if (pem.Damage is not null)
        {
            problems.Add($"Its {pem.Damage}. Copy it again.");
        }

        foreach (PemBlock block in pem.Blocks)
        {
            try
            {
                if (Read(block) is { } key)
                {
                    _keys.Add(key);
                }
            }
            catch (Exception e) when (e is ArgumentException or CryptographicException)
            {
                problems.Add($"Its block {block.Number}, {block.Label}, cannot be used: {e.Message}");
            }
        }
    }

    // Null for a block that is not a key.
    private static SecurityKey? Read(PemBlock block) => block.Label switch
    {
        "PUBLIC KEY" => FromPublicKey(block.Text),
        "RSA PUBLIC KEY" => RsaKey(block.Text),
        "CERTIFICATE" => FromCertificate(block.Text),
        _ when block.IsPrivateKey => throw new CryptographicException("a private key does not belong here; give the public key."),
        _ => null,
    };

    private static SecurityKey FromCertificate(string pem)
    {
        var certificate = X509Certificate2.CreateFromPem(pem);
        if (certificate.GetECDsaPublicKey() is { } curve)
        {
            // The library verifies with certificates of RSA only.
            certificate.Dispose();
            return EcKey(curve);
        }

        using RSA? rsa = certificate.GetRSAPublicKey();
        return rsa is not null
            ? new X509SecurityKey(certificate)
            : throw new CryptographicException("its key is neither RSA nor EC.");
    }

    private static AsymmetricSecurityKey FromPublicKey(string pem)
    {
        ECDsa curve = ECDsa.Create();
        try
        {
            curve.ImportFromPem(pem);
        }
        catch (CryptographicException)
        {
            curve.Dispose();
            return RsaKey(pem);
        }

        return EcKey(curve);
    }

    // Other curves verify nothing: no algorithm of tokens here has them.
    private static ECDsaSecurityKey EcKey(ECDsa curve) =>
        curve.ExportParameters(includePrivateParameters: false).Curve is { IsNamed: true, Oid.Value: P256 or P384 or P521 }
            ? new ECDsaSecurityKey(curve)
            : throw new CryptographicException("its curve is none of P-256, P-384 and P-521.");

    private static RsaSecurityKey RsaKey(string pem)
    {
        RSA rsa = RSA.Create();
        rsa.ImportFromPem(pem);
        return new RsaSecurityKey(rsa);
    }
}
