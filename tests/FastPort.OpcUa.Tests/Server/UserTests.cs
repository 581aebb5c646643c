using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Users with name and password: accepted, refused, and never sent in the clear.</summary>
public sealed class UserTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("opcua-").FullName;

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Theory]
    [InlineData(OpcUaSecurityPolicy.None, MessageSecurityMode.None)]
    [InlineData(OpcUaSecurityPolicy.Basic256Sha256, MessageSecurityMode.Sign)]
    [InlineData(OpcUaSecurityPolicy.Aes256Sha256RsaPss, MessageSecurityMode.SignAndEncrypt)]
    public async Task A_user_with_the_right_password_gets_a_session(OpcUaSecurityPolicy policy, MessageSecurityMode mode)
    {
        // Longer than a block of the server's key.
        string password = new string('p', 300) + "äöü";
        await using TestServer server = await StartAsync(policy, (user, given) => user == "anna" && given == password);

        await using OpcUaClient client = await ConnectAsync(server, policy, mode, "anna", password);
        Assert.Single(await client.ReadAsync([new NodeId(0, 2258)]));

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => ConnectAsync(server, policy, mode, "anna", "wrong"));
        Assert.Equal(StatusCodes.BadUserAccessDenied, e.Status);
    }

    /// <summary>Anybody can answer on a channel without security, and ask for a password that is encrypted for him.</summary>
    [Fact]
    public async Task Without_security_a_password_is_not_encrypted_for_a_stranger()
    {
        int checks = 0;
        await using TestServer server = await StartAsync(OpcUaSecurityPolicy.None, (_, _) => ++checks > 0);
        string folder = Path.Combine(_folder, "careful");
        var options = new OpcUaClientOptions { UserName = "anna", Password = "x" };
        options.Certificates.Directory = folder;

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync(options));

        Assert.Equal(StatusCodes.BadCertificateUntrusted, e.Status);
        Assert.Contains(Path.Combine(folder, "trusted"), e.Message, StringComparison.Ordinal);
        Assert.Equal(0, checks);
        Assert.False(Directory.Exists(Path.Combine(folder, "own")), "a certificate was made that nobody needs");

        string rejected = Assert.Single(Directory.GetFiles(Path.Combine(folder, "rejected")));
        File.Move(rejected, Path.Combine(folder, "trusted", Path.GetFileName(rejected)));
        await using OpcUaClient client = await server.ConnectAsync(options);
        Assert.Equal(1, checks);
    }

    /// <summary>As of a program with a server and a client that share a directory.</summary>
    [Fact]
    public async Task Without_security_a_password_is_encrypted_for_a_server_with_the_clients_own_certificate()
    {
        await using TestServer server = await StartAsync(OpcUaSecurityPolicy.None, static (_, _) => true);
        var options = new OpcUaClientOptions { UserName = "anna", Password = "x" };
        options.Certificates.Directory = Path.Combine(_folder, "server");

        await using OpcUaClient client = await server.ConnectAsync(options);

        Assert.Single(await client.ReadAsync([new NodeId(0, 2258)]));
    }

    [Fact]
    public async Task Without_a_user_there_is_no_session_where_anonymous_clients_are_not_allowed()
    {
        await using TestServer server = await StartAsync(OpcUaSecurityPolicy.None, static (_, _) => true, allowAnonymous: false);

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
            () => ConnectAsync(server, OpcUaSecurityPolicy.None, MessageSecurityMode.None, null, string.Empty));

        Assert.Equal(StatusCodes.BadIdentityTokenInvalid, e.Status);
    }

    [Fact]
    public async Task The_log_says_why_a_user_was_refused()
    {
        // A refusal a second has a line.
        var time = new FakeTimeProvider();
        var log = new RecordingLog();
        var bans = new BanList();
        bans.Add(new Ban("user:bob", DateTimeOffset.UtcNow + TimeSpan.FromHours(1)));
        await using TestServer server = await TestServer.StartAsync(
            configure: o =>
            {
                o.AllowAnonymous = false;
                o.Bans = bans;
                o.Certificates.Directory = Path.Combine(_folder, "server");
                o.ValidateUser = static (user, password, _) =>
                    user == "eve" ? throw new InvalidOperationException("on purpose") : new ValueTask<bool>(password == "right");
            },
            time: time,
            log: log);
        (string? User, string Password, string Reason)[] cases =
        [
            ("anna", "wrong", "the name or the password is wrong"),
            ("bob", "right", "the user is banned"),
            ("eve", "right", "the check of the user threw"),
            (null, string.Empty, "BadIdentityTokenInvalid"),
        ];

        foreach ((string? user, string password, _) in cases)
        {
            time.Advance(TimeSpan.FromSeconds(1));
            await Assert.ThrowsAsync<OpcUaException>(
                () => ConnectAsync(server, OpcUaSecurityPolicy.None, MessageSecurityMode.None, user, password));
        }

        Assert.Equal(
            cases.Select(static one => one.Reason), log.WithId(7004).Select(static line => line.Text.Split("was refused: ")[1]));
    }

    [Fact]
    public async Task A_check_that_throws_refuses_the_user()
    {
        await using TestServer server = await StartAsync(
            OpcUaSecurityPolicy.None, static (_, _) => throw new InvalidOperationException("on purpose"));

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
            () => ConnectAsync(server, OpcUaSecurityPolicy.None, MessageSecurityMode.None, "anna", "x"));

        Assert.Equal(StatusCodes.BadUserAccessDenied, e.Status);
    }

    /// <summary>A slow hash would hold up all connections of the loop, as often as a stranger likes.</summary>
    [Fact]
    public async Task A_user_is_checked_on_the_thread_pool()
    {
        bool? isOfPool = null;
        await using TestServer server = await StartCheckingAsync(OpcUaSecurityPolicy.None, (_, _) =>
        {
            isOfPool = Thread.CurrentThread.IsThreadPoolThread;
            return Task.FromResult(true);
        });

        await using OpcUaClient client = await ConnectAsync(server, OpcUaSecurityPolicy.None, MessageSecurityMode.None, "anna", "x");

        Assert.True(isOfPool);
    }

    [Fact]
    public async Task A_name_or_a_password_without_end_is_not_checked()
    {
        int checks = 0;
        await using TestServer server = await StartAsync(OpcUaSecurityPolicy.None, (_, _) => ++checks > 0);

        foreach ((string name, string password) in new[] { (new string('n', 4097), "x"), ("anna", new string('p', 4097)) })
        {
            OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
                () => ConnectAsync(server, OpcUaSecurityPolicy.None, MessageSecurityMode.None, name, password));
            Assert.Equal(StatusCodes.BadIdentityTokenInvalid, e.Status);
        }

        Assert.Equal(0, checks);
    }

    /// <summary>RSA of a request holds up the opening of every other channel of the process.</summary>
    [Fact]
    public void A_password_of_more_blocks_than_the_longest_needs_is_refused_before_one_is_decrypted()
    {
        SecurityPolicy policy = SecurityPolicy.Basic256Sha256;
        byte[] nonce = new byte[32];
        using var key = new CountingKey();
        byte[] longest = new byte[4096];
        byte[] sent = EncryptedSecret.Encrypt(policy, key, longest, nonce);
        Assert.True(EncryptedSecret.TryDecrypt(policy, key, sent, nonce, longest.Length, out byte[] secret));
        Assert.Equal(longest, secret);
        Assert.Equal(sent.Length / 256, key.Decrypted);
        byte[] oneMore = EncryptedSecret.Encrypt(policy, key, new byte[4097], nonce);
        Assert.False(EncryptedSecret.TryDecrypt(policy, key, oneMore, nonce, longest.Length, out secret));
        Assert.Empty(secret);
        int before = key.Decrypted;

        byte[] repeated = new byte[16 * 1024 * 1024];
        for (int i = 0; i < repeated.Length; i += 256)
        {
            sent.AsSpan(0, 256).CopyTo(repeated.AsSpan(i));
        }

        Assert.False(EncryptedSecret.TryDecrypt(policy, key, repeated, nonce, longest.Length, out secret));
        Assert.False(EncryptedSecret.TryDecrypt(policy, key, [.. sent, .. sent[..256]], nonce, longest.Length, out secret));
        Assert.Equal(before, key.Decrypted);
        Assert.Empty(secret);
    }

    /// <summary>Checks wait for each other, those of other servers in the process too.</summary>
    [Fact]
    public async Task A_channel_has_one_user_checked_at_a_time()
    {
        const int Requests = 20;
        var answer = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        int checks = 0;
        await using TestServer server = await StartCheckingAsync(OpcUaSecurityPolicy.None, (_, _) =>
        {
            Interlocked.Increment(ref checks);
            return answer.Task;
        });
        (RawSession session, CreateSessionResponse created) = await RawSession.CreateAsync(server);
        SecurityPolicy policy = SecurityPolicy.Basic256Sha256;
        using X509Certificate2 certificate = CertificateStore.TryReadLeaf(created.ServerCertificate.Span)!;
        using RSA key = certificate.GetRSAPublicKey()!;
        var request = new ActivateSessionRequest
        {
            UserIdentityToken = new UserNameIdentityToken
            {
                PolicyId = "username",
                UserName = "anna",
                Password = EncryptedSecret.Encrypt(policy, key, "x"u8, created.ServerNonce.Span),
                EncryptionAlgorithm = policy.EncryptionUri,
            }.ToExtensionObject(),
        };
        List<uint> sent = [];
        for (int i = 0; i < Requests; i++)
        {
            sent.Add(await session.SendAsync(request));
        }

        foreach (uint id in sent.Skip(1))
        {
            Assert.Equal(StatusCodes.BadTooManyOperations, (await session.ReceiveAsync<ServiceFault>(id)).Status);
        }

        Assert.Equal(1, checks);
        answer.SetResult(true);
        Assert.Equal(StatusCodes.Good, (await session.ReceiveAsync<ActivateSessionResponse>(sent[0])).Status);
        session.Dispose();
    }

    [Fact]
    public async Task A_server_without_users_is_not_told_the_password()
    {
        await using TestServer server = await TestServer.StartAsync();

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
            () => ConnectAsync(server, OpcUaSecurityPolicy.None, MessageSecurityMode.None, "anna", "x"));

        Assert.Equal(StatusCodes.BadIdentityTokenRejected, e.Status);
        Assert.EndsWith("; it accepts Anonymous. Set neither UserName nor UserCertificate.", e.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(AnonymousIdentityToken.EncodingIdNumber)]
    [InlineData(UserNameIdentityToken.EncodingIdNumber)]
    [InlineData(X509IdentityToken.EncodingIdNumber)]
    [InlineData((ushort)940)]
    public async Task A_token_of_a_kind_that_is_not_offered_is_not_valid(ushort kind)
    {
        await using TestServer server = await TestServer.StartAsync(configure: static o => o.AllowAnonymous = false);
        (RawSession session, _) = await RawSession.CreateAsync(server);
        var token = new ExtensionObject(new NodeId(0, kind), ExtensionObjectEncoding.Binary, new byte[4]);

        (StatusCode status, _) = await session.TryAsync<ActivateSessionRequest, ActivateSessionResponse>(
            new ActivateSessionRequest { UserIdentityToken = token });

        Assert.Equal(StatusCodes.BadIdentityTokenInvalid, status);
        session.Dispose();
    }

    private Task<TestServer> StartAsync(OpcUaSecurityPolicy policy, Func<string, string, bool> check, bool allowAnonymous = true) =>
        StartCheckingAsync(
            policy,
            async (user, password) =>
            {
                await Task.Yield();
                return check(user, password);
            },
            allowAnonymous);

    private async Task<TestServer> StartCheckingAsync(
        OpcUaSecurityPolicy policy, Func<string, string, Task<bool>> check, bool allowAnonymous = true)
    {
        return await TestServer.StartAsync(configure: o =>
        {
            o.SecurityPolicies = [.. new[] { OpcUaSecurityPolicy.None, policy }.Distinct()];
            o.AllowAnonymous = allowAnonymous;
            o.Certificates.Directory = Path.Combine(_folder, "server");
            o.Certificates.UnsafeTrustAll = true;
            o.ValidateUser = (user, password, _) => new ValueTask<bool>(check(user, password));
        });
    }

    private Task<OpcUaClient> ConnectAsync(
        TestServer server, OpcUaSecurityPolicy policy, MessageSecurityMode mode, string? user, string password)
    {
        var options = new OpcUaClientOptions { SecurityPolicy = policy, SecurityMode = mode, UserName = user, Password = password };
        options.Certificates.Directory = Path.Combine(_folder, "client");
        options.Certificates.UnsafeTrustAll = true;
        return server.ConnectAsync(options);
    }

    private sealed class CountingKey : RSA
    {
        private readonly RSA _key = Create(2048);

        public int Decrypted { get; private set; }

        public override int KeySize => _key.KeySize;

        public override byte[] Encrypt(byte[] data, RSAEncryptionPadding padding) => _key.Encrypt(data, padding);

        public override byte[] Decrypt(byte[] data, RSAEncryptionPadding padding)
        {
            Decrypted++;
            return _key.Decrypt(data, padding);
        }

        public override RSAParameters ExportParameters(bool includePrivateParameters) => _key.ExportParameters(includePrivateParameters);

        public override void ImportParameters(RSAParameters parameters) => _key.ImportParameters(parameters);

        protected override void Dispose(bool disposing)
        {
            _key.Dispose();
            base.Dispose(disposing);
        }
    }
}
