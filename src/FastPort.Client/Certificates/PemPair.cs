namespace FastPort.Client.Certificates;

/// <summary>A certificate and its private key, both as PEM. Not a record: its text would show the key.</summary>
/// <param name="certificate">The certificate.</param>
/// <param name="key">The private key, as PKCS #8 without a password.</param>
/// <param name="notAfter">When the certificate expires.</param>
internal sealed class PemPair(string certificate, string key, DateTimeOffset notAfter)
{
    public string Certificate { get; } = certificate;

    public string Key { get; } = key;

    public DateTimeOffset NotAfter { get; } = notAfter;
}
