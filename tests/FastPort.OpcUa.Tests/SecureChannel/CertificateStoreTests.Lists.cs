using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.SecureChannel;
using Xunit;

namespace FastPort.OpcUa.Tests.SecureChannel;

/// <content>Revocation lists.</content>
public sealed partial class CertificateStoreTests
{
    [Fact]
    public void A_revoked_certificate_and_others_of_its_authority()
    {
        PutChain();
        PutList("issuers", _middle, _leaf);
        Assert.Equal(StatusCodes.BadCertificateRevoked, Check());
        using X509Certificate2 other = Application().Create(_middle, _start, _start.AddDays(100), [0x80, 4]);
        Assert.Equal(StatusCodes.Good, Check(other));

        // The list is out of date: what it says still holds.
        _time.Advance(TimeSpan.FromDays(31));
        Assert.Equal(StatusCodes.BadCertificateRevoked, Check());
        Assert.Equal(StatusCodes.Good, Check(other));
        Assert.Empty(_log.Lines);
    }

    [Fact]
    public void A_revoked_certificate_with_the_name_of_its_authority()
    {
        PutChain();
        CertificateRequest request = Application(name: "middle");
        request.CertificateExtensions.Add(
            X509AuthorityKeyIdentifierExtension.CreateFromCertificate(_middle, includeKeyIdentifier: true, includeIssuerAndSerial: false));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        using X509Certificate2 leaf = request.Create(_middle, _start, _start.AddDays(100), [11]);
        Assert.Equal(StatusCodes.Good, Check(leaf, uri: null));
        PutList("issuers", _middle, leaf);
        Assert.Equal(StatusCodes.BadCertificateRevoked, Check(leaf, uri: null));
    }

    [Fact]
    public void A_revoked_certificate_that_is_trusted_by_itself()
    {
        PutChain();
        Put("trusted", _leaf);
        Assert.Equal(StatusCodes.Good, Check());
        PutList("trusted", _middle, _leaf);
        Assert.Equal(StatusCodes.BadCertificateRevoked, Check());
    }

    [Fact]
    public void A_revoked_authority()
    {
        PutChain();
        PutList("trusted", _authority, _middle);
        Assert.Equal(StatusCodes.BadCertificateIssuerRevoked, Check());
    }

    [Fact]
    public void A_list_in_pem()
    {
        PutChain();
        byte[] list = MakeList(_middle, _leaf);
        File.WriteAllText(Path.Combine(_folder, "issuers", "middle.crl"), PemEncoding.WriteString("X509 CRL", list));
        Assert.Equal(StatusCodes.BadCertificateRevoked, Check());
    }

    [Fact]
    public void A_list_that_is_forged_or_broken_does_not_count_and_the_log_says_so_once()
    {
        PutChain();
        CertificateStore store = Store();
        byte[] good = MakeList(_middle, _leaf), list = [.. good];
        list[^1] ^= 1;
        string file = Path.Combine(_folder, "issuers", "middle.crl");
        File.WriteAllBytes(file, list);
        Assert.Equal(StatusCodes.Good, store.Validate(_leaf, Uri));
        for (int length = 0; length < list.Length; length += 5)
        {
            File.WriteAllBytes(file, list[..length]);
            Assert.Equal(StatusCodes.Good, store.Validate(_leaf, Uri));
        }

        Assert.Equal(7203, Assert.Single(_log.Lines).Id);
        Assert.Contains(file, _log.Lines[0].Text, StringComparison.Ordinal);
        File.WriteAllBytes(file, good);
        Assert.Equal(StatusCodes.BadCertificateRevoked, store.Validate(_leaf, Uri));
        File.WriteAllBytes(file, list);
        Assert.Equal(StatusCodes.Good, store.Validate(_leaf, Uri));
        Assert.Equal(2, _log.Lines.Count);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_list_with_a_critical_extension_or_another_signature_does_not_count_and_the_log_says_so(bool isPss)
    {
        PutChain();
        byte[] list = MakeList(_middle, isPss ? RSASignaturePadding.Pss : RSASignaturePadding.Pkcs1, _leaf);
        File.WriteAllBytes(Path.Combine(_folder, "issuers", "middle.crl"), isPss ? list : WithDistributionPoint(list));
        Assert.Equal(StatusCodes.Good, Check());
        Assert.Contains(isPss ? "that signed it" : "critical", Assert.Single(_log.Lines).Text, StringComparison.Ordinal);
    }

    [Fact]
    public void Where_lists_are_required_each_authority_needs_one_that_is_not_out_of_date()
    {
        PutChain();
        Assert.Equal(StatusCodes.BadCertificateRevocationUnknown, Check(requireLists: true));
        PutList("issuers", _middle);
        Assert.Equal(StatusCodes.BadCertificateIssuerRevocationUnknown, Check(requireLists: true));
        PutList("trusted", _authority);
        Assert.Equal(StatusCodes.Good, Check(requireLists: true));
        _time.Advance(TimeSpan.FromDays(31));
        Assert.Equal(StatusCodes.BadCertificateRevocationUnknown, Check(requireLists: true));
    }

    [Fact]
    public void Where_lists_are_required_a_certificate_that_is_its_own_authority_needs_none()
    {
        using X509Certificate2 own = Application().CreateSelfSigned(_start, _start.AddDays(10));
        Put("trusted", own);
        Assert.Equal(StatusCodes.Good, Check(own, requireLists: true));
    }
}
