using FastPort.Configuration;
using FastPort.Core.Tests.Support;
using FastPort.Hosting;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

/// <summary>What a server says, or refuses, that other machines can reach.</summary>
public sealed class ExposureTests
{
    [Theory]
    [InlineData("tcp://127.0.0.1:0", false, "")]
    [InlineData("tcp://127.1.2.3:0", false, "")]
    [InlineData("tcp://[::1]:0", false, "")]
    [InlineData("tcp://localhost:0", false, "")]
    [InlineData("unix:///run/x", false, "")]
    [InlineData("inproc://x", false, "")]
    [InlineData("tls://0.0.0.0:0", true, "")]
    [InlineData("tls://0.0.0.0:0", false, "anyone who reaches it may connect.")]
    [InlineData("tcp://0.0.0.0:0", true, "all traffic can be read on the way, including tokens.")]
    [InlineData("tcp://0.0.0.0:0", false, "anyone who reaches it may connect, and all traffic can be read on the way.")]
    [InlineData("tcp://[::]:0", false, "anyone who reaches it may connect, and all traffic can be read on the way.")]
    [InlineData("tcp://server.example:0", false, "anyone who reaches it may connect, and all traffic can be read on the way.")]
    public void What_is_exposed_is_said(string endpoint, bool authenticates, string end)
    {
        IReadOnlyList<string> found = Exposure.Find([endpoint], [], authenticates, checksCertificates: false);

        Assert.Equal(end.Length == 0 ? [] : [$"{endpoint} can be reached from other machines: {end}"], found);
    }

    [Fact]
    public void A_scheme_that_is_served_within_the_machine_is_not_exposed_and_one_over_TCP_is()
    {
        TransportCollection transports = new TransportCollection()
            .MapScheme("game", over: "inproc").MapScheme("file", over: "unix").MapScheme("plant", over: "tcp");
        string[] endpoints = ["game://x", "file:///run/x", "plant://0.0.0.0:0"];

        string found = Assert.Single(Exposure.Find(endpoints, transports, authenticates: false, checksCertificates: false));

        Assert.StartsWith("plant://0.0.0.0:0 can be reached", found, StringComparison.Ordinal);
    }

    [Fact]
    public void Peers_that_must_show_a_certificate_are_known_where_it_is_asked_for()
    {
        string[] endpoints = ["tls://0.0.0.0:0", "tcp://0.0.0.0:0"];

        string found = Assert.Single(Exposure.Find(endpoints, [], authenticates: false, checksCertificates: true));

        Assert.StartsWith("tcp://0.0.0.0:0 can be reached from other machines: anyone", found, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_server_that_is_exposed_warns_and_starts()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Endpoints = ["tcp://0.0.0.0:0"]);

        Assert.StartsWith("tcp://0.0.0.0:0 can be reached", Assert.Single(server.Log.WithId(3009)).Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_option_is_named_by_the_section_of_the_server()
    {
        var options = new FastPortServerOptions { Endpoints = { "tcp://0.0.0.0:0" } };
        OptionSection.Visit("Plant", [], configured: null, options.Describe);
        var log = new RecordingLog();
        await using (var server = new FastPortServer(options, loggerFactory: log))
        {
            await server.StartAsync();
        }

        Assert.Contains(" Plant:RequireSecureDefaults would", Assert.Single(log.WithId(3009)).Text, StringComparison.Ordinal);
        options.RequireSecureDefaults = true;
        await using var refused = new FastPortServer(options);
        FastPortOptionsException e = await Assert.ThrowsAsync<FastPortOptionsException>(() => refused.StartAsync());
        Assert.EndsWith(" Plant:RequireSecureDefaults forbids it.", Assert.Single(e.Problems), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Or_does_not_start_where_that_is_asked_for()
    {
        FastPortOptionsException e = await Assert.ThrowsAsync<FastPortOptionsException>(() => TestServer.StartAsync(
            options: static o => (o.Endpoints, o.RequireSecureDefaults) = (["tcp://0.0.0.0:0"], true),
            components: static c => c.Authenticator = static (_, _) => ValueTask.FromResult(AuthenticationResult.Accept())));

        Assert.Contains(
            "including tokens. FastPort:RequireSecureDefaults forbids it.", Assert.Single(e.Problems), StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_authenticator_that_lets_in_everybody_is_none()
    {
        await using TestServer server = await TestServer.StartAsync(
            options: static o => o.Endpoints = ["tcp://0.0.0.0:0"],
            components: static c =>
            {
                c.Authenticator = static (_, _) => ValueTask.FromResult(AuthenticationResult.Accept());
                c.AllowsAnonymous = true;
            });

        Assert.Contains(
            "anyone who reaches it may connect, and all traffic", Assert.Single(server.Log.WithId(3009)).Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_server_on_loopback_says_nothing()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.RequireSecureDefaults = true);

        Assert.Empty(server.Log.WithId(3009));
    }
}
