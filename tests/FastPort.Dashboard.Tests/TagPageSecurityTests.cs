using System.Net;
using FastPort.Dashboard.Tests.Support;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>Who gets the page of tags, where the page may connect to, and which origins the server accepts for it.</summary>
public sealed class TagPageSecurityTests
{
    [Fact]
    public async Task ThePageMayConnectToTheServerAndNothingElse()
    {
        await using TagHost host = await TagHost.StartAsync();
        using var http = new HttpClient { BaseAddress = host.Url };

        Assert.Equal($"'self' ws://127.0.0.1:{host.Server.Endpoints[0].Port}", await ConnectionsAsync(http, "tags"));
        Assert.Equal("'self'", await ConnectionsAsync(http, "/"));
        Assert.Contains($"data-server=\"{host.Server.Endpoints[0]}\"", await http.GetStringAsync("tags"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("wss://plant.example/tags", "'self' wss://plant.example")]
    [InlineData("/tags", "'self'")]
    public async Task AnAddressOfAProxyCanBeNamed(string url, string connections)
    {
        await using TagHost host = await TagHost.StartAsync(null, ("Dashboard:WebSocketUrl", url));
        using var http = new HttpClient { BaseAddress = host.Url };

        Assert.Equal(connections, await ConnectionsAsync(http, "tags"));
        Assert.Contains($"data-server=\"{url}\"", await http.GetStringAsync("tags"), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("0.0.0.0")]
    [InlineData("[::]")]
    public async Task AnEndpointOnAllAddressesIsReachedByTheOneOfThePage(string address)
    {
        await using TagHost host = await TagHost.StartAsync(null, ("FastPort:Endpoints:0", $"ws://{address}:0/tags"));
        using var http = new HttpClient { BaseAddress = host.Url };

        Assert.Equal($"'self' ws://127.0.0.1:{host.Server.Endpoints[0].Port}", await ConnectionsAsync(http, "tags"));
    }

    [Fact]
    public async Task WithoutTheTokenOfTheDashboardThereIsTheLogin()
    {
        await using TagHost host = await TagHost.StartAsync(null, ("Dashboard:Token", DashboardHost.Token));
        using var http = new HttpClient(new SocketsHttpHandler { AllowAutoRedirect = false }) { BaseAddress = host.Url };

        using HttpResponseMessage page = await http.GetAsync("tags");
        using HttpResponseMessage script = await http.GetAsync("tags.js");

        Assert.Equal((HttpStatusCode.Redirect, "login"), (page.StatusCode, page.Headers.Location!.OriginalString));
        Assert.Equal(HttpStatusCode.Unauthorized, script.StatusCode);
    }

    [Theory]
    [InlineData("tags/", "../tags")]
    [InlineData("login/", "../login")]
    public async Task ASlashBehindAPageIsTakenAway(string path, string target)
    {
        await using TagHost host = await TagHost.StartAsync(null, ("Dashboard:Token", DashboardHost.Token));
        using var http = new HttpClient(new SocketsHttpHandler { AllowAutoRedirect = false }) { BaseAddress = host.Url };

        using HttpResponseMessage answer = await http.GetAsync(path);

        Assert.Equal((HttpStatusCode.Redirect, target), (answer.StatusCode, answer.Headers.Location!.OriginalString));
    }

    [Fact]
    public async Task TheServerAcceptsPagesOfTheDashboardByItsExactNames()
    {
        await using TagHost host = await TagHost.StartAsync(
            null, ("Dashboard:AllowedHosts:0", "plant.example"), ("FastPort:WebSocket:AllowedOrigins:0", "https://game.example"));
        int port = host.Url.Port;

        Assert.Equal(HttpStatusCode.SwitchingProtocols, await UpgradeAsync(host, $"http://127.0.0.1:{port}"));
        Assert.Equal(HttpStatusCode.SwitchingProtocols, await UpgradeAsync(host, $"http://localhost:{port}"));
        Assert.Equal(HttpStatusCode.SwitchingProtocols, await UpgradeAsync(host, $"http://plant.example:{port}"));
        Assert.Equal(HttpStatusCode.SwitchingProtocols, await UpgradeAsync(host, "https://game.example"));
        Assert.Equal(HttpStatusCode.Forbidden, await UpgradeAsync(host, $"https://127.0.0.1:{port}"));
        Assert.Equal(HttpStatusCode.Forbidden, await UpgradeAsync(host, $"http://evil.example:{port}"));
        Assert.Equal(HttpStatusCode.Forbidden, await UpgradeAsync(host, $"http://127.0.0.1:{port + 1}"));
    }

    [Fact]
    public async Task TheDashboardOfAServerWithoutTagsChangesNoOrigins()
    {
        await using DashboardHost host = await DashboardHost.StartAsync(null, ("FastPort:Endpoints:0", "ws://127.0.0.1:0/game"));
        using var http = new HttpClient { BaseAddress = host.Url };

        Assert.Equal(HttpStatusCode.Forbidden, await UpgradeAsync(host.Server.Endpoints[0], $"http://127.0.0.1:{host.Url.Port}"));
        Assert.Equal("'self'", await ConnectionsAsync(http, "tags"));
        Assert.Contains("data-server=\"\" data-tags=\"no\"", await http.GetStringAsync("tags"), StringComparison.Ordinal);
    }

    private static async Task<string> ConnectionsAsync(HttpClient http, string path)
    {
        using HttpResponseMessage answer = await http.GetAsync(path);
        string policy = Assert.Single(answer.Headers.GetValues("Content-Security-Policy"));
        return policy.Split("; ").Single(static one => one.StartsWith("connect-src ", StringComparison.Ordinal))["connect-src ".Length..];
    }

    private static Task<HttpStatusCode> UpgradeAsync(TagHost host, string origin) => UpgradeAsync(host.Server.Endpoints[0], origin);

    private static async Task<HttpStatusCode> UpgradeAsync(Endpoint endpoint, string origin)
    {
        using var client = new HttpClient();
        using var request = new HttpRequestMessage(HttpMethod.Get, $"http://127.0.0.1:{endpoint.Port}{endpoint.Path}");
        request.Headers.Add("Connection", "Upgrade");
        request.Headers.Add("Upgrade", "websocket");
        request.Headers.Add("Origin", origin);
        request.Headers.Add("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
        request.Headers.Add("Sec-WebSocket-Version", "13");
        request.Headers.Add("Sec-WebSocket-Protocol", "fastport.v1");
        using HttpResponseMessage answer = await client.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, Patience.Token);
        return answer.StatusCode;
    }
}
