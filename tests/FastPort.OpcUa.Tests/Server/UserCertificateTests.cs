using System.Buffers;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Users by certificate: accepted if they show that they have the key and the application knows them.</summary>
public sealed class UserCertificateTests : IAsyncLifetime
{
    private readonly string _folder = Directory.CreateTempSubdirectory("opcua-").FullName;
    private readonly RSA _key = RSA.Create(2048);
    private X509Certificate2 _user = null!;
    private TestServer _server = null!;
    private readonly RecordingLog _log = new();
    private string? _asked;

    // Until then the application thinks about it.
    private Task _decided = Task.CompletedTask;

    public async ValueTask InitializeAsync()
    {
        _user = Certify(_key, DateTimeOffset.UtcNow.AddDays(1));
        string known = _user.Thumbprint;
        _server = await TestServer.StartAsync(
            configure: o =>
            {
                o.MaxSessions = 1;
                o.Certificates.Directory = _folder;
                o.ValidateUserCertificate = async (certificate, _) =>
                {
                    _asked = certificate.Subject;
                    await _decided;
                    return certificate.Thumbprint == known;
                };
            },
            log: _log);
    }

    public async ValueTask DisposeAsync()
    {
        await _server.DisposeAsync();
        _user.Dispose();
        _key.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public async Task A_user_that_signs_gets_a_session()
    {
        (RawSession session, CreateSessionResponse created) = await RawSession.CreateAsync(_server);
        using RawSession owned = session;
        UserTokenPolicy policy = created.ServerEndpoints![0].UserIdentityTokens![1];
        Assert.Equal((UserTokenType.Certificate, SecurityPolicy.Basic256Sha256.Uri), (policy.TokenType, policy.SecurityPolicyUri));

        Assert.Equal(StatusCodes.Good, await ActivateAsync(session, created, _user, _key));

        Assert.Equal(StatusCodes.Good, (await session.TryAsync<BrowseRequest, BrowseResponse>(Root())).Status);
        Assert.Equal("CN=anna", _asked);
    }

    [Fact]
    public async Task A_user_that_cannot_sign_is_refused_and_the_application_not_asked()
    {
        using RSA other = RSA.Create(2048);
        (RawSession session, CreateSessionResponse created) = await RawSession.CreateAsync(_server);
        using RawSession owned = session;

        Assert.Equal(StatusCodes.BadUserSignatureInvalid, await ActivateAsync(session, created, _user, other));
        Assert.Equal(StatusCodes.BadUserSignatureInvalid, await ActivateAsync(session, created, _user, _key, nonce: new byte[32]));
        Assert.Equal(StatusCodes.BadUserSignatureInvalid, await ActivateAsync(session, created, _user, _key, algorithm: "none"));
        Assert.Equal(StatusCodes.BadIdentityTokenInvalid, await ActivateAsync(session, created, certificate: [1, 2, 3], _key));
        Assert.Equal(StatusCodes.BadIdentityTokenInvalid, await ActivateAsync(session, created, BadKeys.Unreadable(), _key));
        Assert.Equal(StatusCodes.BadUserSignatureInvalid, await ActivateAsync(session, created, BadKeys.Unusable(), _key));

        Assert.Null(_asked);
        Assert.Equal(StatusCodes.BadSessionNotActivated, (await session.TryAsync<BrowseRequest, BrowseResponse>(Root())).Status);
    }

    [Fact]
    public async Task A_certificate_that_has_expired_or_is_unknown_is_refused()
    {
        (RawSession session, CreateSessionResponse created) = await RawSession.CreateAsync(_server);
        using RawSession owned = session;
        using X509Certificate2 expired = Certify(_key, DateTimeOffset.UtcNow.AddDays(-1));
        using X509Certificate2 unknown = Certify(_key, DateTimeOffset.UtcNow.AddDays(2));

        Assert.Equal(StatusCodes.BadIdentityTokenRejected, await ActivateAsync(session, created, expired, _key));
        Assert.Null(_asked);
        Assert.Equal(StatusCodes.BadUserAccessDenied, await ActivateAsync(session, created, unknown, _key));
        Assert.NotNull(_asked);
    }

    [Fact]
    public async Task The_log_says_that_a_certificate_was_refused()
    {
        (RawSession session, CreateSessionResponse created) = await RawSession.CreateAsync(_server);
        using RawSession owned = session;
        using X509Certificate2 unknown = Certify(_key, DateTimeOffset.UtcNow.AddDays(2));

        Assert.Equal(StatusCodes.BadUserAccessDenied, await ActivateAsync(session, created, unknown, _key));

        Assert.EndsWith(
            "was refused: the application does not accept the certificate", _log.WithId(7004)[0].Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Another_user_cannot_take_the_session_over()
    {
        (RawSession session, CreateSessionResponse created) = await RawSession.CreateAsync(_server);
        using RawSession owned = session;
        Assert.Equal(StatusCodes.Good, await ActivateAsync(session, created, _user, _key));

        (StatusCode status, RawSession other) = await RawSession.TryTakeOverAsync(_server, session.Token);

        other.Dispose();
        Assert.Equal(StatusCodes.BadIdentityChangeNotSupported, status);
        Assert.Equal(StatusCodes.Good, (await session.TryAsync<BrowseRequest, BrowseResponse>(Root())).Status);
    }

    [Fact]
    public async Task A_session_that_had_to_go_while_its_user_was_checked_is_not_activated()
    {
        var decided = new TaskCompletionSource();
        _decided = decided.Task;
        (RawSession session, CreateSessionResponse created) = await RawSession.CreateAsync(_server);
        using RawSession owned = session;
        Task<StatusCode> activating = ActivateAsync(session, created, _user, _key);
        await Patience.UntilAsync(() => _asked is not null, "the user is being checked");

        using RawSession other = await RawSession.OpenAsync(_server);
        decided.SetResult();

        Assert.Equal(StatusCodes.BadSessionIdInvalid, await activating);
        Assert.Equal(StatusCodes.Good, (await other.TryAsync<BrowseRequest, BrowseResponse>(Root())).Status);
    }

    private static BrowseRequest Root() =>
        new() { NodesToBrowse = [new BrowseDescription { NodeId = new NodeId(0, 84), BrowseDirection = BrowseDirection.Forward }] };

    private static X509Certificate2 Certify(RSA key, DateTimeOffset notAfter) =>
        new CertificateRequest("CN=anna", key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1)
            .CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-2), notAfter);

    private static Task<StatusCode> ActivateAsync(
        RawSession session, in CreateSessionResponse created, X509Certificate2 certificate, RSA key, byte[]? nonce = null,
        string? algorithm = null) => ActivateAsync(session, created, certificate.RawData, key, nonce, algorithm);

    private static async Task<StatusCode> ActivateAsync(
        RawSession session, CreateSessionResponse created, byte[] certificate, RSA key, byte[]? nonce = null, string? algorithm = null)
    {
        var body = new ArrayBufferWriter<byte>();
        var encoder = new BinaryEncoder(body);
        encoder.WriteStructure(new X509IdentityToken { PolicyId = "certificate", CertificateData = certificate });
        encoder.Complete();
        byte[] signed = [.. created.ServerCertificate.Span, .. nonce ?? created.ServerNonce.Span];
        return (await session.TryAsync<ActivateSessionRequest, ActivateSessionResponse>(new ActivateSessionRequest
        {
            UserIdentityToken = new ExtensionObject(
                new NodeId(0, X509IdentityToken.EncodingId), ExtensionObjectEncoding.Binary, body.WrittenSpan.ToArray()),
            UserTokenSignature = new SignatureData
            {
                Algorithm = algorithm ?? SecurityPolicy.Basic256Sha256.SignatureUri,
                Signature = key.SignData(signed, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1),
            },
        })).Status;
    }
}
