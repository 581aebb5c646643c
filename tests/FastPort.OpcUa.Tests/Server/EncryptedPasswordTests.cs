using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Passwords as clients of other stacks encrypt them (OPC 10000-4, 7.41.2), on channels of every policy.</summary>
public sealed class EncryptedPasswordTests : IAsyncDisposable
{
    private static readonly TemporaryDirectory Shared = TemporaryDirectory.OfProcess();

    private readonly List<string> _checked = [];
    private TestServer? _server;

    /// <summary>The policy of the channel, and that of the user's token.</summary>
    public static TheoryData<OpcUaSecurityPolicy, OpcUaSecurityPolicy> Policies => new()
    {
        { OpcUaSecurityPolicy.None, OpcUaSecurityPolicy.Basic256Sha256 },
        { OpcUaSecurityPolicy.Basic256Sha256, OpcUaSecurityPolicy.Basic256Sha256 },
        { OpcUaSecurityPolicy.Aes128Sha256RsaOaep, OpcUaSecurityPolicy.Aes128Sha256RsaOaep },
        { OpcUaSecurityPolicy.Aes256Sha256RsaPss, OpcUaSecurityPolicy.Aes256Sha256RsaPss },
    };

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
        {
            await _server.DisposeAsync();
        }
    }

    [Theory]
    [MemberData(nameof(Policies))]
    public async Task A_last_block_that_is_filled_with_zeros_logs_in(OpcUaSecurityPolicy channel, OpcUaSecurityPolicy policy)
    {
        // The second fills a block, after which the OPC Foundation's stack sends one of zeros.
        int full = 256 - SecurityPolicy.Of(policy).EncryptionOverheadBytes - sizeof(uint) - 32;
        foreach (string password in new[] { "secret", new string('p', full), new string('p', 300) })
        {
            StatusCode status = await LoginAsync(
                channel, policy, (one, key, nonce) => Passwords.Padded(one, key, Utf8(password), nonce), nameAlgorithm: true);
            Assert.Equal((StatusCodes.Good, password), (status, _checked.LastOrDefault()));
        }
    }

    [Theory]
    [MemberData(nameof(Policies))]
    public async Task A_last_block_that_is_filled_with_something_else_is_not_valid(OpcUaSecurityPolicy channel, OpcUaSecurityPolicy policy)
    {
        foreach (byte[] fill in new byte[][] { [1], [0, 0, 0, 1] })
        {
            StatusCode status = await LoginAsync(
                channel, policy, (one, key, nonce) => Passwords.Padded(one, key, "secret"u8, nonce, fill), nameAlgorithm: true);
            Assert.Equal(StatusCodes.BadIdentityTokenInvalid, status);
        }

        Assert.Empty(_checked);
    }

    [Theory]
    [MemberData(nameof(Policies))]
    public async Task A_long_password_comes_as_an_encrypted_secret_without_an_algorithm(
        OpcUaSecurityPolicy channel, OpcUaSecurityPolicy policy)
    {
        foreach (int length in new[] { 0, 70, 4096 })
        {
            string password = new('p', length);
            foreach (bool asFoundation in new[] { false, true })
            {
                StatusCode status = await LoginAsync(
                    channel, policy, (one, key, nonce) => Passwords.Secret(one, key, Utf8(password), nonce, asFoundation));
                Assert.Equal((StatusCodes.Good, password), (status, _checked.LastOrDefault()));
            }
        }
    }

    [Theory]
    [MemberData(nameof(Policies))]
    public async Task A_client_that_names_no_algorithm_has_used_that_of_the_policy(OpcUaSecurityPolicy channel, OpcUaSecurityPolicy policy)
    {
        StatusCode status = await LoginAsync(channel, policy, (one, key, nonce) => Passwords.Padded(one, key, "secret"u8, nonce));

        Assert.Equal((StatusCodes.Good, "secret"), (status, _checked.LastOrDefault()));
    }

    /// <summary>On an encrypted channel a password may also come as it is.</summary>
    [Fact]
    public async Task What_cannot_be_decrypted_is_never_taken_for_the_password()
    {
        const OpcUaSecurityPolicy Policy = OpcUaSecurityPolicy.Basic256Sha256;
        using var other = RSA.Create(2048);
        Func<SecurityPolicy, RSA, byte[], byte[]>[] all =
        [
            (policy, _, nonce) => Passwords.Padded(policy, other, "secret"u8, nonce),
            (policy, _, nonce) => Passwords.Secret(policy, other, "secret"u8, nonce, asFoundation: false),
            (policy, key, _) => Passwords.Padded(policy, key, "secret"u8, new byte[32]),
            (policy, key, _) => Passwords.Secret(policy, key, "secret"u8, new byte[32], asFoundation: false),
            (policy, key, nonce) => Passwords.Secret(policy, key, new byte[4097], nonce, asFoundation: false),
            (policy, key, nonce) => Changed(Passwords.Secret(policy, key, "secret"u8, nonce, asFoundation: false), ^40),
            (policy, key, nonce) => Changed(Passwords.Secret(policy, key, "secret"u8, nonce, asFoundation: false), ^1),
            (policy, key, nonce) => Passwords.Secret(policy, key, "secret"u8, nonce, asFoundation: false)[..^1],
            (policy, key, nonce) => Passwords.Secret(policy, key, "secret"u8, nonce, asFoundation: false)[..9],
        ];
        foreach (Func<SecurityPolicy, RSA, byte[], byte[]> make in all)
        {
            Assert.Equal(StatusCodes.BadIdentityTokenInvalid, await LoginAsync(Policy, Policy, make));
        }

        Assert.Empty(_checked);
        Assert.Equal(StatusCodes.Good, await LoginAsync(Policy, Policy, (_, _, _) => [.. "plain ä"u8]));
        Assert.Equal(["plain ä"], _checked);
    }

    private static byte[] Utf8(string text) => System.Text.Encoding.UTF8.GetBytes(text);

    private static byte[] Changed(byte[] bytes, Index at)
    {
        bytes[at] ^= 1;
        return bytes;
    }

    // Creates a session on a channel of its own and activates it for a user; returns the status of that.
    private async Task<StatusCode> LoginAsync(
        OpcUaSecurityPolicy channelPolicy, OpcUaSecurityPolicy tokenPolicy, Func<SecurityPolicy, RSA, byte[], byte[]> encrypt,
        bool nameAlgorithm = false)
    {
        _server ??= await TestServer.StartAsync(configure: o =>
        {
            o.SecurityPolicies = Enum.GetValues<OpcUaSecurityPolicy>();
            o.Certificates.Directory = Shared["server"];
            o.Certificates.UnsafeTrustAll = true;
            o.ValidateUser = (_, password, _) =>
            {
                _checked.Add(password);
                return new(true);
            };
        });
        SecurityPolicy policy = SecurityPolicy.Of(channelPolicy), token = SecurityPolicy.Of(tokenPolicy);
        byte[] serverCertificate = _server.Server.Certificates!.Own.Der;
        using var own = ApplicationCertificate.Create("urn:test:client", "client", [], DateTimeOffset.UtcNow);
        using ChannelCredentials? credentials = policy.IsNone
            ? null
            : new ChannelCredentials(policy, own, CertificateStore.TryReadLeaf(serverCertificate)!);
        await using ChannelClient client = await ChannelClient.ConnectAsync(_server.Url, credentials);
        await client.Channel.Opened.InTimeAsync();
        ServiceResult<CreateSessionResponse> created = await client.Channel.SendAsync(
            NodeId.Null,
            new CreateSessionRequest
            {
                ClientDescription = new ApplicationDescription { ApplicationUri = "urn:test:client" },
                ClientNonce = new byte[32],
                ClientCertificate = own.Der,
                RequestedSessionTimeout = 60_000,
            },
            new Stack<PendingRequest<CreateSessionResponse>>(),
            Patience.Token);
        Assert.Equal(StatusCodes.Good, created.Status);
        byte[] nonce = created.Response.ServerNonce.Span.ToArray();
        using X509Certificate2 certificate = X509CertificateLoader.LoadCertificate(serverCertificate);
        using RSA key = certificate.GetRSAPublicKey()!;
        ServiceResult<ActivateSessionResponse> activated = await client.Channel.SendAsync(
            created.Response.AuthenticationToken,
            new ActivateSessionRequest
            {
                ClientSignature = new SignatureData { Algorithm = policy.SignatureUri, Signature = credentials?.SignPeer(nonce) },
                UserIdentityToken = new UserNameIdentityToken
                {
                    PolicyId = "username",
                    UserName = "anna",
                    Password = encrypt(token, key, nonce),
                    EncryptionAlgorithm = nameAlgorithm ? token.EncryptionUri : null,
                }.ToExtensionObject(),
            },
            new Stack<PendingRequest<ActivateSessionResponse>>(),
            Patience.Token);
        return activated.Status;
    }
}
