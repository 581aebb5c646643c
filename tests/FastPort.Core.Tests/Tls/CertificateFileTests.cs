using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.Tls;
using Xunit;

namespace FastPort.Core.Tests.Tls;

public sealed class CertificateFileTests : IDisposable
{
    private static readonly TestAuthority Root = TestCertificates.CreateAuthority();
    private static readonly TestAuthority Intermediate = Root.CreateIntermediate();
    private static readonly TestCertificate Leaf = Intermediate.Issue("leaf", dns: ["leaf.example.org"]);

    private readonly TemporaryDirectory _directory = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void Certificate_chain_and_key_may_be_in_one_file()
    {
        Leaf.WritePem(_directory["a.pem"], withKey: true);

        AssertLeaf(CertificateFile.Load(_directory["a.pem"], "", ""));
    }

    [Fact]
    public void The_key_may_come_first()
    {
        File.WriteAllText(_directory["a.pem"], Leaf.ToKeyPem() + "Text that is none.\n" + Leaf.ToPem());

        AssertLeaf(CertificateFile.Load(_directory["a.pem"], "", ""));
    }

    /// <summary>As `cat` joins files whose last lines have no end.</summary>
    [Fact]
    public void Blocks_need_no_line_end_between_them()
    {
        string joined = (Leaf.ToPem() + Leaf.ToKeyPem()).TrimEnd().Replace("-----\n-----", "----------", StringComparison.Ordinal);
        Assert.Equal(2, joined.Split("----------").Length - 1);
        File.WriteAllText(_directory["a.pem"], joined);

        AssertLeaf(CertificateFile.Load(_directory["a.pem"], "", ""));
        Assert.Equal(2, CertificateFile.LoadAuthorities(_directory["a.pem"]).Count);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("secret")]
    public void The_key_may_be_in_a_file_of_its_own(string? password)
    {
        Leaf.WritePem(_directory["a.pem"]);
        Leaf.WriteKey(_directory["a.key"], password);
        string passwordFile = WritePassword(password);

        AssertLeaf(CertificateFile.Load(_directory["a.pem"], _directory["a.key"], passwordFile));
    }

    [Fact]
    public void A_key_in_the_file_of_the_certificate_may_be_encrypted()
    {
        Leaf.WritePem(_directory["a.pem"], withKey: true, "secret");

        AssertLeaf(CertificateFile.Load(_directory["a.pem"], "", WritePassword("secret")));
    }

    [Theory]
    [InlineData("a.pfx", null)]
    [InlineData("a.P12", "secret")]
    public void A_PFX_file_holds_all_of_it(string name, string? password)
    {
        Leaf.WritePfx(_directory[name], password);

        AssertLeaf(CertificateFile.Load(_directory[name], "", WritePassword(password)));
    }

    [Fact]
    public void RSA_keys_are_read_in_the_form_of_OpenSSL_1()
    {
        using var key = RSA.Create(2048);
        var request = new CertificateRequest(
            "CN=rsa", key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        using var certificate = request.CreateSelfSigned(TestCertificates.NotBefore, TestCertificates.NotAfter);
        File.WriteAllText(_directory["a.pem"], certificate.ExportCertificatePem() + "\n" + key.ExportRSAPrivateKeyPem());

        LoadedCertificate loaded = CertificateFile.Load(_directory["a.pem"], "", "");

        Assert.Equal(certificate.Thumbprint, loaded.Certificate.Thumbprint);
        Assert.True(loaded.Certificate.HasPrivateKey);
        Assert.Empty(loaded.Chain);
    }

    [Fact]
    public void Authorities_are_all_certificates_of_a_file()
    {
        File.WriteAllText(
            _directory["ca.pem"], Root.Certificate.ExportCertificatePem() + "\n" + Intermediate.Certificate.ExportCertificatePem());

        Assert.Equal(
            [Root.Certificate.Thumbprint, Intermediate.Certificate.Thumbprint],
            CertificateFile.LoadAuthorities(_directory["ca.pem"]).Select(static c => c.Thumbprint));
    }

    private static void AssertLeaf(LoadedCertificate loaded)
    {
        Assert.Equal(Leaf.Thumbprint, loaded.Certificate.Thumbprint);
        Assert.True(loaded.Certificate.HasPrivateKey);
        Assert.Equal([Intermediate.Certificate.Thumbprint], loaded.Chain.Select(static c => c.Thumbprint));
    }

    private string WritePassword(string? password)
    {
        if (password is null)
        {
            return "";
        }

        File.WriteAllText(_directory["password"], password + "\r\n");
        return _directory["password"];
    }
}
