using System.Globalization;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.Tls;
using Xunit;

namespace FastPort.Core.Tests.Tls;

/// <summary>Each thing that can be wrong with a file, and what the message says.</summary>
public sealed class CertificateFileErrorTests : IDisposable
{
    private static readonly TestAuthority Authority = TestCertificates.CreateAuthority();
    private static readonly TestCertificate Leaf = Authority.Issue("leaf");
    private static readonly TestCertificate Other = Authority.Issue("other");

    private readonly TemporaryDirectory _directory = new();

    private string Pem => _directory["a.pem"];

    private string Key => _directory["a.key"];

    private string Pfx => _directory["a.pfx"];

    private string Password => _directory["password"];

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void A_file_that_is_missing()
    {
        Fails($"The certificate file {Pem} does not exist. Create it or correct the path.", Pem);
        Fails($"The certificate file {Pfx} does not exist. Create it or correct the path.", Pfx);
        Leaf.WritePem(Pem);
        Fails($"The key file {Key} does not exist. Create it or correct the path.", Pem, Key);
        Leaf.WriteKey(Key, "secret");
        Fails($"The password file {Password} does not exist. Create it or correct the path.", Pem, Key, Password);
        AuthoritiesFail($"The authority file {Password} does not exist. Create it or correct the path.", Password);
        AuthoritiesFail($"The authority file {_directory["x/y"]} does not exist. Create it or correct the path.", _directory["x/y"]);
    }

    [Fact]
    public void A_file_that_is_a_folder() =>
        Fails($"The certificate file {_directory.Path} is a folder. Name a file.", _directory.Path);

    [Fact]
    public void A_file_that_is_not_readable()
    {
        Assert.Equal(
            $"The key file {Key} cannot be read: permission denied. Give this process's user the right to read it.",
            CertificateBytes.Unreadable(Key, "key", new UnauthorizedAccessException()).Message);
        Assert.Equal(
            $"The key file {Key} could not be read. The system says: Input/output error",
            CertificateBytes.Unreadable(Key, "key", new IOException("Input/output error")).Message);
    }

    [Fact]
    public void A_file_that_is_too_large()
    {
        File.WriteAllBytes(Pem, new byte[(4 * 1024 * 1024) + 1]);

        Fails($"The certificate file {Pem} has 4194305 bytes, more than the 4194304 that are read. Correct the path.", Pem);
    }

    [Fact]
    public void A_file_without_a_certificate()
    {
        File.WriteAllText(Pem, "nothing");
        Fails(
            $"The certificate file {Pem} contains no certificate. Name a PEM file (it has a line BEGIN CERTIFICATE) "
            + "or a PFX file (its name ends in .pfx or .p12).",
            Pem);
        Leaf.WriteKey(Pem);
        Fails(
            $"The certificate file {Pem} contains a private key, but no certificate. Put the certificate before the key.", Pem);
    }

    [Fact]
    public void A_certificate_without_a_key()
    {
        Leaf.WritePem(Pem);
        Leaf.WritePem(Key);

        Fails(
            $"The certificate file {Pem} contains no private key. Put the key after the certificate, or into a separate file: KeyFile, or "
            + "in a folder name.key next to name.pem.",
            Pem);
        Fails($"The key file {Key} contains no private key. Name a PEM file with a line BEGIN PRIVATE KEY.", Pem, Key);
    }

    [Fact]
    public void A_key_of_another_certificate()
    {
        string message = $"The private key in {Key} does not belong to the first certificate in {Pem}. "
            + "Name a matching pair; authority certificates come after the server's certificate.";
        Leaf.WritePem(Pem);
        Other.WriteKey(Key);
        Fails(message, Pem, Key);

        Other.WriteKey(Key, "secret");
        File.WriteAllText(Password, "secret");
        Fails(message, Pem, Key, Password);

        using var rsa = RSA.Create(2048);
        File.WriteAllText(Key, rsa.ExportPkcs8PrivateKeyPem());
        Fails(message, Pem, Key);
        File.WriteAllText(Key, rsa.ExportRSAPrivateKeyPem());
        Fails(message, Pem, Key);
    }

    [Fact]
    public void A_password_that_is_missing_or_wrong()
    {
        Leaf.WritePem(Pem);
        Leaf.WriteKey(Key, "secret");
        Leaf.WritePfx(Pfx, "secret");
        File.WriteAllText(Password, "wrong");

        Fails($"The private key in {Key} is encrypted. Set PasswordFile to a file with its password.", Pem, Key);
        Fails($"The password in {Password} does not open the private key in {Key}. Correct the password.", Pem, Key, Password);
        Fails($"The certificate file {Pfx} has a password. Set PasswordFile to a file with it.", Pfx);
        Fails($"The password in {Password} does not open the certificate file {Pfx}. Correct the password.", Pfx, "", Password);
    }

    [Fact]
    public void A_key_that_is_encrypted_in_the_old_way()
    {
        Leaf.WritePem(Pem);
        File.WriteAllText(
            Key,
            "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END EC PRIVATE KEY-----\n");

        Fails(
            $"The private key in the key file {Key} is encrypted in an outdated way. Convert it with `openssl pkcs8 -topk8`.", Pem, Key);
    }

    [Fact]
    public void What_is_damaged()
    {
        const string Damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        File.WriteAllText(Pem, Damaged + Leaf.ToKeyPem());
        Fails($"The certificate in block 1 of {Pem} is damaged. Copy or issue it again.", Pem);
        File.WriteAllText(Pem, Leaf.ToPem() + Damaged + Leaf.ToKeyPem());
        Fails($"The certificate in block 2 of {Pem} is damaged. Copy or issue it again.", Pem);
        AuthoritiesFail($"The certificate in block 2 of {Pem} is damaged. Copy or issue it again.", Pem);

        File.WriteAllText(Pem, Leaf.ToPem() + "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
        Fails($"The private key in {Pem} is damaged, or neither RSA nor ECDSA. Copy it again, or create another key.", Pem);

        File.WriteAllText(Pfx, "nothing");
        Fails($"The certificate file {Pfx} is damaged or not a PFX file. Export it again.", Pfx);
    }

    private const string Begin = "-----BEGIN CERTIFICATE-----";
    private const string End = "-----END CERTIFICATE-----";
    private const string NoEnd = "block 2, BEGIN CERTIFICATE in line {0}, has no line END CERTIFICATE";
    private const string NoBegin = "END CERTIFICATE in line {1} has no line BEGIN CERTIFICATE before it";
    private const string NoBase64 = "block 2, CERTIFICATE, is not base64: characters are missing or were added";

    /// <summary>A chain or a list of authorities would be short of a certificate without a word.</summary>
    [Theory]
    [InlineData(End, "", NoEnd)]
    [InlineData(End, "-----END CERTIFICATE----", NoEnd)]
    [InlineData(Begin, "", NoBegin)]
    [InlineData(Begin, "----BEGIN CERTIFICATE-----", NoBegin)]
    [InlineData($"{Begin}\nM", $"{Begin}\n", NoBase64)]
    [InlineData($"{Begin}\nM", $"{Begin}\n!", NoBase64)]
    public void A_block_that_is_not_whole(string part, string damaged, string problem)
    {
        string first = Leaf.ToPem().TrimEnd() + "\n";
        string second = Other.ToPem().TrimEnd() + "\n";
        Assert.Contains(part, second, StringComparison.Ordinal);
        string text = first + second.Replace(part, damaged, StringComparison.Ordinal) + Leaf.ToKeyPem();
        File.WriteAllText(Pem, text);
        int begin = first.Count(static c => c == '\n') + 1;
        int end = begin + second.Count(static c => c == '\n') - 1;
        problem = string.Format(CultureInfo.InvariantCulture, problem, begin, end);

        Fails($"The certificate file {Pem} is damaged: {problem}. Copy or issue it again.", Pem);
        AuthoritiesFail($"The authority file {Pem} is damaged: {problem}. Copy or issue it again.", Pem);
        Leaf.WritePem(_directory["leaf.pem"]);
        Fails($"The key file {Pem} is damaged: {problem}. Copy or issue it again.", _directory["leaf.pem"], Pem);
    }

    [Fact]
    public void A_PFX_file_without_a_key_or_with_a_key_file()
    {
        File.WriteAllBytes(
            Pfx,
            new X509Certificate2Collection(
                X509CertificateLoader.LoadCertificate(Leaf.Certificate.RawData))
            .Export(X509ContentType.Pkcs12)!);

        Fails($"The certificate file {Pfx} contains no private key. Export it again, with its private key.", Pfx);
        Fails($"The certificate file {Pfx} contains its private key. Remove KeyFile.", Pfx, Key);
    }

    /// <summary>As `openssl pkcs12 -export -certfile fullchain.pem` makes it.</summary>
    [Theory]
    [InlineData(null)]
    [InlineData("secret")]
    public void A_PFX_file_with_its_certificate_twice(string? password)
    {
        using X509Certificate2 again = X509CertificateLoader.LoadCertificate(Leaf.Certificate.RawData);
        File.WriteAllBytes(Pfx, new X509Certificate2Collection { Leaf.Certificate, again }.Export(X509ContentType.Pkcs12, password)!);
        File.WriteAllText(Password, password);

        Fails(
            $"The certificate file {Pfx} holds the certificate of its private key more than once. Export it again, with each certificate "
            + "once.",
            Pfx,
            "",
            password is null ? "" : Password);
    }

    [Fact]
    public void A_PFX_file_without_a_certificate()
    {
        File.WriteAllBytes(
            Pfx,
            new X509Certificate2Collection()
            .Export(X509ContentType.Pkcs12)!);

        Fails($"The certificate file {Pfx} contains no certificate. Export it again, with its private key.", Pfx);
    }

    [Fact]
    public void Authorities_that_are_none()
    {
        Leaf.WriteKey(Key);

        AuthoritiesFail($"The authority file {Key} contains no certificate. Put the authorities' certificates in it, as PEM.", Key);
    }

    private static void Fails(string message, string file, string keyFile = "", string passwordFile = "") =>
        Assert.Equal(message, Assert.Throws<CertificateException>(() => CertificateFile.Load(file, keyFile, passwordFile)).Message);

    private static void AuthoritiesFail(string message, string file) =>
        Assert.Equal(message, Assert.Throws<CertificateException>(() => CertificateFile.LoadAuthorities(file)).Message);
}
