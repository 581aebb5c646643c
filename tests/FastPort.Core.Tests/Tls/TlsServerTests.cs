using System.Net.Security;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Tls.Support;
using FastPort.Tls;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Tls;

/// <summary>Servers with encrypted endpoints: what they are configured with, and what changes while they run.</summary>
public sealed class TlsServerTests
{
    [Fact]
    public void Without_a_certificate_a_server_is_not_created()
    {
        var options = new FastPortServerOptions();
        options.Endpoints.Add("tls://127.0.0.1:0");

        FastPortOptionsException e = Assert.Throws<FastPortOptionsException>(() => new FastPortServer(options));

        Assert.Contains("FastPort:Tls", Assert.Single(e.Problems), StringComparison.Ordinal);
        Assert.Contains("certs create", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_renewed_certificate_is_for_new_sessions_and_old_ones_go_on()
    {
        var time = new FakeTimeProvider();
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(components: components => components.Time = time);
        List<CertificateInfo> changed = [];
        both.Server.Server.CertificateChanged += changed.Add;
        FastPortClient before = await both.ConnectAsync();
        TestCertificate renewed = both.Authority.Issue("renewed", ip: ["127.0.0.1"]);
        both.WriteServer(renewed);

        time.Advance(TimeSpan.FromSeconds(6));
        await Patience.UntilAsync(() => changed.Count != 0, "the new certificate was read");
        FastPortClient after = await both.ConnectAsync();

        Assert.Equal("CN=renewed", after.Session!.Tls!.PeerCertificate!.Subject);
        Assert.Equal("CN=server", before.Session!.Tls!.PeerCertificate!.Subject);
        Assert.Equal([7], await before.RequestAsync(TestServer.Echo, new byte[] { 7 }).InTimeAsync());
        CertificateInfo info = Assert.Single(changed);
        Assert.Equal((both.Files["server.pem"], renewed.Thumbprint), (info.Source, info.Thumbprint));
        Assert.Equal(info, Assert.Single(both.Server.Server.Certificates));
    }

    [Fact]
    public async Task The_name_that_a_client_asks_for_chooses_the_certificate()
    {
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(
            static options => (options.Tls.CertificateFolder, options.Tls.CertificateFile) =
                (Path.GetDirectoryName(options.Tls.CertificateFile)!, string.Empty),
            prepare: static both =>
            {
                File.Move(both.Files["ca.pem"], both.Files["ca.crt"]);
                both.Authority.Issue("one", dns: ["one.example"]).WritePem(both.Files["one.pem"], withKey: true);
                both.Authority.Issue("all", dns: ["*.two.example"]).WritePem(both.Files["all.pem"], withKey: true);
            });

        foreach ((string name, string subject) in new[] { ("one.example", "CN=one"), ("x.two.example", "CN=all") })
        {
            FastPortClient client = await both.ConnectAsync(tls => (tls.AuthorityFile, tls.ServerName) = (both.Files["ca.crt"], name));
            Assert.Equal(subject, client.Session!.Tls!.PeerCertificate!.Subject);
        }

        Session[] sessions = [.. both.Server.Opened];
        Assert.Equal(["one.example", "x.two.example"], sessions.Select(static session => session.Tls!.ServerName));
    }

    [Theory]
    [InlineData("tcp://192.0.2.1:1", true)]
    [InlineData("tcp://127.0.0.1:1", false)]
    [InlineData("tcp://localhost:1", false)]
    [InlineData("tls://192.0.2.1:1", false)]
    [InlineData("unix:///run/x", false)]
    public void A_token_crosses_the_network_unencrypted_only_if_told(string endpoint, bool refused)
    {
        var options = new FastPortClientOptions { Endpoint = endpoint, Token = "secret" };

        Assert.Equal(
            refused ? 1 : 0, options.Validate().Count(static problem => problem.Contains("AllowPlaintext", StringComparison.Ordinal)));

        options.AllowPlaintext = true;
        Assert.Empty(options.Validate());
        Assert.DoesNotContain("secret", string.Join(' ', options.Validate()), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(TransportKind.Epoll)]
    [InlineData(TransportKind.Sockets)]
    public async Task A_hello_that_came_with_the_handshake_is_answered_also_by_an_authenticator_that_takes_its_time(TransportKind transport)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() || transport != TransportKind.Epoll, "Event loops are Linux's.");
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(
            options => options.Transport = transport,
            static components => components.Authenticator = static async (_, _) =>
            {
                await Task.Yield();
                return AuthenticationResult.Accept();
            });

        for (int i = 0; i < 20; i++)
        {
            FastPortClient client = await both.ConnectAsync();
            Assert.Equal([7], await client.RequestAsync(TestServer.Echo, new byte[] { 7 }).InTimeAsync());
        }
    }

    [Fact]
    public async Task Handshakes_that_wait_for_their_turn_are_made()
    {
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(
            static options => options.Tls.MaxConcurrentHandshakes = 1);

        FastPortClient[] clients = await Task.WhenAll(Enumerable.Range(0, 20).Select(_ => both.ConnectAsync()));

        Assert.All(clients, static client => Assert.NotNull(client.Session!.Tls));
    }

    [Fact]
    public async Task A_stop_ends_handshakes_too()
    {
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync();
        using RawPeer peer = await both.Server.ConnectAsync();
        await Patience.UntilAsync(() => both.Server.Server.ConnectionsInStages == 1, "the handshake has begun");

        await both.Server.Server.StopAsync().InTimeAsync();

        await peer.ExpectGoneAsync();
    }

    [Fact]
    public async Task A_connection_that_was_aborted_before_its_handshake_has_none()
    {
        await using TestServer server = await TestServer.StartAsync();
        using var clock = new ConnectionClock();
        var settings = new ConnectionSettings { Clock = clock, Logger = server.Log };
        ITransport transport = TransportCollection.CreateShared();
        Connection below = await transport.CreateConnector(server.Endpoint, settings).ConnectAsync(Patience.Token);
        below.Abort(CloseReason.LocalClosed);
        var connection = new TlsConnection(below, settings, HandshakeWorkers.Clients);

        await Assert.ThrowsAsync<IOException>(() => connection.AuthenticateAsync(
            static stream => stream.AuthenticateAsClientAsync("localhost"), static () => "localhost").InTimeAsync());
    }

    [Theory]
    [InlineData("tcp")]
    [InlineData("tls")]
    public async Task An_IOException_of_the_protocol_is_not_told_as_a_failure_of_the_peer(string scheme)
    {
        var options = new ConnectionServerOptions { Endpoints = { $"{scheme}://127.0.0.1:0" } };
        options.Tls.CertificateFile = scheme == "tls" ? TlsFiles.Server.CertificateFile : string.Empty;
        var protocol = new FaultyProtocol();
        await using var server = new ConnectionServer(options, _ => protocol);
        await server.StartAsync(Patience.Token);
        using RawPeer peer = await RawPeer.ConnectAsync(server.Endpoints[0]);
        if (scheme == "tcp")
        {
            await peer.SendAsync([1]);
        }
        else
        {
            await using SslStream stream = peer.OverTls();
            await stream.AuthenticateAsClientAsync(new SslClientAuthenticationOptions { TargetHost = "localhost" }, Patience.Token);
            await stream.WriteAsync(new byte[] { 1 }, Patience.Token);
        }

        CloseReason reason = await protocol.Closed.Task.InTimeAsync();

        Assert.Equal((CloseKind.Internal, "disk"), (reason.Kind, reason.Exception?.Message));
    }

    [Fact]
    public async Task A_client_that_is_closed_while_it_connects_ends()
    {
        using var listener = new System.Net.Sockets.TcpListener(System.Net.IPAddress.Loopback, 0);
        listener.Start();
        var options = new FastPortClientOptions { Endpoint = $"tls://{listener.LocalEndpoint}", ConnectTimeout = TimeSpan.FromMinutes(1) };
        var client = new FastPortClient(options);
        Task connecting = client.ConnectAsync(Patience.Token);
        using System.Net.Sockets.Socket silent = await listener.AcceptSocketAsync(Patience.Token);

        await client.CloseAsync().InTimeAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connecting);
    }

    /// <summary>Fails at the first byte, as one that writes to a full disk.</summary>
    private sealed class FaultyProtocol : IConnectionProtocol
    {
        public TaskCompletionSource<CloseReason> Closed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input) => throw new IOException("disk");

        public void OnInputEnded(bool truncated)
        {
        }

        public void OnClosed(CloseReason reason) => Closed.SetResult(reason);
    }
}
