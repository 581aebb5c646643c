using FastPort.Tls;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Core.Tests.Tls;

/// <summary>Files that change while a server runs.</summary>
public sealed class CertificateReloadTests : IDisposable
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(5);
    private static readonly TestAuthority Authority = TestCertificates.CreateAuthority();
    private static readonly TestCertificate First = Authority.Issue("first", dns: ["a.example.org"]);
    private static readonly TestCertificate Second = Authority.Issue("second", dns: ["a.example.org"]);

    private readonly TemporaryDirectory _directory = new();
    private readonly RecordingLog _log = new();
    private readonly FakeTimeProvider _time = new();
    private readonly List<CertificateInfo> _changes = [];

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void A_new_certificate_is_taken_at_the_next_look_and_told()
    {
        First.WritePem(_directory["a.pem"], withKey: true);
        using ServerCertificates certificates = Watch();
        Second.WritePem(_directory["a.pem"], withKey: true);
        _time.Advance(Interval - TimeSpan.FromTicks(1));
        Assert.Equal(First.Thumbprint, Shown(certificates));

        _time.Advance(TimeSpan.FromTicks(1));
        _time.Advance(Interval);

        Assert.Equal(Second.Thumbprint, Shown(certificates));
        Assert.Equal(
            new CertificateInfo(_directory["a.pem"], "CN=second", Second.Thumbprint, TestCertificates.NotAfter),
            Assert.Single(_changes));
        Assert.Equal(
            new LogLine(
                3050,
                LogLevel.Information,
                $"New certificate CN=second of {_directory["a.pem"]}: thumbprint {Second.Thumbprint}, "
                + "expires on 2049-01-01 00:00:00Z",
                null),
            Assert.Single(_log.Lines));
    }

    [Fact]
    public void A_certificate_may_be_replaced_before_its_key()
    {
        First.WritePem(_directory["a.pem"]);
        First.WriteKey(_directory["a.key"]);
        using ServerCertificates certificates = Watch(new TlsServerOptions { CertificateFolder = _directory.Path });

        Second.WritePem(_directory["a.pem"]);
        _time.Advance(Interval);
        Assert.Equal(First.Thumbprint, Shown(certificates));
        Assert.Empty(_changes);
        Second.WriteKey(_directory["a.key"]);
        _time.Advance(Interval);

        Assert.Equal(Second.Thumbprint, Shown(certificates));
        Assert.Single(_changes);
        Assert.Equal([3051, 3050], _log.Lines.Select(static line => line.Id));
    }

    [Fact]
    public void What_is_wrong_leaves_the_old_ones_and_is_told_once_for_each_change()
    {
        First.WritePem(_directory["a.pem"], withKey: true);
        using ServerCertificates certificates = Watch();

        File.WriteAllText(_directory["a.pem"], "nothing");
        _time.Advance(Interval * 3);
        Assert.Equal(
            "Certificates could not be reloaded; the previous ones stay in use. FastPort:Tls:CertificateFile: The certificate file "
            + $"{_directory["a.pem"]} contains no certificate. Name a PEM file (it has a line BEGIN CERTIFICATE) or a PFX file (its name "
            + "ends in .pfx or .p12).",
            Assert.Single(_log.WithId(3051)).Text);
        File.WriteAllText(_directory["a.pem"], "nothing else");
        _time.Advance(Interval * 3);
        Assert.Equal(2, _log.WithId(3051).Count);
        File.Delete(_directory["a.pem"]);
        _time.Advance(Interval * 3);
        Assert.Equal(3, _log.WithId(3051).Count);

        Assert.Equal(First.Thumbprint, Shown(certificates));
        First.WritePem(_directory["a.pem"], withKey: true);
        _time.Advance(Interval);
        Assert.Equal(3, _log.Lines.Count);
        File.Delete(_directory["a.pem"]);
        _time.Advance(Interval);
        Assert.Equal(4, _log.WithId(3051).Count);
        Assert.Empty(_changes);
    }

    [Fact]
    public void One_that_is_wrong_keeps_all_the_others_too()
    {
        First.WritePfx(_directory["1.pfx"]);
        using ServerCertificates certificates = Watch(new TlsServerOptions { CertificateFolder = _directory.Path });

        Second.WritePfx(_directory["1.pfx"]);
        Second.WritePem(_directory["2.pem"]);
        _time.Advance(Interval);
        Assert.Equal(First.Thumbprint, Assert.Single(certificates.Current).Certificate.Thumbprint);

        Second.WriteKey(_directory["2.key"]);
        _time.Advance(Interval);
        Assert.Equal([Second.Thumbprint, Second.Thumbprint], certificates.Current.Select(static c => c.Certificate.Thumbprint));
        Assert.Equal([_directory["1.pfx"], _directory["2.pem"]], _changes.Select(static c => c.Source));
    }

    [Fact]
    public void Certificates_that_have_not_changed_stay_the_same_objects_so_that_sessions_resume()
    {
        First.WritePfx(_directory["1.pfx"]);
        Second.WritePfx(_directory["2.pfx"]);
        Second.WritePfx(_directory["3.pfx"]);
        using ServerCertificates certificates = Watch(new TlsServerOptions { CertificateFolder = _directory.Path });
        ServerCertificate kept = certificates.Current[0];

        // The same certificate in another file, and one certificate less.
        First.WritePfx(_directory["1.pfx"], password: null);
        Authority.Issue("third").WritePfx(_directory["2.pfx"]);
        File.Delete(_directory["3.pfx"]);
        _time.Advance(Interval);

        Assert.Same(kept, certificates.Current[0]);
        Assert.Same(kept.Context, certificates.Select("a.example.org").Context);
        Assert.Equal(2, certificates.Current.Count);
        Assert.Equal("CN=third", Assert.Single(_changes).Subject);
    }

    [Fact]
    public void An_old_certificate_stays_usable_for_the_handshakes_that_have_it()
    {
        First.WritePfx(_directory["a.pfx"]);
        using ServerCertificates certificates = Watch(new TlsServerOptions { CertificateFolder = _directory.Path });
        ServerCertificate old = certificates.Current[0];

        Second.WritePfx(_directory["a.pfx"]);
        _time.Advance(Interval);

        Assert.NotSame(old, certificates.Current[0]);
        Assert.NotEqual(IntPtr.Zero, old.Certificate.Handle);
        Assert.Equal(First.Thumbprint, old.Context.TargetCertificate.Thumbprint);
    }

    [Fact]
    public void A_chain_that_has_changed_is_a_change_of_its_certificate()
    {
        TestCertificate leaf = Authority.CreateIntermediate().Issue("leaf");
        File.WriteAllText(_directory["a.pem"], leaf.Certificate.ExportCertificatePem() + "\n" + leaf.ToKeyPem());
        using ServerCertificates certificates = Watch();
        Assert.Empty(certificates.Current[0].Context.IntermediateCertificates);

        leaf.WritePem(_directory["a.pem"], withKey: true);
        _time.Advance(Interval);

        Assert.Single(certificates.Current[0].Context.IntermediateCertificates);
        Assert.Single(_changes);
    }

    [Fact]
    public void Authorities_are_read_again()
    {
        First.WritePem(_directory["a.pem"], withKey: true);
        Authority.WritePem(_directory["ca.pem"]);
        using ServerCertificates certificates =
            Watch(new TlsServerOptions { CertificateFile = _directory["a.pem"], ClientAuthorityFile = _directory["ca.pem"] });
        ServerCertificate kept = certificates.Current[0];

        TestCertificates.CreateAuthority("another").WritePem(_directory["ca.pem"]);
        _time.Advance(Interval);

        Assert.Equal("CN=another", Assert.Single(certificates.ClientAuthorities!).Subject);
        Assert.Same(kept, certificates.Current[0]);
        Assert.Empty(_changes);
        Assert.Equal(
            "Peers' certificates are now checked against other authorities: CN=another", Assert.Single(_log.WithId(3055)).Text);
    }

    [Fact]
    public void A_symbolic_link_that_is_swapped_is_a_change()
    {
        First.WritePem(_directory["v1"], withKey: true);
        Second.WritePem(_directory["v2"], withKey: true);
        File.CreateSymbolicLink(_directory["a.pem"], _directory["v1"]);
        using ServerCertificates certificates = Watch();

        File.CreateSymbolicLink(_directory["next"], _directory["v2"]);
        File.Move(_directory["next"], _directory["a.pem"], overwrite: true);
        _time.Advance(Interval);

        Assert.Equal(Second.Thumbprint, Shown(certificates));
    }

    [Fact]
    public void A_subscriber_that_throws_ends_neither_the_looks_nor_the_calls_of_the_others()
    {
        First.WritePem(_directory["a.pem"], withKey: true);
        using ServerCertificates certificates = Watch();
        List<CertificateInfo> told = [];
        certificates.Changed += static _ => throw new InvalidOperationException("a defect");
        certificates.Changed += told.Add;

        Second.WritePem(_directory["a.pem"], withKey: true);
        _time.Advance(Interval);
        First.WritePem(_directory["a.pem"], withKey: true);
        _time.Advance(Interval);

        Assert.Equal(First.Thumbprint, Shown(certificates));
        Assert.Equal(2, told.Count);
        Assert.Equal(2, _log.WithId(3054).Count);
    }

    [Fact]
    public void A_look_within_a_look_does_nothing()
    {
        First.WritePem(_directory["a.pem"], withKey: true);
        using ServerCertificates certificates = Watch();
        certificates.Changed += _ =>
        {
            First.WritePem(_directory["a.pem"], withKey: true);

            // A thread, not a task: waiting for a task may run it here.
            var other = new Thread(certificates.Look);
            other.Start();
            other.Join();
        };

        Second.WritePem(_directory["a.pem"], withKey: true);
        _time.Advance(Interval);

        Assert.Equal(Second.Thumbprint, Shown(certificates));
    }

    [Fact]
    public void Nothing_is_looked_at_before_the_watch_and_after_the_end()
    {
        First.WritePem(_directory["a.pem"], withKey: true);
        var certificates = new ServerCertificates(new TlsServerOptions { CertificateFile = _directory["a.pem"] }, "FastPort", _time, _log);
        Assert.False(_time.IsRunning(Interval));

        certificates.Watch();
        certificates.Watch();
        Assert.True(_time.IsRunning(Interval));
        certificates.Dispose();
        Assert.False(_time.IsRunning(Interval));
        certificates.Watch();
        Assert.False(_time.IsRunning(Interval));

        // One that the end has overtaken changes nothing.
        Second.WritePem(_directory["a.pem"], withKey: true);
        certificates.Look();
        Assert.Equal(First.Thumbprint, Shown(certificates));
    }

    private static string Shown(ServerCertificates certificates) => certificates.Select("a.example.org").Certificate.Thumbprint;

    private ServerCertificates Watch(TlsServerOptions? options = null)
    {
        ServerCertificates certificates =
            new(options ?? new TlsServerOptions { CertificateFile = _directory["a.pem"] }, "FastPort", _time, _log);
        certificates.Changed += _changes.Add;
        certificates.Watch();
        return certificates;
    }
}
