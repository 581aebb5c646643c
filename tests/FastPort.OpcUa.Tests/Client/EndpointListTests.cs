using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>What a client takes from the endpoints that a server lists, and where it looks for them.</summary>
public sealed class EndpointListTests : IAsyncDisposable
{
    private const string Https = "http://opcfoundation.org/UA-Profile/Transport/https-uabinary";

    private readonly TemporaryDirectory _folder = new();
    private readonly ScriptedServer _server = new();
    private readonly X509Certificate2 _certificate = CreateCertificate();
    private readonly List<UserNameIdentityToken> _users = [];
    private readonly List<string?> _sessionUrls = [];

    public EndpointListTests()
    {
        Create(null, null);
        _server.On<ActivateSessionRequest>(call =>
        {
            ExtensionObject token = call.Request<ActivateSessionRequest>().UserIdentityToken!;
            var decoder = new BinaryDecoder(token.Body.Span, EncodingLimits.Default);
            _users.Add(decoder.ReadStructure<UserNameIdentityToken>());
            return call.ReplyAsync(default(ActivateSessionResponse));
        });
    }

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        _certificate.Dispose();
        _folder.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Where_CreateSession_lists_no_endpoints_the_users_are_those_of_GetEndpoints(bool listsOthers)
    {
        Create([.. listsOthers ? [Endpoint("Basic256Sha256", _certificate)] : Array.Empty<EndpointDescription>()], _certificate);
        List([Endpoint("None", _certificate)]);

        await LogInAsync();

        Assert.Equal(("user", SecurityPolicy.Basic256Sha256.EncryptionUri), (_users[0].PolicyId, _users[0].EncryptionAlgorithm));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Where_the_endpoint_has_no_certificate_the_password_is_encrypted_with_that_of_another(bool isListedBySession)
    {
        EndpointDescription[] all = [Endpoint("None", null), Endpoint("Basic256Sha256", _certificate)];
        Create(isListedBySession ? all : [all[0]], null);
        List(all);

        await LogInAsync();

        Assert.Equal(SecurityPolicy.Basic256Sha256.EncryptionUri, _users[0].EncryptionAlgorithm);
        Assert.Equal(256, _users[0].Password.Length);
    }

    /// <summary>As of a server with HTTPS, whose certificate there is that of TLS.</summary>
    [Fact]
    public async Task An_endpoint_of_another_transport_is_not_that_of_the_client()
    {
        using X509Certificate2 ofTls = CreateCertificate();
        EndpointDescription other = Endpoint("Basic256Sha256", ofTls) with { TransportProfileUri = Https };
        List([other, Endpoint("Basic256Sha256", _certificate)]);
        var options = new OpcUaClientOptions { SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256 };
        options.Certificates.Directory = _folder.Path;

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => _server.ConnectAsync(options));

        Assert.Contains(_certificate.Thumbprint, e.Message, StringComparison.Ordinal);
        Assert.DoesNotContain(ofTls.Thumbprint, e.Message, StringComparison.Ordinal);
    }

    /// <summary>Milo's servers list their endpoints at a path that has no sessions.</summary>
    [Fact]
    public async Task A_discovery_URL_leads_to_the_path_of_the_endpoint()
    {
        List([Endpoint("None", null) with { EndpointUrl = "opc.tcp://other.plant:1/milo" }]);
        string discovery = _server.Url.Replace("/scripted", "/milo/discovery", StringComparison.Ordinal);

        await using OpcUaClient client = await OpcUaClient.ConnectAsync(discovery);

        Assert.Equal([_server.Url.Replace("/scripted", "/milo", StringComparison.Ordinal)], _sessionUrls);
    }

    [Fact]
    public async Task Where_the_server_refuses_to_list_its_endpoints_they_are_asked_for_at_discovery()
    {
        string plain = new Uri(_server.Url).GetLeftPart(UriPartial.Authority);
        ListAtDiscovery([Endpoint("Basic256Sha256", _certificate) with { EndpointUrl = "opc.tcp://other.plant:1/milo" }]);

        EndpointDescription listed = Assert.Single(await OpcUaClient.GetEndpointsAsync(plain));
        Assert.Equal(_certificate.RawData, listed.ServerCertificate.ToArray());

        // The scripted server has no security: how far the client comes is enough.
        _server.Hellos.Clear();
        var options = new OpcUaClientOptions { SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256 };
        options.Certificates.Directory = _folder.Path;
        options.Certificates.UnsafeTrustAll = true;
        _ = await Assert.ThrowsAnyAsync<Exception>(() => OpcUaClient.ConnectAsync(plain, options));
        Assert.Equal([plain, $"{plain}/discovery", $"{plain}/milo"], _server.Hellos);
    }

    [Fact]
    public async Task Where_it_refuses_there_too_the_first_refusal_is_told()
    {
        _server.On<GetEndpointsRequest>(static call => call.FaultAsync(
            IsAtDiscovery(call) ? StatusCodes.BadNotImplemented : StatusCodes.BadServiceUnsupported));

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => OpcUaClient.GetEndpointsAsync(_server.Url));

        Assert.Equal(StatusCodes.BadServiceUnsupported, e.Status);
        Assert.Equal([_server.Url, $"{_server.Url}/discovery"], _server.Hellos);
        await Assert.ThrowsAsync<OpcUaException>(() => OpcUaClient.GetEndpointsAsync($"{_server.Url}/discovery"));
        Assert.Equal(3, _server.Hellos.Count);
    }

    [Fact]
    public async Task Any_other_URL_is_used_as_it_is()
    {
        List([Endpoint("None", null) with { EndpointUrl = "opc.tcp://other.plant:1/other" }]);

        await using OpcUaClient client = await _server.ConnectAsync();

        Assert.Equal([_server.Url], _sessionUrls);
    }

    private async Task LogInAsync()
    {
        var options = new OpcUaClientOptions { UserName = "anna", Password = "secret" };
        options.Certificates.Directory = _folder.Path;
        options.Certificates.UnsafeTrustAll = true;
        await using OpcUaClient client = await _server.ConnectAsync(options);
    }

    private void Create(EndpointDescription[]? endpoints, X509Certificate2? certificate) => _server.On<CreateSessionRequest>(call =>
    {
        _sessionUrls.Add(call.Request<CreateSessionRequest>().EndpointUrl);
        return call.ReplyAsync(new CreateSessionResponse
        {
            AuthenticationToken = new NodeId(1, 1),
            RevisedSessionTimeout = 60_000,
            ServerNonce = RandomNumberGenerator.GetBytes(32),
            ServerCertificate = certificate?.RawData,
            ServerEndpoints = endpoints,
        });
    });

    private void List(EndpointDescription[] endpoints) =>
        _server.On<GetEndpointsRequest>(call => call.ReplyAsync(new GetEndpointsResponse { Endpoints = endpoints }));

    private void ListAtDiscovery(EndpointDescription[] endpoints) => _server.On<GetEndpointsRequest>(call => IsAtDiscovery(call)
        ? call.ReplyAsync(new GetEndpointsResponse { Endpoints = endpoints })
        : call.FaultAsync(StatusCodes.BadServiceUnsupported));

    private static bool IsAtDiscovery(ScriptedCall call) =>
        call.Request<GetEndpointsRequest>().EndpointUrl!.EndsWith("/discovery", StringComparison.Ordinal);

    private EndpointDescription Endpoint(string policy, X509Certificate2? certificate) => new()
    {
        EndpointUrl = _server.Url,
        SecurityPolicyUri = SecurityPolicy.Prefix + policy,
        SecurityMode = policy == "None" ? MessageSecurityMode.None : MessageSecurityMode.SignAndEncrypt,
        ServerCertificate = certificate?.RawData,
        Server = new ApplicationDescription { ApplicationUri = "urn:scripted" },
        UserIdentityTokens =
        [
            new UserTokenPolicy { PolicyId = "anonymous" },
            new UserTokenPolicy
            {
                PolicyId = "user",
                TokenType = UserTokenType.UserName,
                SecurityPolicyUri = SecurityPolicy.Basic256Sha256.Uri,
            },
        ],
    };

    private static X509Certificate2 CreateCertificate()
    {
        using var key = RSA.Create(2048);
        var request = new CertificateRequest("CN=server", key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        return request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
    }
}
