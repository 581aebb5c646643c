using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <summary>Logging in: users with names and certificates, the policies for them, and logins that fail.</summary>
public sealed partial class ClientUserTests
{
    [Fact]
    public async Task A_user_with_a_certificate_signs_the_servers_certificate_and_nonce()
    {
        using X509Certificate2 serverCertificate = CreateCertificate("CN=server");
        using X509Certificate2 user = CreateCertificate("CN=anna");
        byte[] nonce = RandomNumberGenerator.GetBytes(32);
        await using var server = new ScriptedServer();
        server.On<CreateSessionRequest>(call => call.ReplyAsync(new CreateSessionResponse
        {
            AuthenticationToken = new NodeId(1, 1),
            RevisedSessionTimeout = 60_000,
            ServerNonce = nonce,
            ServerCertificate = serverCertificate.RawData,
            ServerEndpoints =
            [
                new EndpointDescription
                {
                    SecurityMode = MessageSecurityMode.None,
                    SecurityPolicyUri = SecurityPolicy.None.Uri,
                    UserIdentityTokens =
                    [
                        new UserTokenPolicy
                        {
                            PolicyId = "x509",
                            TokenType = UserTokenType.Certificate,
                            SecurityPolicyUri = SecurityPolicy.Aes256Sha256RsaPss.Uri,
                        },
                    ],
                },
            ],
        }));
        ActivateSessionRequest request = default;
        server.On<ActivateSessionRequest>(call =>
        {
            request = call.Request<ActivateSessionRequest>();
            return call.ReplyAsync(default(ActivateSessionResponse));
        });

        await using OpcUaClient client = await server.ConnectAsync(new OpcUaClientOptions { UserCertificate = user });

        Assert.Equal(X509IdentityToken.EncodingId, request.UserIdentityToken!.TypeId.NodeId.Number);
        Assert.Equal(SecurityPolicy.Aes256Sha256RsaPss.SignatureUri, request.UserTokenSignature.Algorithm);
        using RSA key = user.GetRSAPublicKey()!;
        Assert.True(key.VerifyData(
            [.. serverCertificate.RawData, .. nonce],
            request.UserTokenSignature.Signature.Span,
            HashAlgorithmName.SHA256,
            RSASignaturePadding.Pss));
    }

    [Theory]
    [InlineData("Basic256", false)]
    [InlineData("Basic256", true)]
    [InlineData("None", false)]
    [InlineData("None", true)]
    public async Task Of_the_policies_for_users_the_client_takes_one_that_it_can_encrypt_and_sign_with(string first, bool isCertificate)
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        using X509Certificate2 user = CreateCertificate("CN=anna");
        await using var server = new ScriptedServer();
        using X509Certificate2 certificate = OfferUsers(server, first, "Basic256Sha256");
        ActivateSessionRequest request = default;
        server.On<ActivateSessionRequest>(call =>
        {
            request = call.Request<ActivateSessionRequest>();
            return call.ReplyAsync(default(ActivateSessionResponse));
        });
        var options = new OpcUaClientOptions
        {
            Certificates = { Directory = folder, UnsafeTrustAll = true },
            UserName = isCertificate ? null : "anna",
            Password = "secret",
            UserCertificate = isCertificate ? user : null,
        };

        await using (OpcUaClient client = await server.ConnectAsync(options))
        {
            var decoder = new BinaryDecoder(request.UserIdentityToken!.Body.Span, EncodingLimits.Default);
            if (isCertificate)
            {
                Assert.Equal("Basic256Sha256", decoder.ReadStructure<X509IdentityToken>().PolicyId);
                Assert.Equal(SecurityPolicy.Basic256Sha256.SignatureUri, request.UserTokenSignature.Algorithm);
            }
            else
            {
                UserNameIdentityToken token = decoder.ReadStructure<UserNameIdentityToken>();
                Assert.Equal(("Basic256Sha256", SecurityPolicy.Basic256Sha256.EncryptionUri), (token.PolicyId, token.EncryptionAlgorithm));
            }
        }

        Directory.Delete(folder, recursive: true);
    }

    [Theory]
    [InlineData(false, nameof(StatusCodes.BadSecurityPolicyRejected))]
    [InlineData(true, nameof(StatusCodes.BadIdentityTokenRejected))]
    public async Task Where_the_client_knows_none_of_the_policies_for_users_it_names_them(bool isCertificate, string status)
    {
        using X509Certificate2 user = CreateCertificate("CN=anna");
        await using var server = new ScriptedServer();
        using X509Certificate2 certificate = OfferUsers(server, "None", "Basic256", "Basic128Rsa15");

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync(
            new OpcUaClientOptions { UserName = isCertificate ? null : "anna", UserCertificate = isCertificate ? user : null }));

        Assert.Equal(status, e.Status.ToString());
        Assert.Contains("with the policies None, Basic256, Basic128Rsa15", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_user_with_a_certificate_gets_a_session_and_keeps_it_over_a_broken_connection()
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        using X509Certificate2 user = CreateCertificate("CN=anna");
        using X509Certificate2 other = CreateCertificate("CN=otto");
        string known = user.Thumbprint;
        await using (TestServer server = await TestServer.StartAsync(configure: o =>
        {
            o.AllowAnonymous = false;
            o.Certificates.Directory = folder;
            o.ValidateUserCertificate = (certificate, _) => ValueTask.FromResult(certificate.Thumbprint == known);
        }))
        await using (var relay = new TcpRelay(server.Server.Endpoints[0].Port))
        {
            var options = new OpcUaClientOptions { UserCertificate = user, ReconnectDelay = TimeSpan.FromMilliseconds(1) };
            await using OpcUaClient client = await OpcUaClient.ConnectAsync(relay.Url, options);
            var back = new TaskCompletionSource<SessionRecovery>(TaskCreationOptions.RunContinuationsAsynchronously);
            client.Connected += recovery => back.TrySetResult(recovery);

            relay.Cut();

            Assert.Equal(SessionRecovery.Resumed, await back.Task.InTimeAsync());
            OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
                () => server.ConnectAsync(new OpcUaClientOptions { UserCertificate = other }));
            Assert.Equal((StatusCodes.BadUserAccessDenied, 1), (e.Status, server.Server.SessionCount));
        }

        Directory.Delete(folder, recursive: true);
    }

    [Fact]
    public async Task A_server_that_takes_no_certificates_of_users_is_not_given_one()
    {
        using X509Certificate2 user = CreateCertificate("CN=anna");
        await using var server = new ScriptedServer();

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
            () => server.ConnectAsync(new OpcUaClientOptions { UserCertificate = user }));

        Assert.Equal(StatusCodes.BadIdentityTokenRejected, e.Status);
    }

    [Theory]
    [InlineData(
        null,
        "BadIdentityTokenInvalid",
        "no users of kind Anonymous with SecurityPolicy None; it accepts Certificate, IssuedToken.",
        "")]
    [InlineData(
        "anna",
        "BadIdentityTokenRejected",
        "no users of kind UserName with SecurityPolicy None; it accepts Certificate, IssuedToken.",
        ", or SecurityPolicy Aes128Sha256RsaOaep and SecurityMode Sign")]
    public async Task Where_a_kind_of_user_is_not_accepted_the_client_says_which_are_and_what_to_set(
        string? user, string status, string accepted, string channels)
    {
        await using var server = new ScriptedServer();
        server.On<CreateSessionRequest>(call => call.ReplyAsync(new CreateSessionResponse
        {
            AuthenticationToken = new NodeId(1, 1),
            RevisedSessionTimeout = 60_000,
            ServerEndpoints =
            [
                Accepting(SecurityPolicy.None.Uri, MessageSecurityMode.None, UserTokenType.Certificate, UserTokenType.IssuedToken),
                Accepting(SecurityPolicy.Aes128Sha256RsaOaep.Uri, MessageSecurityMode.Sign, UserTokenType.UserName),
                Accepting("urn:unknown", MessageSecurityMode.Sign, UserTokenType.UserName),
            ],
        }));
        server.On<ActivateSessionRequest>(call => call.FaultAsync(StatusCodes.BadIdentityTokenInvalid));

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
            () => server.ConnectAsync(new OpcUaClientOptions { UserName = user }));

        Assert.Equal(status, e.Status.ToString());
        Assert.EndsWith($"{server.Url} accepts {accepted} Set UserCertificate{channels}.", e.Message, StringComparison.Ordinal);

        static EndpointDescription Accepting(string policy, MessageSecurityMode mode, params UserTokenType[] kinds) => new()
        {
            SecurityPolicyUri = policy,
            SecurityMode = mode,
            UserIdentityTokens = Array.ConvertAll(kinds, static kind => new UserTokenPolicy { PolicyId = "x", TokenType = kind }),
        };
    }

    [Fact]
    public async Task A_login_that_fails_leaves_no_session_and_is_tried_once_in_an_attempt()
    {
        await using var server = new ScriptedServer();
        List<uint> logins = [];
        List<uint> closed = [];
        server.On<ActivateSessionRequest>(call =>
        {
            logins.Add(call.Header.AuthenticationToken.Number);
            return logins.Count <= 3
                ? call.FaultAsync(StatusCodes.BadUserAccessDenied)
                : call.ReplyAsync(default(ActivateSessionResponse));
        });
        server.On<CloseSessionRequest>(call =>
        {
            closed.Add(call.Header.AuthenticationToken.Number);
            return call.ReplyAsync(default(CloseSessionResponse));
        });

        await using (OpcUaClient client = await server.ConnectAsync(
            new OpcUaClientOptions { RetryConnect = true, ReconnectDelay = TimeSpan.FromMilliseconds(1) }).InTimeAsync())
        {
            Assert.Equal([1u, 2u, 3u, 4u], logins);
            Assert.Equal(logins[..3], closed);
        }

        Assert.Equal(logins, closed);
    }

    // Names and certificates with several policies. Returns the server's certificate.
    private static X509Certificate2 OfferUsers(ScriptedServer server, params string[] policies)
    {
        X509Certificate2 certificate = CreateCertificate("CN=server");
        OfferUsers(server, () => certificate.RawData, policies);
        return certificate;
    }

    private static void OfferUsers(ScriptedServer server, Func<byte[]> certificate, string[] policies)
    {
        UserTokenType[] types = [UserTokenType.UserName, UserTokenType.Certificate];
        server.On<CreateSessionRequest>(call => call.ReplyAsync(new CreateSessionResponse
        {
            AuthenticationToken = new NodeId(1, 1),
            RevisedSessionTimeout = 60_000,
            ServerNonce = RandomNumberGenerator.GetBytes(32),
            ServerCertificate = certificate(),
            ServerEndpoints =
            [
                new EndpointDescription
                {
                    SecurityMode = MessageSecurityMode.None,
                    SecurityPolicyUri = SecurityPolicy.None.Uri,
                    UserIdentityTokens =
                    [
                        .. policies.SelectMany(policy => types.Select(type => new UserTokenPolicy
                        {
                            PolicyId = policy,
                            TokenType = type,
                            SecurityPolicyUri = SecurityPolicy.Prefix + policy,
                        })),
                    ],
                },
            ],
        }));
    }

    private static X509Certificate2 CreateCertificate(string name)
    {
        using var key = RSA.Create(2048);
        var request = new CertificateRequest(name, key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        return request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
    }
}
