using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.Tls;
using Xunit;

namespace FastPort.Core.Tests.Tls;

public sealed class DevelopmentCertificateTests
{
    private static readonly DateTimeOffset Now = new(2026, 1, 1, 0, 0, 0, TimeSpan.Zero);

    [Fact]
    public void The_one_that_expires_last_is_found_among_those_that_can_be_used()
    {
        X509Certificate2 good = Make("good", -10, 20);
        X509Certificate2 sooner = Make("sooner", -10, 10);
        X509Certificate2 withoutKey = X509CertificateLoader.LoadCertificate(Make("without key", -10, 50).RawData);
        X509Certificate2Collection certificates =
        [
            Make("unmarked", -10, 50, mark: false), Make("expired", -10, -1), Make("not yet", 1, 50), sooner, good, withoutKey,
        ];

        Assert.Same(good, DevelopmentCertificate.Find(certificates, Now));
        Assert.True(good.HasPrivateKey);
        Assert.Equal(IntPtr.Zero, sooner.Handle);
    }

    [Fact]
    public void There_may_be_none() => Assert.Null(DevelopmentCertificate.Find([Make("expired", -10, -1)], Now));

    [Fact]
    public void What_to_do_is_told_where_there_is_none()
    {
        // Later than any certificate that this machine may have.
        CertificateException e = Assert.Throws<CertificateException>(() => DevelopmentCertificate.Load(DateTimeOffset.MaxValue));

        Assert.Equal("There is no currently valid development certificate. Run `dotnet dev-certs https`.", e.Message);
    }

    private static X509Certificate2 Make(string name, int fromDay, int toDay, bool mark = true)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256);
        if (mark)
        {
            request.CertificateExtensions.Add(new X509Extension(DevelopmentCertificate.Mark, [2], critical: false));
        }

        return request.CreateSelfSigned(Now.AddDays(fromDay), Now.AddDays(toDay));
    }
}
