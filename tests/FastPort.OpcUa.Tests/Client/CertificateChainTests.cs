using System.Net;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>Certificates of an authority that has others between itself and the server.</summary>
public sealed class CertificateChainTests : IAsyncDisposable
{
    // Keys take long to make.
    private static readonly RSA Key = RSA.Create(2048);

    private readonly TemporaryDirectory _folder = new();
    private readonly ScriptedServer _server = new();
    private readonly DateTimeOffset _start = DateTimeOffset.UtcNow.AddDays(-1);
    private readonly X509Certificate2 _authority;
    private readonly X509Certificate2 _middle;
    private readonly X509Certificate2 _leaf;
    private byte[] _sent = [];

    public CertificateChainTests()
    {
        _authority = Authority("authority").CreateSelfSigned(_start, _start.AddDays(10));
        _middle = Authority("middle").Create(_authority, _start, _start.AddDays(10), [1]).CopyWithPrivateKey(Key);
        CertificateRequest request = Request("server");
        var names = new SubjectAlternativeNameBuilder();
        names.AddUri(new Uri("urn:scripted"));
        names.AddIpAddress(IPAddress.Loopback);
        request.CertificateExtensions.Add(names.Build());
        _leaf = request.Create(_middle, _start, _start.AddDays(10), [2]);
        _server.On<CreateSessionRequest>(call => call.ReplyAsync(new CreateSessionResponse
        {
            AuthenticationToken = new NodeId(1, 1),
            RevisedSessionTimeout = 60_000,
            ServerNonce = new byte[32],
            ServerCertificate = _sent,
            ServerEndpoints =
            [
                new EndpointDescription
                {
                    SecurityMode = MessageSecurityMode.None,
                    SecurityPolicyUri = SecurityPolicy.None.Uri,
                    Server = new ApplicationDescription { ApplicationUri = "urn:scripted" },
                    UserIdentityTokens =
                    [
                        new UserTokenPolicy
                        {
                            PolicyId = "user",
                            TokenType = UserTokenType.UserName,
                            SecurityPolicyUri = SecurityPolicy.Basic256Sha256.Uri,
                        },
                    ],
                },
            ],
        }));
        string trusted = Directory.CreateDirectory(_folder["trusted"]).FullName;
        File.WriteAllBytes(Path.Combine(trusted, "authority.der"), _authority.RawData);
    }

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        _authority.Dispose();
        _middle.Dispose();
        _leaf.Dispose();
        _folder.Dispose();
    }

    [Fact]
    public async Task Certificates_that_come_with_the_servers_lead_to_its_authority()
    {
        _sent = [.. _leaf.RawData, .. _middle.RawData];

        await using OpcUaClient client = await ConnectAsync();

        Assert.True(client.IsConnected);
    }

    [Fact]
    public async Task Certificates_that_come_with_the_servers_are_not_trusted_for_themselves()
    {
        File.Delete(Path.Combine(_folder["trusted"], "authority.der"));
        _sent = [.. _leaf.RawData, .. _middle.RawData, .. _authority.RawData];

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(ConnectAsync);

        Assert.Equal(StatusCodes.BadCertificateUntrusted, e.Status);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Where_an_issuer_is_missing_the_client_says_which_and_where_to_put_it(bool comesWithJunk)
    {
        _sent = [.. _leaf.RawData, .. comesWithJunk ? [0x30, 0x82, 0xFF] : Array.Empty<byte>()];

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(ConnectAsync);

        Assert.Equal(StatusCodes.BadCertificateChainIncomplete, e.Status);
        Assert.Contains("'CN=middle' is missing", e.Message, StringComparison.Ordinal);
        Assert.Contains(_folder["issuers"], e.Message, StringComparison.Ordinal);

        // One that nobody vouches for may still be trusted for itself.
        string saved = Assert.Single(Directory.GetFiles(_folder["rejected"]));
        File.Move(saved, Path.Combine(_folder["trusted"], "leaf.der"));
        await using OpcUaClient client = await ConnectAsync();
    }

    private Task<OpcUaClient> ConnectAsync()
    {
        var options = new OpcUaClientOptions { UserName = "anna", Password = "secret" };
        options.Certificates.Directory = _folder.Path;
        return _server.ConnectAsync(options);
    }

    private static CertificateRequest Request(string name) =>
        new($"CN={name}", Key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);

    private static CertificateRequest Authority(string name)
    {
        CertificateRequest request = Request(name);
        request.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, critical: true));
        request.CertificateExtensions.Add(
            new X509KeyUsageExtension(X509KeyUsageFlags.KeyCertSign | X509KeyUsageFlags.CrlSign, critical: true));
        return request;
    }
}
