using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.Encoding;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Services;
using FastPort.OpcUa.Tests.Support;
using Xunit;

namespace FastPort.OpcUa.Tests.Client;

/// <content>Passwords, encrypted and in the clear.</content>
public sealed partial class ClientUserTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_certificate_that_the_password_cannot_be_encrypted_with_is_not_kept_for_the_next_attempt(bool isReadable)
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        await using var server = new ScriptedServer();
        using X509Certificate2 good = CreateCertificate("CN=server");
        var certificates = new Queue<byte[]>(Enumerable.Repeat(isReadable ? BadKeys.Unusable() : BadKeys.Unreadable(), 2));
        OfferUsers(server, () => certificates.TryDequeue(out byte[]? bad) ? bad : good.RawData, ["Basic256Sha256"]);
        var options = new OpcUaClientOptions
        {
            Certificates = { Directory = folder, UnsafeTrustAll = true },
            UserName = "anna",
            RetryConnect = true,
            ReconnectDelay = TimeSpan.FromMilliseconds(1),
        };

        await using (OpcUaClient client = await server.ConnectAsync(options).InTimeAsync())
        {
            Assert.Empty(certificates);
        }

        certificates.Enqueue(BadKeys.Unreadable());
        options.RetryConnect = false;
        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync(options));
        Assert.Equal(StatusCodes.BadCertificateInvalid, e.Status);
        Directory.Delete(folder, recursive: true);
    }

    /// <summary>Some devices know nothing else.</summary>
    [Fact]
    public async Task A_password_is_sent_in_the_clear_only_where_an_option_says_so_and_the_log_has_it()
    {
        await using var server = new ScriptedServer();
        using X509Certificate2 certificate = OfferUsers(server, "None", "Basic256");
        List<UserNameIdentityToken> sent = [];
        server.On<ActivateSessionRequest>(call =>
        {
            ExtensionObject token = call.Request<ActivateSessionRequest>().UserIdentityToken!;
            sent.Add(new BinaryDecoder(token.Body.Span, EncodingLimits.Default).ReadStructure<UserNameIdentityToken>());
            return call.ReplyAsync(default(ActivateSessionResponse));
        });
        var options = new OpcUaClientOptions { UserName = "anna", Password = "secret" };
        var log = new RecordingLog();

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync(options));
        Assert.Contains(nameof(OpcUaClientOptions.UnsafePlainPassword), e.Message, StringComparison.Ordinal);
        Assert.Empty(sent);

        options.UnsafePlainPassword = true;
        await using OpcUaClient client = await OpcUaClient.ConnectAsync(server.Url, options, log);
        UserNameIdentityToken token = Assert.Single(sent);
        Assert.True(token.Password.Span.SequenceEqual("secret"u8));
        Assert.Equal((null, "None"), (token.EncryptionAlgorithm, token.PolicyId));
        Assert.Single(log.WithId(7112));
    }

    [Fact]
    public async Task The_option_for_passwords_in_the_clear_changes_nothing_where_they_can_be_encrypted()
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        await using var server = new ScriptedServer();
        using X509Certificate2 certificate = OfferUsers(server, "None", "Basic256Sha256");
        UserNameIdentityToken sent = default;
        server.On<ActivateSessionRequest>(call =>
        {
            ExtensionObject token = call.Request<ActivateSessionRequest>().UserIdentityToken!;
            sent = new BinaryDecoder(token.Body.Span, EncodingLimits.Default).ReadStructure<UserNameIdentityToken>();
            return call.ReplyAsync(default(ActivateSessionResponse));
        });
        var options = new OpcUaClientOptions { UserName = "anna", Password = "secret", UnsafePlainPassword = true };
        options.Certificates.Directory = folder;
        options.Certificates.UnsafeTrustAll = true;

        await using (OpcUaClient client = await server.ConnectAsync(options))
        {
            Assert.Equal(SecurityPolicy.Basic256Sha256.EncryptionUri, sent.EncryptionAlgorithm);
        }

        Directory.Delete(folder, recursive: true);
    }

    /// <summary>
    /// The legacy format is for 64 bytes at most (OPC 10000-4, 7.41.2.1), but many servers know no other.
    /// </summary>
    [Theory]
    [InlineData(64, false)]
    [InlineData(65, false)]
    [InlineData(65, true)]
    public async Task A_long_password_is_sent_as_an_encrypted_secret_and_as_older_servers_know_it_where_they_refuse_that(
        int length, bool isOlder)
    {
        string folder = Directory.CreateTempSubdirectory("opcua-").FullName;
        await using var server = new ScriptedServer();
        using X509Certificate2 certificate = OfferUsers(server, "Basic256Sha256");
        List<UserNameIdentityToken> sent = [];
        server.On<ActivateSessionRequest>(call =>
        {
            ExtensionObject token = call.Request<ActivateSessionRequest>().UserIdentityToken!;
            sent.Add(new BinaryDecoder(token.Body.Span, EncodingLimits.Default).ReadStructure<UserNameIdentityToken>());
            return isOlder && sent[^1].EncryptionAlgorithm is null
                ? call.FaultAsync(StatusCodes.BadIdentityTokenInvalid)
                : call.ReplyAsync(default(ActivateSessionResponse));
        });
        var options = new OpcUaClientOptions { UserName = "anna", Password = new string('p', length) };
        options.Certificates.Directory = folder;
        options.Certificates.UnsafeTrustAll = true;

        await using (OpcUaClient client = await server.ConnectAsync(options))
        {
            byte[] head = [1, 0, 0x89, 0x44, 1];
            Assert.Equal(
                length == 64 ? [false] : isOlder ? [true, false] : [true],
                sent.Select(one => one.EncryptionAlgorithm is null && one.Password.Span.StartsWith(head)));
        }

        Directory.Delete(folder, recursive: true);
    }
}
