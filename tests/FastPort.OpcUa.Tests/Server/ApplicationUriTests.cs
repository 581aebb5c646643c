using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>The URI of an application, which its certificate must have (OPC 10000-4, 5.7.2).</summary>
public sealed class ApplicationUriTests : IDisposable
{
    private static readonly TemporaryDirectory Shared = TemporaryDirectory.OfProcess();

    private readonly TemporaryDirectory _folder = new();
    private readonly RecordingLog _log = new();

    public void Dispose() => _folder.Dispose();

    [Theory]
    [InlineData(null)]
    [InlineData("urn:another")]
    public async Task Where_all_are_trusted_a_certificate_for_no_or_another_application_is_accepted_and_logged(string? uri)
    {
        await using TestServer server = await StartAsync(trustsAll: true);

        using ApplicationCertificate own = Create(uri);
        Assert.Equal(StatusCodes.Good, await CreateSessionAsync(server, own, "urn:test:client"));

        string line = Assert.Single(_log.WithId(7204)).Text;
        Assert.Contains(uri ?? "no application", line, StringComparison.Ordinal);
        Assert.Contains("urn:test:client", line, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_client_with_another_URI_than_its_certificate_is_refused_and_both_sides_name_them_and_the_remedy()
    {
        await using TestServer server = await StartAsync(trustsAll: false);
        string client = _folder["client"];
        using (var own = ApplicationCertificate.LoadOrCreate(
            Path.Combine(client, "own", "certificate.pem"),
            Path.Combine(client, "own", "key.pem"),
            static () => ApplicationCertificate.Create("urn:of:certificate", "client", [], DateTimeOffset.UtcNow)))
        {
            Trust(own);
        }

        var options = new OpcUaClientOptions { SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256, ApplicationUri = "urn:of:options" };
        options.Certificates.Directory = client;
        options.Certificates.UnsafeTrustAll = true;

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync(options));

        Assert.Equal(StatusCodes.BadCertificateUriInvalid, e.Status);
        string line = Assert.Single(_log.WithId(7009)).Text;
        foreach (string text in new[] { e.Message, line })
        {
            Assert.Contains("urn:of:certificate", text, StringComparison.Ordinal);
            Assert.Contains("urn:of:options", text, StringComparison.Ordinal);
            Assert.Contains("ApplicationUri", text, StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task A_client_that_names_no_application_is_refused_though_its_certificate_names_none_either()
    {
        await using TestServer server = await StartAsync(trustsAll: false);
        using ApplicationCertificate own = Create(uri: null);
        Trust(own);

        Assert.Equal(StatusCodes.BadCertificateUriInvalid, await CreateSessionAsync(server, own, applicationUri: null));
    }

    private void Trust(ApplicationCertificate certificate)
    {
        string trusted = Directory.CreateDirectory(Path.Combine(_folder["server"], "trusted")).FullName;
        File.WriteAllBytes(Path.Combine(trusted, "client.der"), certificate.Der);
    }

    private Task<TestServer> StartAsync(bool trustsAll) => TestServer.StartAsync(
        configure: o =>
        {
            o.SecurityPolicies = [OpcUaSecurityPolicy.Basic256Sha256];
            o.Certificates.Directory = trustsAll ? Shared["server"] : _folder["server"];
            o.Certificates.UnsafeTrustAll = trustsAll;
        },
        log: _log);

    private static async Task<StatusCode> CreateSessionAsync(TestServer server, ApplicationCertificate own, string? applicationUri)
    {
        using ChannelCredentials credentials = ChannelClient.Credentials(server, own);
        await using ChannelClient client = await ChannelClient.ConnectAsync(server.Url, credentials);
        await client.Channel.Opened.InTimeAsync();
        ServiceResult<CreateSessionResponse> created = await client.Channel.SendAsync(
            NodeId.Null,
            new CreateSessionRequest
            {
                ClientDescription = new ApplicationDescription { ApplicationUri = applicationUri },
                ClientNonce = new byte[32],
                ClientCertificate = own.Der,
            },
            new Stack<PendingRequest<CreateSessionResponse>>(),
            Patience.Token);
        return created.Status;
    }

    private static ApplicationCertificate Create(string? uri) => uri is null
        ? new ApplicationCertificate(CreateWithoutUri())
        : ApplicationCertificate.Create(uri, "client", [], DateTimeOffset.UtcNow);

    private static X509Certificate2 CreateWithoutUri()
    {
        using var key = RSA.Create(2048);
        var request = new CertificateRequest("CN=client", key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        using X509Certificate2 made = request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
        return X509CertificateLoader.LoadPkcs12(made.Export(X509ContentType.Pkcs12), null);
    }
}
