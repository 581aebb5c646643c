using System.Formats.Asn1;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.Tls;

namespace FastPort.OpcUa.SecureChannel;

/// <summary>The certificate of this application instance with its private key (OPC 10000-6, 6.2.2). Thread-safe.</summary>
internal sealed class ApplicationCertificate : IDisposable
{
    private const int KeyBits = 2048;
    private const int Years = 5;
    private const string ServerAuthentication = "1.3.6.1.5.5.7.3.1";
    private const string ClientAuthentication = "1.3.6.1.5.5.7.3.2";

    // Clients and a server of one process may share a directory and start at once: the first creates the certificate, the others load it.
    private static readonly Lock Making = new();

    private readonly X509Certificate2 _certificate;

    /// <param name="certificate">A certificate with an RSA key. Owned by this object from now on.</param>
    /// <exception cref="CryptographicException">There is no private RSA key.</exception>
    public ApplicationCertificate(X509Certificate2 certificate)
    {
        _certificate = certificate;
        PrivateKey = certificate.GetRSAPrivateKey()
            ?? throw new CryptographicException($"The certificate '{certificate.Subject}' has no private RSA key.");
        Der = certificate.RawData;
        Thumbprint = certificate.GetCertHash();
        ApplicationUri = CertificateStore.ApplicationUriOf(certificate);
    }

    public RSA PrivateKey { get; }

    /// <summary>The certificate in DER.</summary>
    public byte[] Der { get; }

    /// <summary>SHA-1 of the certificate, by which peers identify it.</summary>
    public byte[] Thumbprint { get; }

    /// <summary>The application that the certificate is for; null if it names none.</summary>
    public string? ApplicationUri { get; }

    public DateTime NotAfter => _certificate.NotAfter.ToUniversalTime();

    /// <summary>Whether a certificate can be for an application with that URI, which it contains in ASCII.</summary>
    public static bool CanBeFor(string? applicationUri) =>
        Uri.TryCreate(applicationUri, UriKind.Absolute, out _) && System.Text.Ascii.IsValid(applicationUri);

    /// <summary>Creates a self-signed certificate.</summary>
    /// <param name="applicationUri">In ASCII. Written into the certificate exactly as in the application's description.</param>
    /// <param name="applicationName">The subject's common name.</param>
    /// <param name="hosts">The host names and addresses that clients connect to.</param>
    /// <param name="now">The current time.</param>
    public static ApplicationCertificate Create(
        string applicationUri, string applicationName, IEnumerable<string> hosts, DateTimeOffset now)
    {
        using var key = RSA.Create(KeyBits);
        var name = new X500DistinguishedNameBuilder();
        name.AddCommonName(applicationName);
        var request = new CertificateRequest(name.Build(), key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(false, false, 0, critical: true));
        request.CertificateExtensions.Add(new X509KeyUsageExtension(
            X509KeyUsageFlags.DigitalSignature | X509KeyUsageFlags.NonRepudiation | X509KeyUsageFlags.KeyEncipherment
            | X509KeyUsageFlags.DataEncipherment | X509KeyUsageFlags.KeyCertSign,
            critical: true));
        request.CertificateExtensions.Add(
            new X509EnhancedKeyUsageExtension([new Oid(ServerAuthentication), new Oid(ClientAuthentication)], critical: false));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        request.CertificateExtensions.Add(MakeNames(applicationUri, hosts));

        // From a day ago: clocks differ.
        using X509Certificate2 made = request.CreateSelfSigned(now.AddDays(-1), now.AddYears(Years));

        // Through PKCS #12, because not every system keeps the key of a new certificate.
        return new ApplicationCertificate(X509CertificateLoader.LoadPkcs12(made.Export(X509ContentType.Pkcs12), null));
    }

    /// <summary>Loads certificate and key, or creates and saves them. One at a time in a process.</summary>
    /// <param name="certificateFile">The certificate, PEM.</param>
    /// <param name="keyFile">The key, PEM; only its owner may read it.</param>
    /// <param name="create">Creates one.</param>
    /// <exception cref="CertificateException">They cannot be used; the message names the files.</exception>
    public static ApplicationCertificate LoadOrCreate(string certificateFile, string keyFile, Func<ApplicationCertificate> create)
    {
        lock (Making)
        {
            if (!File.Exists(certificateFile))
            {
                return CreateAndSave(certificateFile, keyFile, create);
            }
        }

        try
        {
            LoadedCertificate loaded = PemCertificate.Load(certificateFile, keyFile, passwordFile: string.Empty);
            byte[] both = loaded.Certificate.Export(X509ContentType.Pkcs12);
            loaded.Release();
            return new ApplicationCertificate(X509CertificateLoader.LoadPkcs12(both, null));
        }
        catch (Exception e) when (e is CertificateException or CryptographicException)
        {
            throw new CertificateException(
                $"{e.Message} Or delete {certificateFile} and {keyFile}: new ones are created, which peers must then trust.", e);
        }
    }

    public void Dispose()
    {
        PrivateKey.Dispose();
        _certificate.Dispose();
    }

    // The subject's alternative names. The builder would normalize a URI, with a slash after the host and in lower case.
    private static X509Extension MakeNames(string applicationUri, IEnumerable<string> hosts)
    {
        var names = new SubjectAlternativeNameBuilder();
        foreach (string host in hosts.Distinct(StringComparer.OrdinalIgnoreCase))
        {
            if (System.Net.IPAddress.TryParse(host, out System.Net.IPAddress? address))
            {
                names.AddIpAddress(address);
            }
            else
            {
                names.AddDnsName(host);
            }
        }

        var all = new AsnWriter(AsnEncodingRules.DER);
        using (all.PushSequence())
        {
            all.WriteCharacterString(UniversalTagNumber.IA5String, applicationUri, CertificateStore.UriTag);
            for (AsnReader rest = new AsnReader(names.Build().RawData, AsnEncodingRules.DER).ReadSequence(); rest.HasData;)
            {
                all.WriteEncodedValue(rest.ReadEncodedValue().Span);
            }
        }

        return new X509Extension(CertificateStore.SubjectAlternativeName, all.Encode(), critical: false);
    }

    private static ApplicationCertificate CreateAndSave(string certificateFile, string keyFile, Func<ApplicationCertificate> create)
    {
        ApplicationCertificate made = create();
        Directory.CreateDirectory(Path.GetDirectoryName(certificateFile)!);
        Directory.CreateDirectory(Path.GetDirectoryName(keyFile)!);
        var options = new FileStreamOptions { Mode = FileMode.Create, Access = FileAccess.Write };
        if (!OperatingSystem.IsWindows())
        {
            options.UnixCreateMode = UnixFileMode.UserRead | UnixFileMode.UserWrite;
        }

        using (var writer = new StreamWriter(keyFile, options))
        {
            writer.Write(made.PrivateKey.ExportPkcs8PrivateKeyPem());
        }

        // Last, because with the certificate the pair is complete; renamed, because a full disk must not leave a part of it.
        string temporary = certificateFile + ".tmp";
        File.WriteAllText(temporary, made._certificate.ExportCertificatePem());
        File.Move(temporary, certificateFile, overwrite: true);
        return made;
    }
}
