using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.OpcUa.Client;
using FastPort.OpcUa.SecureChannel;
using FastPort.OpcUa.Server;
using FastPort.OpcUa.Tests.Support;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.OpcUa.Tests.Server;

/// <summary>Our client and our server with every policy and mode, and what they refuse.</summary>
public sealed class SecurityTests : IDisposable
{
    // Keys take long to make: one for each side, for all tests that do not look at the folders.
    private static readonly TemporaryDirectory Shared = TemporaryDirectory.OfProcess();

    private readonly string _own = Directory.CreateTempSubdirectory("opcua-").FullName;

    public static TheoryData<OpcUaSecurityPolicy, MessageSecurityMode> Kinds
    {
        get
        {
            var kinds = new TheoryData<OpcUaSecurityPolicy, MessageSecurityMode>();
            foreach (OpcUaSecurityPolicy policy in Enum.GetValues<OpcUaSecurityPolicy>().Where(static p => p != OpcUaSecurityPolicy.None))
            {
                kinds.Add(policy, MessageSecurityMode.Sign);
                kinds.Add(policy, MessageSecurityMode.SignAndEncrypt);
            }

            return kinds;
        }
    }

    public void Dispose() => Directory.Delete(_own, recursive: true);

    [Theory]
    [MemberData(nameof(Kinds))]
    public async Task Values_methods_and_long_messages_pass_with_every_policy_and_mode(OpcUaSecurityPolicy policy, MessageSecurityMode mode)
    {
        byte[] package = new byte[1_000_000];
        new Random(1).NextBytes(package);
        await using TestServer server = await StartAsync(policy, space =>
        {
            space.AddVariable(AddressSpace.ObjectsFolder, new NodeId(2, 1), "v", 5, writable: true);
            space.AddObject(AddressSpace.ObjectsFolder, new NodeId(2, 2), "o");
            space.AddMethod(
                new NodeId(2, 2),
                new NodeId(2, 3),
                "Echo",
                [new("In", BuiltInType.ByteString)],
                [new("Out", BuiltInType.ByteString)],
                static (inputs, _) => new(MethodResult.Good(inputs.Span[0])));
        });
        await using OpcUaClient client = await ConnectAsync(server, policy, mode);

        Assert.Equal(StatusCodes.Good, Assert.Single(await client.WriteAsync([new(new NodeId(2, 1), 6)])));
        Assert.Equal(6, Assert.Single(await client.ReadAsync([new NodeId(2, 1)])).Value.Get<int>());
        MethodCallResult echoed = await client.CallAsync(new NodeId(2, 2), new NodeId(2, 3), [(ByteString)package]);
        Assert.True(echoed.Outputs[0].Get<ByteString>().Span.SequenceEqual(package));
    }

    [Fact]
    public async Task Strangers_are_refused_on_both_sides_until_they_are_trusted()
    {
        string serverFolder = Path.Combine(_own, "server"), clientFolder = Path.Combine(_own, "client");
        await using TestServer server = await TestServer.StartAsync(configure: o =>
        {
            o.SecurityPolicies = [OpcUaSecurityPolicy.None, OpcUaSecurityPolicy.Basic256Sha256];
            o.Certificates.Directory = serverFolder;
        });
        var options = new OpcUaClientOptions { SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256 };
        options.Certificates.Directory = clientFolder;

        OpcUaException unknownServer = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync(options));
        Assert.Equal(StatusCodes.BadCertificateUntrusted, unknownServer.Status);
        Assert.Contains(Path.Combine(clientFolder, "trusted"), unknownServer.Message, StringComparison.Ordinal);
        Trust(clientFolder);

        OpcUaException unknownClient = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync(options));
        Assert.Equal(StatusCodes.BadSecurityChecksFailed, unknownClient.Status);
        Trust(serverFolder);

        await using OpcUaClient client = await server.ConnectAsync(options);
        Assert.Single(await client.ReadAsync([new NodeId(0, 2258)]));
        if (!OperatingSystem.IsWindows())
        {
            Assert.Equal(
                UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(Path.Combine(serverFolder, "own", "key.pem")));
        }

        static void Trust(string folder)
        {
            string rejected = Assert.Single(Directory.GetFiles(Path.Combine(folder, "rejected")));
            File.Move(rejected, Path.Combine(folder, "trusted", Path.GetFileName(rejected)));
        }
    }

    /// <summary>What an operator has mended shows the next obstacle: who reads the log sees it, with what to do.</summary>
    [Fact]
    public async Task A_client_that_tries_again_and_again_tells_each_obstacle_once()
    {
        string serverFolder = Path.Combine(_own, "server"), clientFolder = Path.Combine(_own, "client");
        RecordingLog log = new(), serverLog = new();
        string password = "wrong";
        await using TestServer server = await TestServer.StartAsync(
            configure: o =>
            {
                o.SecurityPolicies = [OpcUaSecurityPolicy.Basic256Sha256];
                o.Certificates.Directory = serverFolder;
                o.ValidateUser = (_, given, _) => new(given == Volatile.Read(ref password));
            },
            log: serverLog);
        var options = new OpcUaClientOptions
        {
            SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256,
            UserName = "ann",
            Password = "right",
            RetryConnect = true,
            ReconnectDelay = TimeSpan.FromMilliseconds(1),
            MaxReconnectDelay = TimeSpan.FromMilliseconds(1),
        };
        options.Certificates.Directory = clientFolder;
        Task<OpcUaClient> connecting = OpcUaClient.ConnectAsync(server.Url, options, log);

        string first = await ToldAsync("BadCertificateUntrusted");
        Assert.Contains($"move its file from {Path.Combine(clientFolder, "rejected")} to ", first, StringComparison.Ordinal);
        Trust(clientFolder, serverFolder);

        string second = await ToldAsync("BadSecurityChecksFailed");
        Assert.Contains(Path.Combine(clientFolder, "own", "certificate.pem"), second, StringComparison.Ordinal);
        Assert.EndsWith(
            $"To trust it, move its file from {Path.Combine(serverFolder, "rejected")} to {Path.Combine(serverFolder, "trusted")}",
            serverLog.WithId(7003)[0].Text,
            StringComparison.Ordinal);
        Trust(serverFolder, clientFolder);

        Assert.EndsWith(
            "BadUserAccessDenied. The server refuses the user 'ann': correct UserName and Password.",
            await ToldAsync("BadUserAccessDenied"),
            StringComparison.Ordinal);
        Volatile.Write(ref password, "right");
        await (await connecting.InTimeAsync()).DisposeAsync();
        string[] all = [.. log.WithId(7102).Where(static line => line.Level == LogLevel.Warning).Select(static line => line.Text)];
        Assert.Equal(all.Distinct(), all);

        // The warning about a status, when the same failure has come again.
        async Task<string> ToldAsync(string status)
        {
            string? told = null;
            await Patience.UntilAsync(
                () => (told = Find(LogLevel.Warning, status)) is not null && Find(LogLevel.Debug, told) is not null,
                $"{status} is told, and has come again");
            return told!;
        }

        string? Find(LogLevel level, string text) => log.WithId(7102)
            .FirstOrDefault(line => line.Level == level && line.Text.Contains(text, StringComparison.Ordinal))?.Text;

        // In one step: who reads the folder meanwhile finds the whole file or none.
        static void Trust(string folder, string other)
        {
            string copy = Path.Combine(folder, "copy.pem");
            File.Copy(Path.Combine(other, "own", "certificate.pem"), copy);
            File.Move(copy, Path.Combine(folder, "trusted", "other.pem"));
        }
    }

    /// <summary>The folder of rejected certificates is not writable, so there is no file to move.</summary>
    [Fact]
    public async Task A_refused_certificate_that_could_not_be_saved_is_not_said_to_be_in_the_folder()
    {
        string serverFolder = Path.Combine(_own, "server"), clientFolder = Path.Combine(_own, "client");
        await using TestServer server = await TestServer.StartAsync(configure: o =>
        {
            o.SecurityPolicies = [OpcUaSecurityPolicy.Basic256Sha256];
            o.Certificates.Directory = serverFolder;
        });
        using X509Certificate2 own =
            X509CertificateLoader.LoadCertificateFromFile(Path.Combine(serverFolder, "own", "certificate.pem"));
        string rejected = Path.Combine(clientFolder, "rejected"), trusted = Path.Combine(clientFolder, "trusted");
        Directory.CreateDirectory(Path.Combine(rejected, $"{own.Thumbprint}.der"));
        var options = new OpcUaClientOptions { SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256 };
        options.Certificates.Directory = clientFolder;

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync(options));

        Assert.EndsWith(
            $" To trust it, put it into {trusted}. It could not be saved in {rejected}: make that folder writable.",
            e.Message,
            StringComparison.Ordinal);
    }

    /// <summary>Whoever has a certificate of a trusted authority could be every server otherwise.</summary>
    [Fact]
    public async Task A_server_with_another_hosts_certificate_is_refused()
    {
        using X509Certificate2 authority = Issue("CN=authority");
        using X509Certificate2 own = Issue("CN=press-1", authority, "press-1.plant");
        string serverFolder = Path.Combine(_own, "server"), clientFolder = Path.Combine(_own, "client");
        PutOwn(serverFolder, own);
        Put(clientFolder, authority);
        await using TestServer server = await TestServer.StartAsync(configure: o =>
        {
            o.SecurityPolicies = [OpcUaSecurityPolicy.Basic256Sha256];
            o.ApplicationUri = "urn:test:server";
            o.Certificates.Directory = serverFolder;
            o.Certificates.UnsafeTrustAll = true;
        });
        var options = new OpcUaClientOptions { SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256 };
        options.Certificates.Directory = clientFolder;

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync(options));

        Assert.Equal(StatusCodes.BadCertificateHostNameInvalid, e.Status);
        Assert.Contains("It is for press-1.plant, not for 127.0.0.1.", e.Message, StringComparison.Ordinal);
        string rejected = Assert.Single(Directory.GetFiles(Path.Combine(clientFolder, "rejected")));
        File.Move(rejected, Path.Combine(clientFolder, "trusted", Path.GetFileName(rejected)));
        await using OpcUaClient client = await server.ConnectAsync(options);
    }

    /// <summary>
    /// An expired certificate is not saved, so the message does not ask to move its file. It has the validity period and the machine's
    /// time: one of the two is wrong.
    /// </summary>
    [Fact]
    public async Task Certificates_that_have_expired_are_refused_with_their_times_and_nothing_to_move()
    {
        DateTimeOffset past = DateTimeOffset.UtcNow.AddYears(-6);
        string serverFolder = Path.Combine(_own, "server"), clientFolder = Path.Combine(_own, "client");
        MakeOwn(serverFolder, "urn:test:server", past);
        MakeOwn(clientFolder, "urn:test:client", past);
        Trust(clientFolder, serverFolder);
        Trust(serverFolder, clientFolder);
        var log = new RecordingLog();
        await using TestServer server = await TestServer.StartAsync(
            configure: o =>
            {
                o.SecurityPolicies = [OpcUaSecurityPolicy.Basic256Sha256];
                o.Certificates.Directory = serverFolder;
            },
            log: log);
        var options = new OpcUaClientOptions { SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256 };
        options.Certificates.Directory = clientFolder;

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync(options));
        Assert.Equal(StatusCodes.BadCertificateTimeInvalid, e.Status);
        Assert.Matches(Advice("\\."), e.Message);

        options.Certificates.UnsafeTrustAll = true;
        await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync(options));
        Assert.Matches(Advice(string.Empty), Assert.Single(log.WithId(7003)).Text);

        string Advice(string end) => ": BadCertificateTimeInvalid\\. It is valid from "
            + $"{past.AddDays(-1).UtcDateTime:yyyy-MM-dd} [0-9:]{{8}}Z to {past.AddYears(5).UtcDateTime:yyyy-MM-dd} [0-9:]{{8}}Z, and the "
            + $"time of this machine is [0-9]{{4}}-[-0-9: ]+Z\\. Give its owner another certificate, or correct the time{end}$";

        static void Trust(string folder, string other) => File.Copy(
            Path.Combine(other, "own", "certificate.pem"),
            Path.Combine(Directory.CreateDirectory(Path.Combine(folder, "trusted")).FullName, "other.pem"));
    }

    /// <summary>As in a container that was made again, with another host name, and has kept its volume.</summary>
    [Fact]
    public async Task A_server_with_a_certificate_of_before_is_the_application_of_before()
    {
        const string Uri = "urn:before:FastPort:OpcUaServer";
        MakeOwn(_own, Uri, DateTimeOffset.UtcNow);
        await using TestServer server = await TestServer.StartAsync(configure: o =>
        {
            o.SecurityPolicies = [OpcUaSecurityPolicy.Basic256Sha256];
            o.Certificates.Directory = _own;
        });

        // Client and server share the directory: they are one application, and trust it.
        var options = new OpcUaClientOptions { SecurityPolicy = OpcUaSecurityPolicy.Basic256Sha256 };
        options.Certificates.Directory = _own;
        await using OpcUaClient client = await server.ConnectAsync(options);

        DataValue[] arrays = await client.ReadAsync([new NodeId(0, 2254), new NodeId(0, 2255)]);
        Assert.Equal([Uri], arrays[0].Value.GetArray<string>()!);
        Assert.Equal(["http://opcfoundation.org/UA/", Uri, "urn:fastport:test"], arrays[1].Value.GetArray<string>()!);
        IReadOnlyList<ApplicationDescription> found = await OpcUaClient.FindServersAsync(server.Url);
        Assert.Equal(Uri, Assert.Single(found).ApplicationUri);
    }

    [Fact]
    public async Task The_certificate_of_a_server_on_all_addresses_has_those_of_the_machine()
    {
        await using TestServer server = await TestServer.StartAsync(configure: o =>
        {
            o.Endpoints[0] = "opc.tcp://0.0.0.0:0";
            o.SecurityPolicies = [OpcUaSecurityPolicy.Basic256Sha256];
            o.Certificates.Directory = Path.Combine(_own, "server");
        });

        using X509Certificate2 certificate = CertificateStore.TryReadLeaf(server.Server.Certificates!.Own.Der)!;

        Assert.True(certificate.MatchesHostname("127.0.0.1"), "the address of the loopback is missing");
        Assert.True(certificate.MatchesHostname("localhost"), "the name of the loopback is missing");
        Assert.False(certificate.MatchesHostname("0.0.0.0"), "nobody can connect to that");
    }

    [Fact]
    public async Task A_server_without_policy_None_shows_its_endpoints_but_gives_no_sessions_without_security()
    {
        await using TestServer server = await StartAsync(OpcUaSecurityPolicy.Aes256Sha256RsaPss, offersNone: false);

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(() => server.ConnectAsync());
        Assert.Equal(StatusCodes.BadSecurityPolicyRejected, e.Status);

        // It has found the endpoint, and so the certificate, without security.
        await using OpcUaClient client = await ConnectAsync(server, OpcUaSecurityPolicy.Aes256Sha256RsaPss, MessageSecurityMode.Sign);
    }

    [Fact]
    public async Task A_policy_that_is_not_offered_is_named_with_those_that_are()
    {
        await using TestServer server = await StartAsync(OpcUaSecurityPolicy.Basic256Sha256);

        OpcUaException e = await Assert.ThrowsAsync<OpcUaException>(
            () => ConnectAsync(server, OpcUaSecurityPolicy.Aes256Sha256RsaPss, MessageSecurityMode.Sign));

        Assert.Equal(StatusCodes.BadSecurityPolicyRejected, e.Status);
        Assert.Contains("#Basic256Sha256 with SignAndEncrypt", e.Message, StringComparison.Ordinal);
    }

    // An authority, if it has no issuer.
    private static X509Certificate2 Issue(string name, X509Certificate2? issuer = null, string host = "")
    {
        using var key = RSA.Create(2048);
        var request = new CertificateRequest(name, key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        DateTimeOffset now = DateTimeOffset.UtcNow;
        if (issuer is null)
        {
            request.CertificateExtensions.Add(X509BasicConstraintsExtension.CreateForCertificateAuthority());
            return request.CreateSelfSigned(now.AddDays(-1), now.AddDays(2));
        }

        var names = new SubjectAlternativeNameBuilder();
        names.AddUri(new Uri("urn:test:server"));
        names.AddDnsName(host);
        request.CertificateExtensions.Add(names.Build());
        using X509Certificate2 issued = request.Create(issuer, now.AddDays(-1), now.AddDays(1), [1]);
        return issued.CopyWithPrivateKey(key);
    }

    private static void PutOwn(string folder, X509Certificate2 certificate)
    {
        string own = Directory.CreateDirectory(Path.Combine(folder, "own")).FullName;
        File.WriteAllText(Path.Combine(own, "certificate.pem"), certificate.ExportCertificatePem());
        using RSA key = certificate.GetRSAPrivateKey()!;
        File.WriteAllText(Path.Combine(own, "key.pem"), key.ExportPkcs8PrivateKeyPem());
    }

    private static void Put(string folder, X509Certificate2 trusted) => File.WriteAllBytes(
        Path.Combine(Directory.CreateDirectory(Path.Combine(folder, "trusted")).FullName, "trusted.der"), trusted.RawData);

    private static void MakeOwn(string folder, string uri, DateTimeOffset now) => ApplicationCertificate.LoadOrCreate(
        Path.Combine(folder, "own", "certificate.pem"),
        Path.Combine(folder, "own", "key.pem"),
        () => ApplicationCertificate.Create(uri, "test", [], now)).Dispose();

    private static async Task<TestServer> StartAsync(
        OpcUaSecurityPolicy policy, Action<AddressSpace>? fill = null, bool offersNone = true)
    {
        return await TestServer.StartAsync(fill, o =>
        {
            o.SecurityPolicies = offersNone ? [OpcUaSecurityPolicy.None, policy] : [policy];
            o.ApplicationUri = "urn:test:server";
            o.Certificates.Directory = Shared["server"];
            o.Certificates.UnsafeTrustAll = true;
        });
    }

    private static Task<OpcUaClient> ConnectAsync(
        TestServer server, OpcUaSecurityPolicy policy, MessageSecurityMode mode)
    {
        var options = new OpcUaClientOptions { SecurityPolicy = policy, SecurityMode = mode, ApplicationUri = "urn:test:client" };
        options.Certificates.Directory = Shared["client"];
        options.Certificates.UnsafeTrustAll = true;
        return server.ConnectAsync(options);
    }
}
