using FastPort.Interop.Tests.OpcUa;
using FastPort.Tests.Browser;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Interop.Tests.Browser;

/// <summary>The page of samples/BrowserGame: the sample as its user starts it, in a real browser.</summary>
public sealed class RoomPageTests(Chromium chromium) : IClassFixture<Chromium>, IDisposable
{
    private readonly HeldPort _pages = new();
    private readonly HeldPort _game = new();

    private string Url => $"http://127.0.0.1:{_pages.Number}/";

    public void Dispose()
    {
        _pages.Dispose();
        _game.Dispose();
    }

    [BrowserTheory]
    [InlineData(1280, ColorScheme.Light)]
    [InlineData(390, ColorScheme.Dark)]
    public async Task Dots_move_by_pointer_and_keys_and_latencies_are_shown(int width, ColorScheme scheme)
    {
        await using HostedProgram sample = await StartAsync();
        await using VisitedPage ann = await VisitedPage.OpenAsync(chromium, new Uri($"{Url}?name=Ann"), width, scheme);
        await ann.ShowsAsync("#state", "You are Ann");
        ILocator room = ann.Page.GetByRole(AriaRole.Application, new PageGetByRoleOptions { Name = "The room" });
        LocatorBoundingBoxResult box = (await room.BoundingBoxAsync())!;

        await room.ClickAsync(new LocatorClickOptions { Position = new Position { X = box.Width / 2, Y = box.Height / 2 } });
        await IsAtAsync(ann, "Math.abs(x - 500) < 10 && Math.abs(y - 300) < 10");

        await room.FocusAsync();
        await ann.Page.Keyboard.DownAsync("ArrowRight");
        await IsAtAsync(ann, "x > 600 && Math.abs(y - 300) < 10");
        await ann.Page.Keyboard.DownAsync("ArrowUp");
        await IsAtAsync(ann, "x === 1000 && y === 0");
        await ann.Page.Keyboard.UpAsync("ArrowUp");
        await ann.Page.Keyboard.UpAsync("ArrowRight");
        await Assertions.Expect(ann.Page.Locator("#target")).ToBeHiddenAsync();
        await ann.UntilAsync(
            """
            () => ["roundTrip", "server", "network"].every(id =>
              [...document.getElementById(id).cells].slice(1).every(cell => Number(cell.textContent) > 0))
            """);
        await ann.AssertAccessibleAsync();

        const string Animation = "getComputedStyle(document.getElementById('target')).animationName";
        Assert.Equal("turn", await ann.Page.EvaluateAsync<string>(Animation));
        await ann.Page.EmulateMediaAsync(new PageEmulateMediaOptions { ReducedMotion = ReducedMotion.Reduce });
        Assert.Equal("none", await ann.Page.EvaluateAsync<string>(Animation));
    }

    [BrowserFact]
    public async Task Pages_see_each_other_come_and_go_and_return_after_a_restart()
    {
        HostedProgram first = await StartAsync();
        await using VisitedPage ann = await VisitedPage.OpenAsync(chromium, new Uri($"{Url}?name=Ann"), 1280, ColorScheme.Dark);
        await ann.ShowsAsync("#state", "You are Ann");
        await using (VisitedPage bob = await VisitedPage.OpenAsync(chromium, new Uri($"{Url}?name=Bob"), 390))
        {
            await bob.ShowsAsync("#people", "AnnBob (you)");
            await ann.ShowsAsync("#people", "Ann (you)Bob");
            await ann.ShowsAsync("#news", "Bob came.");
            await ann.ShowsAsync("#dots", "AnnBob");
            await bob.AssertAccessibleAsync();
        }

        await ann.ShowsAsync("#news", "Bob left.");
        await ann.ShowsAsync("#dots", "Ann");
        await first.DisposeAsync();
        await ann.ShowsAsync("#state", "The server does not answer. Trying again");
        await ann.ShowsAsync("#dots", string.Empty);
        await ann.AssertAccessibleAsync();

        await using HostedProgram second = await StartAsync();
        await ann.ShowsAsync("#state", "You are Ann");
        await ann.ShowsAsync("#dots", "Ann");
    }

    [BrowserFact]
    public async Task A_refusal_of_the_server_is_shown()
    {
        await using HostedProgram sample = await StartAsync("--FastPort:Session:MaxStreams=0");
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, new Uri(Url));

        await Assertions.Expect(page.Page.Locator("#state")).ToContainTextAsync("Trying again");
        Assert.Contains("stream", await page.Page.Locator("#state").InnerTextAsync(), StringComparison.OrdinalIgnoreCase);
    }

    private static async Task IsAtAsync(VisitedPage page, string where)
    {
        try
        {
            await page.UntilAsync(
                $$"""
                () => {
                  const [x, y] = document.querySelector(".dot.you")?.getAttribute("transform")?.match(/[\d.]+/g).map(Number) ?? [];
                  return {{where}};
                }
                """);
        }
        catch (TimeoutException)
        {
            Assert.Fail($"Not {where}: {(await page.Page.InnerHTMLAsync("body")).ReplaceLineEndings(" ")}");
        }
    }

    private Task<HostedProgram> StartAsync(params string[] more) => HostedProgram.StartAsync(
        AppContext.BaseDirectory.Replace(
            Path.Combine("tests", "FastPort.Interop.Tests"), Path.Combine("samples", "BrowserGame"), StringComparison.Ordinal)
            + "BrowserGame",
        [$"--Page={Url}", $"--FastPort:Endpoints:0=ws://127.0.0.1:{_game.Number}/game", .. more]);
}
