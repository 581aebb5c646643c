using System.Formats.Asn1;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.Security.Identities;
using Xunit;

namespace FastPort.Security.Tests.Identities;

/// <summary>Which name of a certificate is the user's, and which is not.</summary>
public sealed class CertificateNamesTests
{
    [Theory]
    [InlineData(CertificateName.CommonName, "anna")]
    [InlineData(CertificateName.DnsName, "press.plant.example")]
    [InlineData(CertificateName.Email, "anna@plant.example")]
    [InlineData(CertificateName.Uri, "spiffe://plant.example/press")]
    [InlineData(CertificateName.Subject, "CN=anna, O=Plant")]
    [InlineData(CertificateName.None, null)]
    public void A_name_of_each_kind(CertificateName kind, string? name)
    {
        using X509Certificate2 certificate = Create("CN=anna, O=Plant", static names =>
        {
            names.AddUri(new Uri("spiffe://plant.example/press"));
            names.AddEmailAddress("anna@plant.example");
            names.AddDnsName("press.plant.example");
        });

        Assert.Equal(name, CertificateNames.Find(certificate, kind));
    }

    [Theory]
    [InlineData(CertificateName.CommonName, "first")]
    [InlineData(CertificateName.DnsName, "first.example")]
    [InlineData(CertificateName.Email, "first@example")]
    [InlineData(CertificateName.Uri, "first:1")]
    public void Of_several_the_first_one_in_the_certificate(CertificateName kind, string name)
    {
        var subject = new X500DistinguishedName("CN=first, O=Plant, CN=second", X500DistinguishedNameFlags.None);
        using X509Certificate2 certificate = Create(subject, static names =>
        {
            foreach (string one in new[] { "first", "second" })
            {
                names.AddDnsName($"{one}.example");
                names.AddEmailAddress($"{one}@example");
                names.AddUri(new Uri($"{one}:1"));
            }
        });

        Assert.Equal(name, CertificateNames.Find(certificate, kind));
    }

    [Theory]
    [InlineData("O=Plant, OU=anna", CertificateName.CommonName)]
    [InlineData("CN=anna.example", CertificateName.DnsName)]
    [InlineData("E=anna@plant.example", CertificateName.Email)]
    [InlineData("CN=urn:anna", CertificateName.Uri)]
    [InlineData("", CertificateName.Subject)]
    public void No_name_stands_in_for_another_kind(string subject, CertificateName kind)
    {
        using X509Certificate2 certificate = Create(subject);
        using X509Certificate2 withOthers = Create(subject, names =>
        {
            names.AddUserPrincipalName("anna");
            if (kind != CertificateName.DnsName)
            {
                names.AddDnsName("anna.example");
            }
        });

        Assert.Null(CertificateNames.Find(certificate, kind));
        Assert.Null(CertificateNames.Find(withOthers, kind));
        Assert.Contains(
            $"has no {CertificateNames.Describe(kind)}",
            CertificateAuthentication.Authenticate(certificate, kind).Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public void A_common_name_that_shares_its_part_of_the_subject_is_none()
    {
        var subject = new AsnWriter(AsnEncodingRules.DER);
        using (subject.PushSequence())
        using (subject.PushSetOf())
        {
            foreach ((string type, string value) in new[] { ("2.5.4.3", "anna"), ("2.5.4.11", "night") })
            {
                using (subject.PushSequence())
                {
                    subject.WriteObjectIdentifier(type);
                    subject.WriteCharacterString(UniversalTagNumber.UTF8String, value);
                }
            }
        }

        using X509Certificate2 certificate = Create(new X500DistinguishedName(subject.Encode()));

        Assert.Null(CertificateNames.Find(certificate, CertificateName.CommonName));
        Assert.Contains("CN=anna", CertificateNames.Find(certificate, CertificateName.Subject), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("")]
    [InlineData("3003820161FF")]
    [InlineData("30038201FF")]
    [InlineData("3081")]
    public void Alternative_names_that_cannot_be_read_are_none(string hex)
    {
        using X509Certificate2 certificate = Create(
            new X500DistinguishedName("CN=anna"), extension: new X509Extension("2.5.29.17", Convert.FromHexString(hex), critical: false));

        Assert.Null(CertificateNames.Find(certificate, CertificateName.Email));
        Assert.Equal("anna", CertificateNames.Find(certificate, CertificateName.CommonName));
    }

    [Theory]
    [InlineData("anna\n{\"event\":\"forged\"}")]
    [InlineData("anna\0.plant")]
    [InlineData("anna\u202Enimda")]
    [InlineData("anna\u2028")]
    [InlineData(" anna")]
    [InlineData("anna ")]
    [InlineData(null)]
    public void A_name_that_cannot_be_a_users_is_refused_and_not_repeated(string? name)
    {
        var subject = new X500DistinguishedNameBuilder();
        subject.AddCommonName(name ?? new string('a', UserNames.MaxLength + 1));
        using X509Certificate2 certificate = Create(subject.Build());

        AuthenticationResult result = CertificateAuthentication.Authenticate(certificate, CertificateName.CommonName);

        Assert.False(result.IsAccepted);
        Assert.Contains("common name (CN) cannot be a user's name", result.Message, StringComparison.Ordinal);
        Assert.DoesNotContain("anna", result.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("anna")]
    [InlineData("Zo\u00EB M\u00FCller")]
    [InlineData("uid:1000")]
    [InlineData(null)]
    public void A_users_name_is_taken_as_it_is(string? name)
    {
        name ??= new string('a', UserNames.MaxLength);
        var subject = new X500DistinguishedNameBuilder();
        subject.AddCommonName(name);
        using X509Certificate2 certificate = Create(subject.Build());

        AuthenticationResult result = CertificateAuthentication.Authenticate(certificate, CertificateName.CommonName);

        Assert.Equal(name, result.User!.Identity!.Name);
        Assert.Equal("certificate", result.User.Identity.AuthenticationType);
        Assert.Single(result.User.Claims);
    }

    private static X509Certificate2 Create(string subject, Action<SubjectAlternativeNameBuilder>? names = null) =>
        Create(new X500DistinguishedName(subject), names);

    private static X509Certificate2 Create(
        X500DistinguishedName subject, Action<SubjectAlternativeNameBuilder>? names = null, X509Extension? extension = null)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest(subject, key, HashAlgorithmName.SHA256);
        if (names is not null)
        {
            var builder = new SubjectAlternativeNameBuilder();
            names(builder);
            extension = builder.Build();
        }

        if (extension is not null)
        {
            request.CertificateExtensions.Add(extension);
        }

        return request.CreateSelfSigned(DateTimeOffset.UnixEpoch, DateTimeOffset.UnixEpoch.AddDays(1));
    }
}
