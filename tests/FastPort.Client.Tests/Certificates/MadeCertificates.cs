using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using Xunit;

namespace FastPort.Client.Tests.Certificates;

/// <summary>A directory that <c>certs create</c> fills, and what programs that trust its authority make of it.</summary>
internal sealed class MadeCertificates : IDisposable
{
    public const string ServerUse = "1.3.6.1.5.5.7.3.1";
    public const string ClientUse = "1.3.6.1.5.5.7.3.2";

    private readonly TemporaryDirectory _directory = new();

    /// <summary>Where the files are; not there before the first run.</summary>
    public string Path => System.IO.Path.Combine(_directory.Path, "certs");

    public string[] Files => Directory.Exists(Path)
        ? [.. Directory.EnumerateFiles(Path).Select(static file => System.IO.Path.GetFileName(file)).Order(StringComparer.Ordinal)]
        : [];

    public string PathOf(string file) => System.IO.Path.Combine(Path, file);

    public string Read(string file) => File.ReadAllText(PathOf(file));

    /// <summary>Runs the command.</summary>
    public async Task<(int ExitCode, string Output, string Errors)> CreateAsync(params string[] options)
    {
        await using ServerProcess create = ServerProcess.StartClient(["certs", "create", Path, .. options]);
        int exitCode = await create.ExitAsync();
        return (exitCode, create.Output, create.Errors);
    }

    /// <summary>Runs the command, which succeeds, and returns what it wrote on standard output.</summary>
    public async Task<string> CreatedAsync(params string[] options)
    {
        (int exitCode, string output, string errors) = await CreateAsync(options);
        Assert.Equal((0, string.Empty), (exitCode, errors));
        return output;
    }

    /// <summary>A certificate with its key: they belong together, or it throws.</summary>
    public X509Certificate2 Load(string name) => X509Certificate2.CreateFromPemFile(PathOf($"{name}.pem"), PathOf($"{name}.key"));

    /// <summary>Whether a certificate is valid for a use, for somebody who trusts the directory's authority only.</summary>
    public bool IsTrusted(X509Certificate2 certificate, string use)
    {
        using X509Certificate2 authority = X509Certificate2.CreateFromPem(Read("ca.pem"));
        using var chain = new X509Chain();
        chain.ChainPolicy.TrustMode = X509ChainTrustMode.CustomRootTrust;
        chain.ChainPolicy.CustomTrustStore.Add(authority);
        chain.ChainPolicy.RevocationMode = X509RevocationMode.NoCheck;
        chain.ChainPolicy.ApplicationPolicy.Add(new Oid(use));
        return chain.Build(certificate) && chain.ChainElements.Count == 2;
    }

    /// <summary>Puts an authority of the user's own there.</summary>
    public void WriteAuthority(DateTimeOffset from, DateTimeOffset to, bool isAuthority = true, ECDsa? otherKey = null)
    {
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=own", key, HashAlgorithmName.SHA256);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(isAuthority, false, 0, critical: true));
        request.CertificateExtensions.Add(new X509SubjectKeyIdentifierExtension(request.PublicKey, critical: false));
        using X509Certificate2 certificate = request.CreateSelfSigned(from, to);
        Directory.CreateDirectory(Path);
        File.WriteAllText(PathOf("ca.pem"), certificate.ExportCertificatePem());
        File.WriteAllText(PathOf("ca.key"), (otherKey ?? key).ExportPkcs8PrivateKeyPem());
    }

    public void Dispose() => _directory.Dispose();
}
