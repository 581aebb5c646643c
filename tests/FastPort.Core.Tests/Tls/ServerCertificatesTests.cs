using FastPort.Tls;
using Xunit;

namespace FastPort.Core.Tests.Tls;

/// <summary>Where certificates come from, which of them a peer gets, and what a start says where there is none.</summary>
public sealed class ServerCertificatesTests : IDisposable
{
    private static readonly TestAuthority Authority = TestCertificates.CreateAuthority();

    private readonly TemporaryDirectory _directory = new();
    private readonly RecordingLog _log = new();

    public void Dispose() => _directory.Dispose();

    [Fact]
    public void The_file_is_for_every_name_that_no_other_certificate_has()
    {
        Authority.Issue("main", dns: ["main.example.org"]).WritePem(_directory["main"], withKey: true);
        Directory.CreateDirectory(_directory["d"]);
        TestCertificate wildcard = Authority.Issue("wildcard", dns: ["*.Example.org"]);
        wildcard.WritePem(_directory["d/1.pem"]);
        wildcard.WriteKey(_directory["d/1.key"]);
        Authority.Issue("one", dns: ["one.example.org", "two.example.org"]).WritePfx(_directory["d/2.pfx"]);
        Authority.Issue("Common.example.net", ip: ["127.0.0.1"]).WritePem(_directory["d/3.PEM"], withKey: true);
        Authority.Issue("late", dns: ["one.example.org"]).WritePfx(_directory["d/4.p12"]);
        File.WriteAllText(_directory["d/readme.txt"], "no certificate");
        TlsServerOptions options = new() { CertificateFile = _directory["main"], CertificateFolder = _directory["d"] };

        using ServerCertificates certificates = Load(options);

        Assert.Equal(
            [_directory["main"], _directory["d/1.pem"], _directory["d/2.pfx"], _directory["d/3.PEM"], _directory["d/4.p12"]],
            certificates.Current.Select(static c => c.Source));
        (string? Name, string Subject)[] expected =
        [
            (null, "CN=main"),
            ("", "CN=main"),
            ("main.example.org", "CN=main"),
            ("ONE.example.org", "CN=one"),
            ("two.example.org", "CN=one"),
            ("other.EXAMPLE.org", "CN=wildcard"),
            ("a.b.example.org", "CN=main"),
            ("example.org", "CN=main"),
            (".example.org", "CN=main"),
            ("common.example.net", "CN=Common.example.net"),
            ("example.com", "CN=main"),
            (new string('\u00FC', 300), "CN=main"),
        ];
        Assert.All(expected, e => Assert.Equal(e.Subject, certificates.Select(e.Name).Certificate.Subject));
        Assert.Null(certificates.ClientAuthorities);
    }

    [Fact]
    public void A_name_with_letters_beyond_ASCII_is_found()
    {
        Authority.Issue("main").WritePem(_directory["main"], withKey: true);
        Directory.CreateDirectory(_directory["d"]);
        Authority.Issue("books", dns: ["xn--bcher-kva.example"]).WritePfx(_directory["d/books.pfx"]);

        using ServerCertificates certificates =
            Load(new TlsServerOptions { CertificateFile = _directory["main"], CertificateFolder = _directory["d"] });

        Assert.Equal("CN=books", certificates.Select("b\u00FCcher.example").Certificate.Subject);
        Assert.Equal("CN=books", certificates.Select("xn--bcher-kva.example").Certificate.Subject);
    }

    [Fact]
    public void Without_a_file_the_first_one_of_the_folder_is_for_other_names()
    {
        Authority.Issue("b").WritePfx(_directory["b.pfx"]);
        Authority.Issue("B").WritePfx(_directory["B.pfx"]);
        Authority.Issue("a").WritePfx(_directory["a.pfx"]);

        using ServerCertificates certificates = Load(new TlsServerOptions { CertificateFolder = _directory.Path });

        // Ordinal: capitals come first, on every machine.
        Assert.Equal("CN=B", certificates.Select("example.org").Certificate.Subject);
    }

    [Fact]
    public void The_password_is_for_the_folder_too()
    {
        File.WriteAllText(_directory["password"], "secret\n");
        Authority.Issue("a").WritePfx(_directory["a.pfx"], "secret");
        TestCertificate encrypted = Authority.Issue("b", notAfter: DateTimeOffset.UnixEpoch.AddYears(1));
        encrypted.WritePem(_directory["b.pem"]);
        encrypted.WriteKey(_directory["b.key"], "secret");

        using ServerCertificates certificates =
            Load(new TlsServerOptions { CertificateFolder = _directory.Path, PasswordFile = _directory["password"] });

        Assert.Equal(["CN=a", "CN=b"], certificates.Current.Select(static c => c.Certificate.Subject));
        Assert.Equal(DateTimeOffset.UnixEpoch.AddYears(1), certificates.Current[1].NotAfter);
    }

    [Fact]
    public void Authorities_of_clients_are_read()
    {
        Authority.Issue("main").WritePem(_directory["main"], withKey: true);
        Authority.WritePem(_directory["ca.pem"]);

        using ServerCertificates certificates =
            Load(new TlsServerOptions { CertificateFile = _directory["main"], ClientAuthorityFile = _directory["ca.pem"] });

        Assert.Equal(Authority.Certificate.Thumbprint, Assert.Single(certificates.ClientAuthorities!).Thumbprint);
    }

    [Fact]
    public void A_start_without_a_certificate_says_how_to_get_one() => Fails(
        new TlsServerOptions(),
        "FastPort:Tls:CertificateFile: a tls:// endpoint needs a certificate: set CertificateFile, CertificateFolder or "
        + "UseDevelopmentCertificate; `fastport certs create` creates one for trials.");

    // The fake clock stands at 1970, when no development certificate of this machine is valid.
    [Fact]
    public void A_start_without_a_development_certificate_says_how_to_get_one() => Fails(
        new TlsServerOptions { UseDevelopmentCertificate = true },
        "FastPort:Tls:UseDevelopmentCertificate: There is no currently valid development certificate. Run `dotnet dev-certs https`.");

    [Fact]
    public void A_start_names_everything_that_is_wrong()
    {
        Authority.Issue("a").WritePem(_directory["a.pem"]);
        Authority.Issue("b").WriteKey(_directory["b.pem"]);
        Authority.Issue("c").WritePfx(_directory["c.pfx"]);
        TlsServerOptions options = new()
        {
            CertificateFile = _directory["main"],
            CertificateFolder = _directory.Path,
            ClientAuthorityFile = _directory["ca"],
        };

        Fails(
            options,
            $"FastPort:Tls:CertificateFile: The certificate file {_directory["main"]} does not exist. Create it or correct the path.",
            $"FastPort:Tls:CertificateFolder: The certificate file {_directory["a.pem"]} contains no private key. Put the key after the "
            + "certificate, or into a separate file: KeyFile, or in a folder name.key next to name.pem.",
            $"FastPort:Tls:CertificateFolder: The certificate file {_directory["b.pem"]} contains a private key, but no certificate. Put "
            + "the certificate before the key.",
            $"FastPort:Tls:ClientAuthorityFile: The authority file {_directory["ca"]} does not exist. Create it or correct the path.");
    }

    [Fact]
    public void A_folder_that_is_empty_or_missing()
    {
        Fails(
            new TlsServerOptions { CertificateFolder = _directory.Path },
            $"FastPort:Tls:CertificateFolder: The folder {_directory.Path} contains no certificate. Put name.pem and name.key, or "
            + "name.pfx, into it.");
        Fails(
            new TlsServerOptions { CertificateFolder = _directory["d"] },
            $"FastPort:Tls:CertificateFolder: The folder {_directory["d"]} does not exist. Create it or correct the path.");
    }

    [Fact]
    public void A_folder_that_is_not_readable()
    {
        Assert.Equal(
            "The folder d cannot be read: permission denied. Give this process's user the right to read it.",
            CertificateFolder.Unreadable("d", new UnauthorizedAccessException()).Message);
        Assert.Equal(
            "The folder d could not be read. The system says: Input/output error",
            CertificateFolder.Unreadable("d", new IOException("Input/output error")).Message);
    }

    private ServerCertificates Load(TlsServerOptions options) => new(options, "FastPort", new FakeTimeProvider(), _log);

    private void Fails(TlsServerOptions options, params string[] problems) =>
        Assert.Equal(problems, Assert.Throws<FastPortOptionsException>(() => Load(options)).Problems);
}
