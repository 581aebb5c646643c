using System.Net;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using FastPort.Dashboard.Security;
using FastPort.Dashboard.Tests.Support;
using Microsoft.AspNetCore.Builder;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Routing;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>Who may read the dashboard, and which requests are refused.</summary>
public sealed class SecurityTests
{
    [Theory]
    [InlineData("/sessions")]
    [InlineData("/events")]
    [InlineData("/dashboard.js")]
    [InlineData("/nothing")]
    public async Task WithoutTheTokenNothingIsRead(string path)
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();

        using HttpResponseMessage answer = await host.Http.GetAsync(path, TestContext.Current.CancellationToken);

        Assert.Equal(HttpStatusCode.Unauthorized, answer.StatusCode);
        Assert.Equal("Bearer", answer.Headers.WwwAuthenticate.ToString());
    }

    [Fact]
    public async Task ABrowserIsSentToTheLoginAndGetsACookieForTheToken()
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();
        using HttpResponseMessage first = await host.Http.GetAsync("/", TestContext.Current.CancellationToken);
        Assert.Equal("login", first.Headers.Location?.ToString());

        using HttpResponseMessage login = await LoginAsync(host, DashboardHost.Token);

        Assert.Equal("./", login.Headers.Location?.ToString());
        string cookie = Assert.Single(login.Headers.GetValues("Set-Cookie"));
        Assert.EndsWith("; path=/; samesite=strict; httponly", cookie, StringComparison.Ordinal);
        Assert.DoesNotContain(DashboardHost.Token, cookie, StringComparison.Ordinal);
        using EventStream events = await EventStream.OpenAsync(host.Http, cookie.Split(';')[0]);
        Assert.Equal("history", (await events.ReadAsync())!.Value.Name);
    }

    [Fact]
    public async Task AProgramSendsTheTokenAsBearer()
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();

        Assert.Equal(HttpStatusCode.OK, await BearerAsync(host, DashboardHost.Token));
        Assert.Equal(HttpStatusCode.Unauthorized, await BearerAsync(host, DashboardHost.Token + "x"));
        Assert.Equal(HttpStatusCode.Unauthorized, await BearerAsync(host, DashboardHost.Token[1..]));
    }

    [Fact]
    public async Task WrongTokensAreCountedAndSlowedDown()
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();
        using HttpResponseMessage login = await LoginAsync(host, DashboardHost.Token);
        string cookie = Assert.Single(login.Headers.GetValues("Set-Cookie")).Split(';')[0];
        for (int i = 0; i < WrongTokens.Allowed; i++)
        {
            Assert.Equal(HttpStatusCode.Unauthorized, await BearerAsync(host, "a-wrong-token-of-the-tests"));
        }

        // Now the right token is not looked at either, or guesses could go on. Browsers that are logged in are.
        Assert.Equal(HttpStatusCode.TooManyRequests, await BearerAsync(host, DashboardHost.Token));
        using HttpResponseMessage late = await LoginAsync(host, DashboardHost.Token);
        Assert.Equal(HttpStatusCode.TooManyRequests, late.StatusCode);
        Assert.Equal(TimeSpan.FromMinutes(1), late.Headers.RetryAfter?.Delta);
        Assert.Contains(
            "Try again in a minute", await late.Content.ReadAsStringAsync(TestContext.Current.CancellationToken), StringComparison.Ordinal);
        Assert.Equal(WrongTokens.Allowed, host.Services.GetRequiredService<WrongTokens>().Count);
        using EventStream events = await EventStream.OpenAsync(host.Http, cookie);
        Assert.Equal(
            WrongTokens.Allowed,
            (await events.ReadFiguresAsync(f => f.GetProperty("wrongTokens").GetInt64() > 0)).GetProperty("wrongTokens").GetInt64());
    }

    [Theory]
    [InlineData("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", false)]
    [InlineData("2001:db8:1:2::1", "2001:db8:1:3::1", true)]
    [InlineData("192.0.2.7", "::ffff:192.0.2.7", false)]
    [InlineData("192.0.2.7", "192.0.2.8", true)]
    public void AnIpv6PeerHasAllAddressesOfItsNetwork(string address, string other, bool mayTry)
    {
        using var wrong = new WrongTokens();
        for (int i = 0; i < WrongTokens.Allowed; i++)
        {
            wrong.Add(IPAddress.Parse(address));
        }

        Assert.False(wrong.MayTry(IPAddress.Parse(address)));
        Assert.Equal(mayTry, wrong.MayTry(IPAddress.Parse(other)));
    }

    [Fact]
    public void ManyAddressesDoNotFillTheLog()
    {
        using var wrong = new WrongTokens();

        int lines = Enumerable.Range(0, 1000).Count(i => wrong.Add(new IPAddress([10, 0, (byte)(i >> 8), (byte)i])));

        Assert.Equal(WrongTokens.Lines, lines);
        Assert.Equal(1000, wrong.Count);
    }

    [Fact]
    public async Task DashboardsOfOneMachineDoNotLogEachOtherOut()
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();
        await using DashboardHost other = await DashboardHost.StartAsync(null, ("Dashboard:Token", "another-token-of-the-tests"));
        var cookies = new CookieContainer();
        using var handler = new SocketsHttpHandler { AllowAutoRedirect = false, CookieContainer = cookies };
        using var browser = new HttpClient(handler);

        await LoginAsync(host, DashboardHost.Token);
        await LoginAsync(other, "another-token-of-the-tests");

        Assert.Equal(2, cookies.Count);
        foreach (DashboardHost each in (DashboardHost[])[host, other])
        {
            using HttpResponseMessage answer = await browser.GetAsync(
                new Uri(each.Url, "/sessions"), TestContext.Current.CancellationToken);
            Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        }

        // Who logs out leaves the other.
        using HttpResponseMessage logout = await PostAsync(host, "/logout");
        Assert.Equal(1, cookies.Count);

        async Task LoginAsync(DashboardHost to, string token)
        {
            using HttpResponseMessage answer = await PostAsync(to, "/login", KeyValuePair.Create("token", token));
            Assert.Equal("./", answer.Headers.Location?.ToString());
        }

        async Task<HttpResponseMessage> PostAsync(DashboardHost to, string path, params KeyValuePair<string, string>[] fields)
        {
            using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(to.Url, path));
            request.Content = new FormUrlEncodedContent(fields);
            request.Headers.Add("Origin", to.Url.GetLeftPart(UriPartial.Authority));
            return await browser.SendAsync(request, TestContext.Current.CancellationToken);
        }
    }

    [Fact]
    public async Task AWrongTokenIsToldOnTheLoginPage()
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();

        using HttpResponseMessage answer = await LoginAsync(host, "a-wrong-token-of-the-tests");

        Assert.Equal(HttpStatusCode.Unauthorized, answer.StatusCode);
        Assert.False(answer.Headers.Contains("Set-Cookie"));
        Assert.Contains(
            "This token is wrong", await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("localhost", HttpStatusCode.OK)]
    [InlineData("127.0.0.1", HttpStatusCode.OK)]
    [InlineData("[::1]:6680", HttpStatusCode.OK)]
    [InlineData("plant.example", HttpStatusCode.OK)]
    [InlineData("evil.example", HttpStatusCode.BadRequest)]
    [InlineData("127.0.0.1.evil.example", HttpStatusCode.BadRequest)]
    public async Task NamesThatWereNotAllowedAreRefused(string name, HttpStatusCode expected)
    {
        await using DashboardHost host = await DashboardHost.StartAsync(null, ("Dashboard:AllowedHosts:0", "plant.example"));
        using var request = new HttpRequestMessage(HttpMethod.Get, "/sessions");
        request.Headers.Host = name;

        using HttpResponseMessage answer = await host.Http.SendAsync(request, TestContext.Current.CancellationToken);

        Assert.Equal(expected, answer.StatusCode);
    }

    [Theory]
    [InlineData("https://evil.example")]
    [InlineData("null")]
    [InlineData("http://127.0.0.1:1")]
    [InlineData(null)]
    public async Task NoOtherSiteChangesAnything(string? origin)
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync(("Dashboard:AllowActions", "true"));
        using HttpResponseMessage login = await LoginAsync(host, DashboardHost.Token);
        foreach (string path in (string[])["/login", "/logout", "/actions/drain", "/actions/kick?session=1"])
        {
            using var request = new HttpRequestMessage(HttpMethod.Post, path);
            request.Headers.Add("Cookie", Assert.Single(login.Headers.GetValues("Set-Cookie")).Split(';')[0]);
            if (origin is not null)
            {
                request.Headers.Add("Origin", origin);
            }

            using HttpResponseMessage answer = await host.Http.SendAsync(request, TestContext.Current.CancellationToken);

            Assert.Equal(HttpStatusCode.Forbidden, answer.StatusCode);
        }

        // Nothing was done: a client still connects.
        await DashboardHost.EchoAsync(await host.ConnectAsync(), 1);
    }

    [Fact]
    public async Task EveryAnswerForbidsWhatThePageDoesNotNeed()
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        foreach (string path in (string[])["/", "/login", "/dashboard.js", "/sessions", "/sessions?sort=x", "/nothing"])
        {
            using HttpResponseMessage answer = await host.Http.GetAsync(path, TestContext.Current.CancellationToken);

            string policy = Assert.Single(answer.Headers.GetValues("Content-Security-Policy"));
            Assert.StartsWith("default-src 'none'; script-src 'self'; style-src 'self';", policy, StringComparison.Ordinal);
            Assert.DoesNotContain("unsafe", policy, StringComparison.Ordinal);
            Assert.Equal("nosniff", Assert.Single(answer.Headers.GetValues("X-Content-Type-Options")));
            Assert.Equal("same-origin", Assert.Single(answer.Headers.GetValues("Referrer-Policy")));
            Assert.Equal("no-store", answer.Headers.CacheControl?.ToString());
            Assert.False(answer.Headers.Contains("Server"));
        }
    }

    [Fact]
    public async Task AnOpenRouteNeedsNeitherTokenNorHost()
    {
        await using DashboardHost host = await DashboardHost.StartAsync(
            static services => services.AddSingleton<IDashboardEndpoints, OpenEndpoints>(), ("Dashboard:Token", DashboardHost.Token));
        using var request = new HttpRequestMessage(HttpMethod.Get, "/open");
        request.Headers.Host = "a-load-balancer";

        using HttpResponseMessage answer = await host.Http.SendAsync(request, TestContext.Current.CancellationToken);

        Assert.Equal("open", await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken));
    }

    [Theory]
    [InlineData("sort=balance", "sort is 'balance'; known values: id, routingId")]
    [InlineData("desc=maybe", "desc is 'maybe'; give true or false.")]
    [InlineData("page=-1", "page is '-1'; give 0 to 100000.")]
    [InlineData("page=99999999999999", "page is '99999999999999'; give 0 to 100000.")]
    [InlineData("sort=id&sort=name", "sort is given 2 times; give it once.")]
    [InlineData("sorted=id", "'sorted' is not a parameter; known parameters: sort, desc, filter, page.")]
    [InlineData("sort=%00%ff", "sort is ' ")]
    public async Task AMalformedQueryIsToldSo(string query, string expected)
    {
        await using DashboardHost host = await DashboardHost.StartAsync();

        using HttpResponseMessage answer = await host.Http.GetAsync($"/sessions?{query}", TestContext.Current.CancellationToken);

        Assert.Equal(HttpStatusCode.BadRequest, answer.StatusCode);
        Assert.StartsWith(
            expected, await answer.Content.ReadAsStringAsync(TestContext.Current.CancellationToken), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(101, HttpStatusCode.BadRequest)]
    [InlineData(2000, HttpStatusCode.BadRequest)]
    [InlineData(10_000, HttpStatusCode.RequestUriTooLong)]
    public async Task AHugeQueryIsRefused(int characters, HttpStatusCode expected)
    {
        await using DashboardHost host = await DashboardHost.StartAsync();

        using HttpResponseMessage answer = await host.Http.GetAsync(
            $"/sessions?filter={new string('x', characters)}", TestContext.Current.CancellationToken);

        Assert.Equal(expected, answer.StatusCode);
    }

    [Fact]
    public async Task AHugeLoginIsRefused()
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();

        using HttpResponseMessage answer = await LoginAsync(host, new string('x', 100_000));

        Assert.Equal(HttpStatusCode.BadRequest, answer.StatusCode);
    }

    [Fact]
    public async Task HttpsTakesACertificateAndItsCookieIsSecure()
    {
        using var key = RSA.Create(2048);
        var wanted = new CertificateRequest("CN=localhost", key, HashAlgorithmName.SHA256, RSASignaturePadding.Pkcs1);
        using X509Certificate2 certificate = wanted.CreateSelfSigned(DateTimeOffset.UtcNow.AddDays(-1), DateTimeOffset.UtcNow.AddDays(1));
        string path = Path.Combine(Path.GetTempPath(), $"fastport-dashboard-{Guid.NewGuid():N}.pfx");
        await File.WriteAllBytesAsync(path, certificate.Export(X509ContentType.Pfx, "secret"), TestContext.Current.CancellationToken);
        try
        {
            await using DashboardHost host = await DashboardHost.StartAsync(
                null,
                ("Dashboard:Url", "https://127.0.0.1:0"),
                ("Dashboard:Token", DashboardHost.Token),
                ("Dashboard:Certificate:Path", path),
                ("Dashboard:Certificate:Password", "secret"));
            using var handler = new SocketsHttpHandler { AllowAutoRedirect = false };
            handler.SslOptions.RemoteCertificateValidationCallback = (_, served, _, _) =>
                served?.GetCertHashString() == certificate.GetCertHashString();
            using var http = new HttpClient(handler) { BaseAddress = host.Url };

            using HttpResponseMessage login = await LoginAsync(http, DashboardHost.Token);

            Assert.Contains("; secure;", Assert.Single(login.Headers.GetValues("Set-Cookie")), StringComparison.Ordinal);

            // A page without TLS is another one, as whoever is on the way could make it.
            string insecure = $"http://{host.Url.Authority}";
            using HttpResponseMessage refused = await LoginAsync(http, DashboardHost.Token, insecure);
            Assert.Equal(HttpStatusCode.Forbidden, refused.StatusCode);
        }
        finally
        {
            File.Delete(path);
        }
    }

    [Theory]
    [InlineData("https://plant.example", HttpStatusCode.Redirect)]
    [InlineData("http://plant.example", HttpStatusCode.Redirect)]
    [InlineData("https://evil.example", HttpStatusCode.Forbidden)]
    [InlineData("https://plant.example:444", HttpStatusCode.Forbidden)]
    public async Task ALoginThroughAProxyThatEndsTlsIsTheDashboardsOwn(string origin, HttpStatusCode expected)
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync(("Dashboard:AllowedHosts:0", "plant.example"));
        using var request = new HttpRequestMessage(HttpMethod.Post, "/login");
        request.Content = new FormUrlEncodedContent([KeyValuePair.Create("token", DashboardHost.Token)]);
        request.Headers.Host = "plant.example";
        request.Headers.Add("Origin", origin);

        using HttpResponseMessage answer = await host.Http.SendAsync(request, TestContext.Current.CancellationToken);

        Assert.Equal(expected, answer.StatusCode);
        if (expected == HttpStatusCode.Redirect)
        {
            string cookie = Assert.Single(answer.Headers.GetValues("Set-Cookie"));
            Assert.Equal(origin.StartsWith("https:", StringComparison.Ordinal), cookie.Contains("; secure", StringComparison.Ordinal));
        }
    }

    private static Task<HttpResponseMessage> LoginAsync(DashboardHost host, string token) => LoginAsync(host.Http, token);

    private static async Task<HttpResponseMessage> LoginAsync(HttpClient http, string token, string? origin = null)
    {
        using var request = new HttpRequestMessage(HttpMethod.Post, "/login")
        {
            Content = new FormUrlEncodedContent([KeyValuePair.Create("token", token)]),
        };
        request.Headers.Add("Origin", origin ?? http.BaseAddress!.GetLeftPart(UriPartial.Authority));
        return await http.SendAsync(request, TestContext.Current.CancellationToken);
    }

    private static async Task<HttpStatusCode> BearerAsync(DashboardHost host, string token)
    {
        using var request = new HttpRequestMessage(HttpMethod.Get, "/sessions");
        request.Headers.Authorization = new AuthenticationHeaderValue("Bearer", token);
        using HttpResponseMessage answer = await host.Http.SendAsync(request, TestContext.Current.CancellationToken);
        return answer.StatusCode;
    }

    private sealed class OpenEndpoints : IDashboardEndpoints
    {
        public void Map(IEndpointRouteBuilder routes) =>
            routes.MapGet("/open", static context => context.Response.WriteAsync("open")).WithMetadata(OpenRoute.Instance);
    }
}
