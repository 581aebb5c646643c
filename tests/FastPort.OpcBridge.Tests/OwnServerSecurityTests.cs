using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPort.Security;
using FastPort.Tags;
using Xunit;

namespace FastPort.OpcBridge.Tests;

/// <summary>The bridge's own OPC UA server with the users, the policy and the bans of section <c>Security</c>, as a user runs it.</summary>
public sealed class OwnServerSecurityTests : IDisposable
{
    private const string Rules =
        """
        { "rules": [
          { "for": ["role:operator"], "readTags": ["press/*", "simulation/*"], "writeTags": ["press/speed"], "publishTags": ["press/*"] },
          { "for": ["user:bert"], "readTags": ["press/speed"] } ] }
        """;

    private readonly string _directory = Directory.CreateTempSubdirectory("own-").FullName;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Fact]
    public async Task Users_log_in_with_their_names_and_read_and_write_what_the_policy_allows()
    {
        UserFiles.Set(PathOf("users"), "anna", "a-secret", ["operator"]);
        UserFiles.Set(PathOf("users"), "bert", "b-secret", []);
        await File.WriteAllTextAsync(PathOf("policy"), Rules, TestContext.Current.CancellationToken);
        await using (BridgeProcess bridge = Start(
            ("Security__UsersFile", PathOf("users")), ("Security__PolicyFile", PathOf("policy")), ("Security__AuditFile", PathOf("audit"))))
        {
            string endpoint = await bridge.ListeningAsync("tcp");
            string url = await bridge.ListeningAsync("opc.tcp");
            var press = new MemoryTagSource();
            press.Add("press/speed", 12.5, isWritable: true);
            press.Add("press/table", 1, isWritable: true);
            await using TagClient publisher = await TagClient.ConnectAsync(new FastPortClientOptions
            {
                Endpoint = endpoint,
                RoutingId = "press-4",
                Token = "Basic " + Convert.ToBase64String(Encoding.UTF8.GetBytes("anna:a-secret")),
            });
            await publisher.PublishAsync(press);

            Assert.Equal(StatusCodes.BadUserAccessDenied, await RefusedAsync(url, User("anna", "b-secret")));
            Assert.Equal(StatusCodes.BadUserAccessDenied, await RefusedAsync(url, User("FastPort.OpcBridge", "b-secret")));
            Assert.Equal(StatusCodes.BadIdentityTokenInvalid, await RefusedAsync(url, new OpcUaClientOptions()));
            await using OpcUaClient anna = await OpcUaClient.ConnectAsync(url, User("anna", "a-secret"), cancellationToken: Patience.Token);
            await using OpcUaClient bert = await OpcUaClient.ConnectAsync(url, User("bert", "b-secret"), cancellationToken: Patience.Token);

            Assert.Equal([StatusCodes.Good, StatusCodes.Good], await StatusesAsync(anna, "press/speed", "press/table"));
            Assert.Equal([StatusCodes.Good, StatusCodes.BadUserAccessDenied], await StatusesAsync(bert, "press/speed", "press/table"));
            Assert.Equal([StatusCodes.Good, StatusCodes.BadUserAccessDenied], await WriteAsync(anna));
            Assert.Equal([StatusCodes.BadUserAccessDenied, StatusCodes.BadUserAccessDenied], await WriteAsync(bert));
            Assert.Equal(13.5, (await anna.ReadAsync([Id(anna, "press/speed")]))[0].Value);

            // The simulation, too, which the bridge itself reads there as a user of its own.
            NodeId simulated = Simulated(bert);
            Assert.Equal(StatusCodes.BadUserAccessDenied, (await bert.ReadAsync([simulated]))[0].Status);
            Assert.Equal(StatusCodes.Good, (await anna.ReadAsync([simulated]))[0].Status);
            Assert.True((await bert.ReadAsync([new NodeId(0, 2258)]))[0].Status.IsGood);
            await Patience.UntilAsync(
                async () => (await publisher.ReadAsync("simulation/Int32.0")).Status.IsGood, "the simulation is known");
            Assert.Equal(0, await bridge.TerminateAsync());
            Assert.Empty(bridge.Errors);
        }

        string audit = await File.ReadAllTextAsync(PathOf("audit"), TestContext.Current.CancellationToken);
        Assert.Contains("\"event\":\"user.refused\",\"remote\":\"127.0.0.1:", audit, StringComparison.Ordinal);
        Assert.Contains("\"user\":\"bert\",\"action\":\"writeTags\",\"name\":\"press/table\"", audit, StringComparison.Ordinal);
        Assert.DoesNotContain("secret", audit, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Certificates_of_the_authority_are_users_and_others_are_not()
    {
        using X509Certificate2 authority = Authority();
        using X509Certificate2 stranger = Authority();
        using X509Certificate2 anna = Issue(authority, "anna");
        using X509Certificate2 other = Issue(stranger, "anna");
        await File.WriteAllTextAsync(PathOf("ca.pem"), authority.ExportCertificatePem(), TestContext.Current.CancellationToken);
        await using BridgeProcess bridge = Start(
            ("FastPort__Tls__ClientCertificates", "Optional"),
            ("FastPort__Tls__ClientAuthorityFile", PathOf("ca.pem")),
            ("Security__CertificateUsers", "CommonName"));
        string url = await bridge.ListeningAsync("opc.tcp");

        await using (OpcUaClient client = await OpcUaClient.ConnectAsync(
            url, new OpcUaClientOptions { UserCertificate = anna }, cancellationToken: Patience.Token))
        {
            Assert.True((await client.ReadAsync([Simulated(client)]))[0].Status.IsGood);
        }

        Assert.Equal(StatusCodes.BadUserAccessDenied, await RefusedAsync(url, new OpcUaClientOptions { UserCertificate = other }));
        Assert.Equal(StatusCodes.BadIdentityTokenInvalid, await RefusedAsync(url, new OpcUaClientOptions()));
    }

    [Fact]
    public async Task Bans_are_those_of_the_host()
    {
        UserFiles.Set(PathOf("users"), "anna", "a", []);
        await using BridgeProcess bridge = Start(
            ("Security__UsersFile", PathOf("users")), ("Security__BansFile", PathOf("bans")), ("Security__AllowAnonymous", "true"));
        string url = await bridge.ListeningAsync("opc.tcp");
        await using OpcUaClient anna = await OpcUaClient.ConnectAsync(
            url, User("anna", "a"), cancellationToken: Patience.Token);
        await using OpcUaClient nobody = await OpcUaClient.ConnectAsync(url, Once(new()), cancellationToken: Patience.Token);
        Assert.True((await anna.ReadAsync([Simulated(anna)]))[0].Status.IsGood);

        BanFiles.Add(PathOf("bans"), new Ban("user:anna", DateTimeOffset.UtcNow + TimeSpan.FromHours(1)));

        // The bridge looks once a second.
        await Patience.UntilAsync(
            async () =>
            {
                try
                {
                    await anna.ReadAsync([new NodeId(0, 2258)]);
                    return false;
                }
                catch (OpcUaException)
                {
                    return true;
                }
            },
            "anna's session has ended");
        Assert.Equal(StatusCodes.BadUserAccessDenied, await RefusedAsync(url, User("anna", "a")));
        Assert.True((await nobody.ReadAsync([Simulated(nobody)]))[0].Status.IsGood);
    }

    private static OpcUaClientOptions User(string name, string password) => Once(new() { UserName = name, Password = password });

    private static OpcUaClientOptions Once(OpcUaClientOptions options)
    {
        options.Reconnect = false;
        options.Certificates.UnsafeTrustAll = true;
        return options;
    }

    private static async Task<StatusCode> RefusedAsync(string url, OpcUaClientOptions options) =>
        (await Assert.ThrowsAsync<OpcUaException>(() => OpcUaClient.ConnectAsync(url, options, cancellationToken: Patience.Token))).Status;

    private static async Task<StatusCode[]> StatusesAsync(OpcUaClient client, params string[] tags) =>
        [.. (await client.ReadAsync([.. tags.Select(tag => Id(client, tag))])).Select(static value => value.Status)];

    private static async Task<StatusCode[]> WriteAsync(OpcUaClient client) =>
        await client.WriteAsync([new(Id(client, "press/speed"), 13.5), new(Id(client, "press/table"), 2)]);

    private static NodeId Id(OpcUaClient client, string tag) => client.Namespaces.MakeId("urn:fastport:published", tag);

    private static NodeId Simulated(OpcUaClient client) => client.Namespaces.MakeId("urn:fastport:simulation", 1000);

    private static X509Certificate2 Authority()
    {
        using var key = RSA.Create(2048);
        var request = new CertificateRequest("CN=Test authority", key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        request.CertificateExtensions.Add(X509BasicConstraintsExtension.CreateForCertificateAuthority());
        return request.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
    }

    private static X509Certificate2 Issue(X509Certificate2 authority, string name)
    {
        using var key = RSA.Create(2048);
        var request = new CertificateRequest($"CN={name}", key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        using X509Certificate2 certificate = request.Create(
            authority, DateTimeOffset.UtcNow.AddHours(-1), DateTimeOffset.UtcNow.AddHours(1), Guid.NewGuid().ToByteArray());
        return certificate.CopyWithPrivateKey(key);
    }

    private string PathOf(string name) => Path.Combine(_directory, name);

    private BridgeProcess Start(params (string Key, string Value)[] environment) => BridgeProcess.Start(
        ["--listen", "tcp://127.0.0.1:0"],
        [
            ("OpcBridge__Listen", "opc.tcp://127.0.0.1:0"), ("OpcUaServer__Certificates__Directory", "pki"),
            ("Security__ReloadInterval", "00:00:01"), .. environment,
        ]);
}
