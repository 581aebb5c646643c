using System.Net.Security;
using System.Security.Authentication;
using System.Text;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Tls.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Tls;

/// <summary>What servers and clients agree on, and what they say when they do not.</summary>
public sealed class TlsHandshakeTests
{
    [Theory]
    [InlineData(TransportKind.Epoll)]
    [InlineData(TransportKind.Sockets)]
    public async Task Both_sides_know_what_was_agreed_on(TransportKind transport)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux() || transport != TransportKind.Epoll, "Event loops are Linux's.");
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(options => options.Transport = transport);
        FastPortClient client = both.CreateClient(options: options => options.Transport = transport);
        await client.ConnectAsync(Patience.Token);

        Assert.Equal([1, 2, 3], await client.RequestAsync(TestServer.Echo, new byte[] { 1, 2, 3 }).InTimeAsync());

        TlsInfo seen = client.Session!.Tls!;
        Assert.Equal((SslProtocols.Tls13, "fastport/1"), (seen.Protocol, seen.ApplicationProtocol));
        Assert.Equal("CN=server", seen.PeerCertificate!.Subject);
        TlsInfo served = (await both.Server.SessionAsync()).Tls!;
        Assert.Equal((SslProtocols.Tls13, "fastport/1", "127.0.0.1"), (served.Protocol, served.ApplicationProtocol, seen.ServerName));
        Assert.Equal(seen.CipherSuite, served.CipherSuite);
        Assert.Null(served.PeerCertificate);
    }

    [Fact]
    public async Task A_session_without_tls_says_so()
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectKnownAsync();

        Assert.Null((await server.SessionAsync()).Tls);
    }

    [Fact]
    public async Task An_authority_that_is_not_trusted_is_named()
    {
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync();
        TestCertificates.CreateAuthority("Another").WritePem(both.Files["other.pem"]);

        string says = await both.CannotConnectAsync(tls => tls.AuthorityFile = both.Files["other.pem"]);

        Assert.Contains("'CN=server' was signed by 'CN=Test authority', which is not trusted here", says, StringComparison.Ordinal);

        // A client of TLS 1.3 looks at the certificate when the server's handshake has ended already.
        CloseReason reason = await both.Server.CloseReasonAsync();
        Assert.Contains("or the peer refused this side's certificate", reason.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_name_that_the_certificate_has_not_is_told_with_those_it_has()
    {
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync();

        string says = await both.CannotConnectAsync(static tls => tls.ServerName = "game.example");

        Assert.Contains("'CN=server' is for localhost, 127.0.0.1, not for the requested name", says, StringComparison.Ordinal);
        await both.ConnectAsync(static tls => tls.ServerName = "localhost");
    }

    [Fact]
    public async Task An_expired_certificate_is_told_with_its_date()
    {
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(
            prepare: static both => both.WriteServer(both.Authority.Issue(
                "server", ip: ["127.0.0.1"], notAfter: new DateTimeOffset(2020, 1, 2, 3, 4, 5, TimeSpan.Zero))));

        string says = await both.CannotConnectAsync();

        Assert.Contains("'CN=server' expired on 2020-01-02 03:04:05Z; renew it", says, StringComparison.Ordinal);
        Assert.Single(both.Server.Log.WithId(3053));
    }

    [Fact]
    public async Task A_pinned_key_is_accepted_whoever_signed_it_and_no_other()
    {
        TestCertificate own = TestCertificates.CreateAuthority("Unknown").Issue("pinned", dns: ["elsewhere.example"]);
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(prepare: both => both.WriteServer(own));
        string pin = TlsClientOptions.PinOf(own.Certificate);

        await both.ConnectAsync(tls => tls.Pin = pin);
        string says = await both.CannotConnectAsync(static tls => tls.Pin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=");

        Assert.Contains($"its key is {pin}, not the pinned one", says, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_required_client_certificate_is_checked_and_known_to_the_session()
    {
        await using TlsServerAndClient both = await StartWithClientCertificatesAsync(ClientCertificateMode.Required);
        string file = both.WriteClient(both.Authority.Issue("panel-7", dns: ["panel-7.plant.example"], client: true));

        await both.ConnectAsync(tls => tls.CertificateFile = file);

        Assert.Equal("CN=panel-7", (await both.Server.SessionAsync()).Tls!.PeerCertificate!.Subject);
    }

    [Fact]
    public async Task Without_the_certificate_that_is_required_both_sides_say_so()
    {
        await using TlsServerAndClient both = await StartWithClientCertificatesAsync(ClientCertificateMode.Required);

        // In TLS 1.3 a client's handshake ends before the server has looked at its certificate: the session may fail instead.
        FastPortClient client = both.CreateClient();
        Exception e = await Assert.ThrowsAnyAsync<IOException>(() => client.ConnectAsync(Patience.Token));

        Assert.Contains("client certificate", e.Message, StringComparison.Ordinal);
        Assert.Contains(
            "its certificate was refused: it presented none, but one is required", await both.RejectedAsync(), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_client_certificate_of_another_authority_is_refused_even_where_none_is_required()
    {
        await using TlsServerAndClient both = await StartWithClientCertificatesAsync(ClientCertificateMode.Optional);
        string file = both.WriteClient(TestCertificates.CreateAuthority("Forger").Issue("panel-7", client: true));

        await Assert.ThrowsAnyAsync<IOException>(() => both.CreateClient(tls => tls.CertificateFile = file).ConnectAsync(Patience.Token));

        Assert.Contains("signed by 'CN=Forger', which is not trusted here", await both.RejectedAsync(), StringComparison.Ordinal);
        await both.ConnectAsync();
    }

    [Fact]
    public async Task What_a_refused_certificate_says_is_escaped_and_bounded_in_the_log()
    {
        await using TlsServerAndClient both = await StartWithClientCertificatesAsync(ClientCertificateMode.Optional);
        string name = $"\"two\nlines\u001b[2J{string.Join(' ', Enumerable.Repeat("long", 500))}\"";
        string file = both.WriteClient(TestCertificates.CreateAuthority("Forger").Issue(name, client: true));

        await Assert.ThrowsAnyAsync<IOException>(() => both.CreateClient(tls => tls.CertificateFile = file).ConnectAsync(Patience.Token));

        string says = await both.RejectedAsync();
        Assert.Contains(@"two\u000Alines\u001B[2Jlong", says, StringComparison.Ordinal);
        Assert.DoesNotContain(says, char.IsControl);
        Assert.InRange(says.Length, 1, 1200);
    }

    [Fact]
    public async Task A_servers_certificate_does_not_show_who_a_client_is()
    {
        await using TlsServerAndClient both = await StartWithClientCertificatesAsync(ClientCertificateMode.Required);
        string file = both.WriteClient(both.Authority.Issue("panel-7", dns: ["panel-7"], client: false));

        await Assert.ThrowsAnyAsync<IOException>(() => both.CreateClient(tls => tls.CertificateFile = file).ConnectAsync(Patience.Token));

        Assert.Contains("is not for this use", await both.RejectedAsync(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Tls_1_2_is_refused_unless_it_is_allowed(bool allowed)
    {
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(options => options.Tls.AllowTls12 = allowed);
        using RawPeer peer = await both.Server.ConnectAsync();
        await using SslStream stream = peer.OverTls();
        Task handshake = stream.AuthenticateAsClientAsync(
            new SslClientAuthenticationOptions { TargetHost = "localhost", EnabledSslProtocols = SslProtocols.Tls12 }, Patience.Token);

        if (allowed)
        {
            await handshake;
            Assert.Equal(SslProtocols.Tls12, (await both.Server.SessionAsync()).Tls!.Protocol);
        }
        else
        {
            await Assert.ThrowsAnyAsync<Exception>(() => handshake);
            Assert.Contains("it offers no TLS version that is allowed here", await both.RejectedAsync(), StringComparison.Ordinal);
        }
    }

    [Fact]
    public async Task Who_does_not_speak_tls_is_refused_and_told_so_in_the_log()
    {
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync();
        using RawPeer peer = await both.Server.ConnectAsync();

        await peer.SendAsync(Wire.HelloRequest(1));

        await peer.ExpectGoneAsync();
        Assert.Contains("it does not speak TLS; give it a tls:// endpoint", await both.RejectedAsync(), StringComparison.Ordinal);
        Assert.Empty(both.Server.Opened);
    }

    [Fact]
    public async Task A_client_of_a_server_without_tls_is_told_so()
    {
        await using TestServer server = await TestServer.StartAsync();
        var options = new FastPortClientOptions { Endpoint = $"tls://127.0.0.1:{server.Endpoint.Port}" };
        await using var client = new FastPortClient(options);

        EndpointException e = await Assert.ThrowsAsync<EndpointException>(() => client.ConnectAsync(Patience.Token));

        Assert.Contains("is it a tcp:// endpoint?", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_handshake_that_does_not_go_on_is_ended()
    {
        var time = new FakeTimeProvider();
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(components: components => components.Time = time);
        using RawPeer peer = await both.Server.ConnectAsync();
        await peer.SendAsync([22, 3, 1, 2, 0]);
        await Patience.UntilAsync(() => both.Server.Server.ConnectionsInStages == 1, "the handshake has begun");

        // The stages' timer may start only now.
        await Patience.UntilAsync(
            () =>
            {
                time.Advance(TimeSpan.FromSeconds(11));
                return both.Server.Counts.ConnectionsRejectedFor(ConnectionRejection.StageTimeout) == 1;
            },
            "the handshake's time was over");
        await peer.ExpectGoneAsync();
    }

    [Fact]
    public async Task Behind_a_proxy_that_passes_tls_on_the_header_comes_first()
    {
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync(static options => options.TrustedProxies = ["127.0.0.1"]);
        using RawPeer peer = await both.Server.ConnectAsync();
        await peer.SendAsync(Encoding.ASCII.GetBytes("PROXY TCP4 192.0.2.7 192.0.2.1 4711 6628\r\n"));
        await using SslStream stream = peer.OverTls();

        await stream.AuthenticateAsClientAsync(new SslClientAuthenticationOptions { TargetHost = "localhost" }, Patience.Token);

        Session session = await both.Server.SessionAsync();
        Assert.Equal("192.0.2.7:4711", $"{session.RemoteEndPoint}");
        Assert.NotNull(session.Tls);
    }

    [Fact]
    public async Task A_stream_that_is_cut_is_told_from_one_that_ends()
    {
        await using TlsServerAndClient both = await TlsServerAndClient.StartAsync();
        foreach (bool isCut in new[] { false, true })
        {
            using RawPeer peer = await both.Server.ConnectAsync();
            await using SslStream stream = peer.OverTls();
            await stream.AuthenticateAsClientAsync(new SslClientAuthenticationOptions { TargetHost = "localhost" }, Patience.Token);
            Session session = await both.Server.SessionAsync(isCut ? 1 : 0);
            if (!isCut)
            {
                await stream.ShutdownAsync();
            }

            peer.ShutdownSend();

            CloseReason reason = await session.Closed.InTimeAsync();
            Assert.Equal(isCut ? CloseKind.PeerTruncated : CloseKind.PeerClosed, reason.Kind);
        }
    }

    private static Task<TlsServerAndClient> StartWithClientCertificatesAsync(ClientCertificateMode mode)
    {
        TlsServerAndClient? started = null;
        return TlsServerAndClient.StartAsync(
            options =>
            {
                options.Tls.ClientCertificates = mode;
                options.Tls.ClientAuthorityFile = started!.Files["ca.pem"];
            },
            prepare: both => started = both);
    }
}
