using System.Formats.Asn1;
using System.Net;
using System.Numerics;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.SecureChannel;
using Xunit;

namespace FastPort.OpcUa.Tests.SecureChannel;

/// <summary>Which certificates are trusted, and why others are not (OPC 10000-4, 6.1.3).</summary>
public sealed partial class CertificateStoreTests : IDisposable
{
    private const string Uri = "urn:test:application";

    // Keys take long to make.
    private static readonly RSA AuthorityKey = RSA.Create(2048);
    private static readonly RSA MiddleKey = RSA.Create(2048);
    private static readonly RSA Key = RSA.Create(2048);

    private readonly string _folder = Directory.CreateTempSubdirectory("opcua-").FullName;
    private readonly FakeTimeProvider _time = new();
    private readonly RecordingLog _log = new();
    private readonly DateTimeOffset _start;
    private readonly X509Certificate2 _authority;
    private readonly X509Certificate2 _middle;
    private readonly X509Certificate2 _leaf;

    public CertificateStoreTests()
    {
        _time.Advance(TimeSpan.FromDays(365 * 20));
        _start = _time.GetUtcNow();
        _authority = Authority("authority", AuthorityKey).CreateSelfSigned(_start, _start.AddDays(1000));
        _middle = Authority("middle", MiddleKey).Create(_authority, _start, _start.AddDays(900), [1, 2]).CopyWithPrivateKey(MiddleKey);
        _leaf = Application().Create(_middle, _start, _start.AddDays(100), [0x80, 3]);
    }

    public void Dispose()
    {
        Directory.Delete(_folder, recursive: true);
        _authority.Dispose();
        _middle.Dispose();
        _leaf.Dispose();
    }

    [Fact]
    public void A_stranger_is_saved_and_not_trusted_until_it_is_moved()
    {
        Assert.Equal(StatusCodes.BadCertificateChainIncomplete, Check());
        string saved = Assert.Single(Directory.GetFiles(Path.Combine(_folder, "rejected")));
        File.Move(saved, Path.Combine(_folder, "trusted", "leaf.der"));
        Assert.Equal(StatusCodes.Good, Check());
    }

    /// <summary>Else strangers could fill the folder, and no certificate that an administrator waits for would be saved.</summary>
    [Fact]
    public void Of_many_strangers_the_last_hundred_are_saved()
    {
        CertificateStore store = Store();
        string folder = Path.Combine(_folder, "rejected"), oldest = Path.Combine(folder, "oldest.der");
        string[] saved = [oldest, .. Enumerable.Range(0, 99).Select(number => Path.Combine(folder, $"{number}.der"))];
        for (int i = 0; i < saved.Length; i++)
        {
            File.WriteAllBytes(saved[i], []);
            File.SetLastWriteTimeUtc(saved[i], DateTime.UnixEpoch.AddDays(i));
        }

        Assert.True(store.Validate(_leaf, Uri).IsBad);

        string[] now = Directory.GetFiles(folder);
        Assert.Equal(100, now.Length);
        Assert.Contains(Path.Combine(folder, $"{_leaf.Thumbprint}.der"), now);
        Assert.DoesNotContain(oldest, now);
    }

    [Fact]
    public void An_authority_of_the_chain_is_trusted_if_the_others_are_known()
    {
        Put("trusted", _authority);
        Assert.Equal(StatusCodes.BadCertificateChainIncomplete, Check());
        Put("issuers", _middle);
        Assert.Equal(StatusCodes.Good, Check());
    }

    /// <summary>As a bundle of an authority comes: each certificate counts, also behind one that is damaged.</summary>
    [Theory]
    [InlineData("pem")]
    [InlineData("crt")]
    public void All_certificates_of_a_file_of_PEM_count(string extension)
    {
        using X509Certificate2 other = Authority("other", Key).CreateSelfSigned(_start, _start.AddDays(1000));
        string damaged = PemEncoding.WriteString("CERTIFICATE", _authority.RawData.AsSpan(0, 100));
        string[] bundle = [other.ExportCertificatePem(), damaged, _middle.ExportCertificatePem(), _authority.ExportCertificatePem()];
        string trusted = Directory.CreateDirectory(Path.Combine(_folder, "trusted")).FullName;
        File.WriteAllText(Path.Combine(trusted, $"bundle.{extension}"), $"Subject: some text\n{string.Join('\n', bundle)}\n");

        Assert.Equal(StatusCodes.Good, Check());
    }

    [Fact]
    public void Issuers_alone_are_not_trusted()
    {
        Put("issuers", _authority);
        Put("issuers", _middle);
        Assert.Equal(StatusCodes.BadCertificateUntrusted, Check());
    }

    [Fact]
    public void A_certificate_before_and_after_its_time()
    {
        PutChain();
        _time.Advance(TimeSpan.FromDays(101));
        Assert.Equal(StatusCodes.BadCertificateTimeInvalid, Check());
        using X509Certificate2 early = Application().Create(_middle, _start.AddDays(200), _start.AddDays(300), [5]);
        Assert.Equal(StatusCodes.BadCertificateTimeInvalid, Check(early));
    }

    [Fact]
    public void An_authority_after_its_time()
    {
        using X509Certificate2 old = Authority("old", MiddleKey).Create(_authority, _start, _start.AddDays(50), [9])
            .CopyWithPrivateKey(MiddleKey);
        using X509Certificate2 leaf = Application().Create(old, _start, _start.AddDays(50), [7]);
        Put("trusted", _authority);
        Put("issuers", old);
        Assert.Equal(StatusCodes.Good, Check(leaf));
        _time.Advance(TimeSpan.FromDays(51));
        Assert.Equal(StatusCodes.BadCertificateIssuerTimeInvalid, Check(leaf));
    }

    [Fact]
    public void Another_application_uri_use_and_key_size()
    {
        PutChain();
        Assert.Equal(StatusCodes.BadCertificateUriInvalid, Check(uri: "urn:other"));
        using X509Certificate2 wrongUse = Application(X509KeyUsageFlags.CrlSign);
        Assert.Equal(StatusCodes.BadCertificateUseNotAllowed, Check(wrongUse, uri: null));
        using var small = RSA.Create(1024);
        using X509Certificate2 weak = Request("weak", small).CreateSelfSigned(_start, _start.AddDays(1));
        Assert.Equal(StatusCodes.BadCertificateInvalid, Check(weak));
    }

    [Fact]
    public void What_an_authority_has_issued_is_an_applications_if_it_has_a_uri_and_may_sign_and_encrypt()
    {
        const X509KeyUsageFlags Signs = X509KeyUsageFlags.DigitalSignature;
        PutChain();
        using X509Certificate2 nameless = Request("web server", Key).Create(_middle, _start, _start.AddDays(100), [6]);
        Assert.Equal(StatusCodes.BadCertificateUriInvalid, Check(nameless, uri: null));
        foreach (X509KeyUsageFlags encrypts in new[] { X509KeyUsageFlags.KeyEncipherment, X509KeyUsageFlags.DataEncipherment })
        {
            using X509Certificate2 both = Application(Signs | encrypts), one = Application(encrypts);
            Assert.Equal(StatusCodes.Good, Check(both));
            Assert.Equal(StatusCodes.BadCertificateUseNotAllowed, Check(one));
        }

        using X509Certificate2 signs = Application(Signs);
        Assert.Equal(StatusCodes.BadCertificateUseNotAllowed, Check(signs));

        // Who trusts one for itself knows whose it is.
        Put("trusted", signs);
        Put("trusted", nameless);
        Assert.Equal(StatusCodes.Good, Check(signs));
        Assert.Equal(StatusCodes.Good, Check(nameless, uri: null));
    }

    [Fact]
    public void What_an_authority_has_issued_is_good_for_the_hosts_that_stand_in_it()
    {
        PutChain();
        using X509Certificate2 leaf = Application("press-1.plant", "10.0.0.7").Create(_middle, _start, _start.AddDays(100), [8]);
        Assert.All(["press-1.plant", "PRESS-1.plant", "10.0.0.7"], host => Assert.Equal(StatusCodes.Good, Check(leaf, host: host)));
        Assert.All(
            ["press-2.plant", "press-1", "application", "10.0.0.8", "::1", "no host"],
            host => Assert.Equal(StatusCodes.BadCertificateHostNameInvalid, Check(leaf, host: host)));
        Assert.Equal(StatusCodes.BadCertificateHostNameInvalid, Check(host: "press-1.plant"));
    }

    [Fact]
    public void A_certificate_that_is_trusted_for_itself_is_good_for_every_host()
    {
        PutChain();
        Assert.Equal(StatusCodes.BadCertificateHostNameInvalid, Check(host: "press-1"));
        string saved = Assert.Single(Directory.GetFiles(Path.Combine(_folder, "rejected")));
        File.Move(saved, Path.Combine(_folder, "trusted", "leaf.der"));
        Assert.Equal(StatusCodes.Good, Check(host: "press-1"));
    }

    [Fact]
    public void A_file_of_PEM_may_have_several_certificates_with_no_line_end_between_them()
    {
        using X509Certificate2 other = Authority("other", Key).CreateSelfSigned(_start, _start.AddDays(10));
        Write(other.ExportCertificatePem() + _authority.ExportCertificatePem() + "\n" + _middle.ExportCertificatePem());

        Assert.Equal(StatusCodes.Good, Check());
        Assert.Empty(_log.Lines);
    }

    /// <summary>Whom the authority vouches for would be refused without a word.</summary>
    [Theory]
    [InlineData("-----END CERTIFICATE-----", "", "block 2, BEGIN CERTIFICATE in line", "has no line END CERTIFICATE")]
    [InlineData("-----BEGIN CERTIFICATE-----", "", "END CERTIFICATE in line", "has no line BEGIN CERTIFICATE before it")]
    [InlineData("CERTIFICATE-----\nM", "CERTIFICATE-----\n", "block 2, CERTIFICATE, is not base64", "")]
    [InlineData("CERTIFICATE-----\nMIIC", "CERTIFICATE-----\nAAAA", "block 2 is not a certificate", "")]
    public void A_file_of_which_a_block_is_damaged_is_named_once_and_its_other_blocks_count(
        string part, string damaged, string problem, string more)
    {
        Put("issuers", _authority);
        string second = _authority.ExportCertificatePem();
        Assert.Contains(part, second, StringComparison.Ordinal);
        Write(_middle.ExportCertificatePem() + "\n" + second.Replace(part, damaged, StringComparison.Ordinal));
        CertificateStore store = Store();

        Assert.Equal(StatusCodes.Good, store.Validate(_leaf, Uri));
        Assert.Equal(StatusCodes.Good, store.Validate(_leaf, Uri));

        string line = Assert.Single(_log.WithId(7205)).Text;
        Assert.All(["several.pem", problem, more], text => Assert.Contains(text, line, StringComparison.Ordinal));
    }

    [Theory]
    [InlineData("nothing", "it is not a certificate in DER or PEM")]
    [InlineData("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "it has no CERTIFICATE block")]
    public void A_file_that_holds_no_certificate_is_named(string text, string problem)
    {
        PutChain();
        Write(text);

        Assert.Equal(StatusCodes.Good, Check());
        Assert.EndsWith(
            $"several.pem is not a usable certificate, so peers that depend on it may be refused: {problem}",
            Assert.Single(_log.WithId(7205)).Text,
            StringComparison.Ordinal);
    }

    private StatusCode Check(
        X509Certificate2? certificate = null, string? uri = Uri, bool requireLists = false, string? host = null) =>
        Store(requireLists).Validate(certificate ?? _leaf, uri, host);

    private CertificateStore Store(bool requireLists = false) => new(
        new OpcUaCertificateOptions { Directory = _folder, RequireRevocationLists = requireLists }, _time, _log);

    private void PutChain()
    {
        Put("trusted", _authority);
        Put("issuers", _middle);
    }

    private void Write(string pem) =>
        File.WriteAllText(Path.Combine(Directory.CreateDirectory(Path.Combine(_folder, "trusted")).FullName, "several.pem"), pem);

    private void Put(string folder, X509Certificate2 certificate)
    {
        Store();
        File.WriteAllBytes(Path.Combine(_folder, folder, certificate.Thumbprint + ".der"), certificate.RawData);
    }

    private void PutList(string folder, X509Certificate2 authority, params X509Certificate2[] revoked) =>
        File.WriteAllBytes(Path.Combine(_folder, folder, authority.Thumbprint + ".crl"), MakeList(authority, revoked));

    private byte[] MakeList(X509Certificate2 authority, params X509Certificate2[] revoked) =>
        MakeList(authority, RSASignaturePadding.Pkcs1, revoked);

    private byte[] MakeList(X509Certificate2 authority, RSASignaturePadding padding, params X509Certificate2[] revoked)
    {
        var builder = new CertificateRevocationListBuilder();
        Array.ForEach(revoked, one => builder.AddEntry(one, _start));
        return builder.Build(authority, BigInteger.One, _start.AddDays(30), HashAlgorithmName.SHA256, padding, _start);
    }

    // A list of the middle authority, as of one whose lists have a part of its certificates each.
    private static byte[] WithDistributionPoint(byte[] list)
    {
        var extensionsTag = new Asn1Tag(TagClass.ContextSpecific, 0, isConstructed: true);
        AsnReader outer = new AsnReader(list, AsnEncodingRules.DER).ReadSequence();
        AsnReader content = outer.ReadSequence();
        var signed = new AsnWriter(AsnEncodingRules.DER);
        using (signed.PushSequence())
        {
            while (!content.PeekTag().HasSameClassAndValue(extensionsTag))
            {
                signed.WriteEncodedValue(content.ReadEncodedValue().Span);
            }

            using (signed.PushSequence(extensionsTag))
            using (signed.PushSequence())
            using (signed.PushSequence())
            {
                signed.WriteObjectIdentifier("2.5.29.28");
                signed.WriteBoolean(true);
                signed.WriteOctetString([0x30, 0]);
            }
        }

        var made = new AsnWriter(AsnEncodingRules.DER);
        using (made.PushSequence())
        {
            made.WriteEncodedValue(signed.Encode());
            made.WriteEncodedValue(outer.ReadEncodedValue().Span);
            made.WriteBitString(MiddleKey.SignData(signed.Encode(), HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1));
        }

        return made.Encode();
    }

    private static CertificateRequest Request(string name, RSA key) =>
        new($"CN={name}", key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);

    private static CertificateRequest Authority(string name, RSA key)
    {
        CertificateRequest request = Request(name, key);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, critical: true));
        request.CertificateExtensions.Add(
            new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, critical: true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        return request;
    }

    // Issued by the middle authority.
    private X509Certificate2 Application(X509KeyUsageFlags usages)
    {
        CertificateRequest request = Application();
        request.CertificateExtensions.Add(new X509KeyUsageExtension(usages, critical: true));
        return request.Create(_middle, _start, _start.AddDays(100), [6]);
    }

    private static CertificateRequest Application(string? host = null, string? address = null, string name = "application")
    {
        CertificateRequest request = Request(name, Key);
        var names = new SubjectAlternativeNameBuilder();
        names.AddUri(new System.Uri(Uri));
        if (host is not null && address is not null)
        {
            names.AddDnsName(host);
            names.AddIpAddress(IPAddress.Parse(address));
        }

        request.CertificateExtensions.Add(names.Build());
        return request;
    }
}
