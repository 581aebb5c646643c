using FastPort.Dashboard.Tests.Support;
using FastPort.Tests.Browser;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>The page in a real browser, through nginx as it is installed, below a path.</summary>
public sealed class ProxyTests(Chromium chromium) : IClassFixture<Chromium>
{
    private const string RecordStates =
        """
        window.states = [];
        addEventListener("DOMContentLoaded", () => {
          const state = document.getElementById("state-text");
          new MutationObserver(() => states.push(state.textContent))
            .observe(state, { childList: true, characterData: true, subtree: true });
        });
        """;

    [NginxTheory]
    [InlineData("")]
    [InlineData("gzip on; gzip_types *;")]
    [InlineData("proxy_set_header Host $host;")]
    public async Task The_page_works_behind_a_proxy_with_defaults_below_a_path(string settings)
    {
        await using DashboardHost host = await DashboardHost.StartWithTokenAsync();
        await using NginxProcess nginx = await StartAsync(host.Url, settings);
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, UrlOf(nginx));
        Assert.Equal(new Uri(UrlOf(nginx), "login"), new Uri(page.Page.Url));
        await page.Page.GetByLabel("Token").FillAsync(DashboardHost.Token);
        await page.Page.GetByRole(AriaRole.Button, new() { Name = "Log in" }).ClickAsync();

        // Figures, one after the other: nothing holds them back.
        await page.ShowsAsync("#state", "running");
        Assert.Equal(UrlOf(nginx), new Uri(page.Page.Url));
        await host.ConnectAsync();
        await page.ShowsAsync("#connections", "1");
        await page.ShowsAsync("#sessions tbody tr td:nth-of-type(2)", "client");
        Assert.Equal("flex", await page.Page.Locator(".brand").EvaluateAsync<string>("e => getComputedStyle(e).display"));
    }

    [NginxTheory]
    [InlineData("proxy_ignore_headers X-Accel-Buffering; proxy_buffer_size 1m; proxy_buffers 2 1m; proxy_busy_buffers_size 1m;")]
    public async Task Figures_that_a_proxy_holds_back_are_told_as_such_and_not_as_a_server_that_stopped(string settings)
    {
        await using DashboardHost host = await DashboardHost.StartAsync();
        await using NginxProcess nginx = await StartAsync(host.Url, settings);
        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, UrlOf(nginx), script: RecordStates);

        await page.ShowsAsync("#state", "no figures, retrying");

        Assert.DoesNotContain(await page.Page.EvaluateAsync<string[]>("() => states"), static state => state.Contains("stopped"));
    }

    // Nothing but a location below a path.
    private static Task<NginxProcess> StartAsync(Uri dashboard, string settings) => NginxProcess.StartAsync(port =>
        $$"""
        server {
          listen 127.0.0.1:{{port}};
          {{settings}}
          location /fp/ { proxy_pass {{dashboard.GetLeftPart(UriPartial.Authority)}}/; }
        }
        """);

    private static Uri UrlOf(NginxProcess nginx) => new($"http://127.0.0.1:{nginx.Port}/fp/");
}
