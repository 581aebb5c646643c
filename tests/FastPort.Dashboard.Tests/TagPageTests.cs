using System.Security.Claims;
using FastPort.Dashboard.Tests.Support;
using FastPort.Tags;
using FastPort.Tests.Browser;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>The page of tags in a browser: it is a client of the server, with the rights of its user.</summary>
public sealed class TagPageTests(Chromium chromium) : IClassFixture<Chromium>
{
    [BrowserTheory]
    [InlineData(1280, ColorScheme.Light)]
    [InlineData(1280, ColorScheme.Dark)]
    [InlineData(390, ColorScheme.Light)]
    [InlineData(390, ColorScheme.Dark)]
    public async Task TagsChangeAndAreWritten(int width, ColorScheme colors)
    {
        await using TagHost host = await TagHost.StartAsync();
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, host.Url, width, colors);
        await page.Page.GetByRole(AriaRole.Link, new() { Name = "Tags" }).ClickAsync();
        await page.ShowsAsync("#state", "connected");
        await page.Page.GetByRole(AriaRole.Button, new() { Name = "press", Exact = true }).ClickAsync();
        await ShowsAsync(page, "speed", "12.5", "Good");
        await ShowsAsync(page, "limit", "9007199254740993", "Good");
        await ShowsAsync(page, "row", "[1, 2, 3]", "Good");

        host.Source.Set("press/speed", 13.5);
        await ShowsAsync(page, "speed", "13.5", "Good");
        host.Source.Set("press/speed", 13.5, TagStatus.BadNoCommunication);
        await ShowsAsync(page, "speed", "13.5", "BadNoCommunication");
        await page.AssertAccessibleAsync();

        // An Int64 that a double cannot hold.
        await WriteAsync(page, "press/limit", "9007199254740992.5");
        await page.ShowsAsync("#write-problem", "Give a whole number from -9223372036854775808 to 9223372036854775807.");
        await page.AssertAccessibleAsync();
        await page.Page.GetByLabel("New value").FillAsync("9007199254740995");
        await page.Page.Keyboard.PressAsync("Enter");
        await ShowsAsync(page, "limit", "9007199254740995", "Good");
        await page.ShowsAsync("#message", "press/limit was set to 9007199254740995.");
        Assert.Equal(["Write press/limit", "Write press/name"], await page.Page.Locator("#tags button").EvaluateAllAsync<string[]>(
            "all => all.map(one => one.getAttribute('aria-label')).sort()"));

        await page.Page.GetByLabel("Filter").FillAsync("NAME");
        await page.ShowsAsync("#count", "1 of 1 tags");
    }

    [BrowserFact]
    public async Task ThePageComesBackWithTheServer()
    {
        await using TagHost host = await TagHost.StartAsync();
        await using VisitedPage page = await OpenAsync(host);
        await page.Page.GetByRole(AriaRole.Button, new() { Name = "oven" }).ClickAsync();
        await ShowsAsync(page, "door", "false", "Good");

        Session first = Assert.Single(host.Server.Sessions);
        first.Kick(ErrorCode.Internal, "A test ends the session.");
        await Patience.UntilAsync(() => host.Server.Sessions.Any(one => one.Id != first.Id), "the page has reconnected");
        host.Source.Set("oven/door", true);

        await page.ShowsAsync("#state", "connected");
        await ShowsAsync(page, "door", "true", "Good");
    }

    [BrowserFact]
    public async Task TheServerDecidesWhoMayWrite()
    {
        await using TagHost host = await TagHost.StartAsync(static services =>
        {
            services.AddSingleton<IAuthenticator, Users>();
            services.AddSingleton<TagAuthorizer>(
                static (session, access, _, _) => access != TagAccess.Write || session.User?.Identity?.Name == "anna");
        });
        await using VisitedPage page = await OpenAsync(host, "not logged in");
        await page.Page.GetByLabel("Password or token").FillAsync("wrong");
        await page.Page.Keyboard.PressAsync("Enter");
        await page.ShowsAsync("#user-problem", "Nobody has this token.");
        await page.AssertAccessibleAsync();

        await LogInAsync(page, "bob");
        await page.Page.GetByRole(AriaRole.Button, new() { Name = "oven" }).ClickAsync();
        await ShowsAsync(page, "door", "false", "Good");
        Assert.Equal(0, await page.Page.Locator("#tags button").CountAsync());

        await page.Page.GetByRole(AriaRole.Button, new() { Name = "Log in to the server" }).ClickAsync();
        await LogInAsync(page, "anna");
        await WriteAsync(page, "oven/door", "true");
        await ShowsAsync(page, "door", "true", "Good");
        await Patience.UntilAsync(() => host.Server.Sessions.Count == 1, "the session of the user before has ended");
        await page.ShowsAsync("#state", "connected");
    }

    [BrowserFact]
    public async Task WithoutAnEndpointForBrowsersThePageSaysSo()
    {
        await using TagHost host = await TagHost.StartAsync(null, ("FastPort:Endpoints:0", "tcp://127.0.0.1:0"));
        await using VisitedPage page = await OpenAsync(host, "no tags");

        await Assertions.Expect(page.Page.Locator("#message")).ToContainTextAsync("it needs an endpoint such as ws://");
    }

    private static async Task<VisitedPage> OpenAsync(Chromium chromium, TagHost host, string state)
    {
        VisitedPage page = await VisitedPage.OpenAsync(chromium, new Uri(host.Url, "tags"));
        await page.ShowsAsync("#state", state);
        return page;
    }

    private Task<VisitedPage> OpenAsync(TagHost host, string state = "connected") => OpenAsync(chromium, host, state);

    private static async Task ShowsAsync(VisitedPage page, string tag, string value, string quality)
    {
        ILocator row = page.Page.Locator($"#tags tbody tr:has(th:text-is('{tag}'))");
        var options = new LocatorAssertionsToHaveTextOptions { Timeout = (float)Patience.Limit.TotalMilliseconds };
        await Assertions.Expect(row.Locator("td").Nth(0)).ToHaveTextAsync(value, options);
        await Assertions.Expect(row.Locator("td").Nth(2)).ToHaveTextAsync(quality, options);
    }

    private static async Task WriteAsync(VisitedPage page, string tag, string value)
    {
        await page.Page.GetByRole(AriaRole.Button, new() { Name = $"Write {tag}" }).ClickAsync();
        await page.Page.GetByLabel("New value").FillAsync(value);
        await page.Page.Keyboard.PressAsync("Enter");
    }

    private static async Task LogInAsync(VisitedPage page, string user)
    {
        await page.Page.GetByLabel("User; empty for a token").FillAsync(user);
        await page.Page.GetByLabel("Password or token").FillAsync("secret");
        await page.Page.Keyboard.PressAsync("Enter");
        await page.ShowsAsync("#state", "connected");
    }

    private sealed class Users : IAuthenticator
    {
        public ValueTask<AuthenticationResult> AuthenticateAsync(HelloRequest hello, CancellationToken cancellationToken) => new(
            hello.Token switch
            {
                "Basic YW5uYTpzZWNyZXQ=" => AuthenticationResult.Accept(User("anna")),
                "Basic Ym9iOnNlY3JldA==" => AuthenticationResult.Accept(User("bob")),
                _ => AuthenticationResult.Refuse("Nobody has this token."),
            });

        private static ClaimsPrincipal User(string name) => new(new ClaimsIdentity([new Claim(ClaimTypes.Name, name)], "token"));
    }
}
