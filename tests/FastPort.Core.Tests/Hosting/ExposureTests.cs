using FastPort.Configuration;
using FastPort.Core.Tests.Support;
using FastPort.Hosting;
using FastPort.Sessions;
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
    [InlineData("tls://0.0.0.0:0", false, "everybody who reaches it may connect.")]
    [InlineData("tcp://0.0.0.0:0", true, "everything can be read on the way, tokens too.")]
    [InlineData("tcp://0.0.0.0:0", false, "everybody who reaches it may connect, and everything can be read on the way.")]
    [InlineData("tcp://[::]:0", false, "everybody who reaches it may connect, and everything can be read on the way.")]
    [InlineData("tcp://server.example:0", false, "everybody who reaches it may connect, and everything can be read on the way.")]
    public void What_is_exposed_is_said(string endpoint, bool authenticates, string end)
    {
        IReadOnlyList<string> found = Exposure.Find([endpoint], authenticates, checksCertificates: false);

        Assert.Equal(end.Length == 0 ? [] : [$"{endpoint} can be reached from other machines: {end}"], found);
    }

    [Fact]
    public void Peers_that_must_show_a_certificate_are_known_where_it_is_asked_for()
    {
        string[] endpoints = ["tls://0.0.0.0:0", "tcp://0.0.0.0:0"];

        string found = Assert.Single(Exposure.Find(endpoints, authenticates: false, checksCertificates: true));

        Assert.StartsWith("tcp://0.0.0.0:0 can be reached from other machines: everybody", found, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_server_that_is_exposed_warns_and_starts()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.Endpoints = ["tcp://0.0.0.0:0"]);

        Assert.StartsWith("tcp://0.0.0.0:0 can be reached", Assert.Single(server.Log.WithId(3009)).Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Or_does_not_start_where_that_is_asked_for()
    {
        FastPortOptionsException e = await Assert.ThrowsAsync<FastPortOptionsException>(() => TestServer.StartAsync(
            options: static o => (o.Endpoints, o.RequireSecureDefaults) = (["tcp://0.0.0.0:0"], true),
            components: static c => c.Authenticator = static (_, _) => ValueTask.FromResult(AuthenticationResult.Accept())));

        Assert.Contains("tokens too. FastPort:RequireSecureDefaults forbids it.", Assert.Single(e.Problems), StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_server_on_loopback_says_nothing()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.RequireSecureDefaults = true);

        Assert.Empty(server.Log.WithId(3009));
    }
}
