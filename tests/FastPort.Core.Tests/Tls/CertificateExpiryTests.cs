using FastPort.Tls;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Core.Tests.Tls;

public sealed class CertificateExpiryTests : IDisposable
{
    private static readonly TestAuthority Authority = TestCertificates.CreateAuthority();

    private readonly TemporaryDirectory _directory = new();
    private readonly RecordingLog _log = new();
    private readonly FakeTimeProvider _time = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void A_certificate_that_expires_soon_is_told_at_the_start_and_daily_until_it_has_expired()
    {
        Write("a.pfx", days: 2);

        using ServerCertificates certificates = Watch();
        AssertLast(3052, LogLevel.Warning, "expires on 1970-01-03 00:00:00Z, in 2 days: renew it");
        _time.Advance(TimeSpan.FromHours(23));
        Assert.Single(_log.Lines);
        _time.Advance(TimeSpan.FromHours(1));
        AssertLast(3052, LogLevel.Warning, "expires on 1970-01-03 00:00:00Z, in 1 days: renew it");
        _time.Advance(TimeSpan.FromDays(1));
        AssertLast(3053, LogLevel.Error, "expired on 1970-01-03 00:00:00Z: peers refuse it; renew it");
        _time.Advance(TimeSpan.FromDays(1));

        Assert.Equal([3052, 3052, 3053, 3053], _log.Lines.Select(static line => line.Id));
    }

    [Fact]
    public void It_begins_14_days_before()
    {
        Write("a.pfx", days: 16);

        using ServerCertificates certificates = Watch();
        _time.Advance(TimeSpan.FromDays(1));
        Assert.Empty(_log.Lines);
        _time.Advance(TimeSpan.FromDays(1));

        AssertLast(3052, LogLevel.Warning, "expires on 1970-01-17 00:00:00Z, in 14 days: renew it");
    }

    [Fact]
    public void Each_certificate_is_told_by_itself()
    {
        Write("a.pfx", days: 100);
        Write("b.pfx", days: 1);
        Write("c.pfx", days: 3);

        using ServerCertificates certificates = Watch();

        Assert.Equal(
            [
                $"The certificate CN=b.pfx of {_directory["b.pfx"]} expires on 1970-01-02 00:00:00Z, in 1 days: renew it",
                $"The certificate CN=c.pfx of {_directory["c.pfx"]} expires on 1970-01-04 00:00:00Z, in 3 days: renew it",
            ],
            _log.Lines.Select(static line => line.Text));
    }

    [Fact]
    public void One_that_was_renewed_is_told_no_more_and_a_new_one_at_once()
    {
        Write("a.pfx", days: 3);
        using ServerCertificates certificates = Watch();

        Write("a.pfx", days: 100);
        Write("b.pfx", days: 5);
        _time.Advance(TimeSpan.FromSeconds(5));

        Assert.Equal([3052, 3050, 3050, 3052], _log.Lines.Select(static line => line.Id));
        Assert.Contains("CN=b.pfx", _log.Lines[^1].Text, StringComparison.Ordinal);
        _time.Advance(TimeSpan.FromDays(1));
        Assert.Equal(5, _log.Lines.Count);
    }

    private void Write(string name, int days) =>
        Authority.Issue(name, notAfter: DateTimeOffset.UnixEpoch.AddDays(days)).WritePfx(_directory[name]);

    private ServerCertificates Watch()
    {
        ServerCertificates certificates =
            new(new TlsServerOptions { CertificateFolder = _directory.Path }, "FastPort", _time, _log);
        certificates.Watch();
        return certificates;
    }

    private void AssertLast(int id, LogLevel level, string end)
    {
        LogLine line = _log.Lines[^1];
        Assert.Equal((id, level), (line.Id, line.Level));
        Assert.Equal($"The certificate CN=a.pfx of {_directory["a.pfx"]} {end}", line.Text);
    }
}
