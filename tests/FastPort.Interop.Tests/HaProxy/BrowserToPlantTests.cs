using System.Text.RegularExpressions;
using FastPort.Interop.Tests.Peers;
using FastPort.Tags;
using FastPort.Tests.Browser;
using Microsoft.Playwright;
using Xunit;

namespace FastPort.Interop.Tests.HaProxy;

/// <summary>
/// From a browser to a plant: Chromium, HAProxy, which ends TLS for the pages and for WebSockets, the bridge program, node-opcua's server.
/// </summary>
public sealed partial class BrowserToPlantTests(Chromium chromium) : IClassFixture<Chromium>, IDisposable
{
    private const string Level = "#tags tbody tr:has(th:text-is('Level')) td.value";

    private readonly TemporaryDirectory _files = new();

    public void Dispose() => _files.Dispose();

    [BrowserFact]
    public async Task A_page_writes_a_tag_of_node_opcua_and_sees_its_changes()
    {
        Assert.Null(NodeInstallation.Problem);
        TestCertificates.CreateAuthority().Issue("plant", ip: ["127.0.0.1"]).WritePem(_files["server.pem"], withKey: true);
        using var node = NodeProcess.Start("opcua/server.mjs", "0");
        Started plant = await node.ReadLineAsync<Started>();
        await using ServerProcess bridge = StartBridge(plant);
        string socket = await bridge.ListeningAsync();
        await bridge.PrintedAsync("dashboard on ", 1);
        int dashboard = int.Parse(DashboardPort.Match(bridge.Output).Groups[1].ValueSpan, provider: null);
        await using HaProxyProcess proxy = await HaProxyProcess.StartAsync(
            _files, $"ssl crt {_files["server.pem"]} alpn http/1.1", Endpoint.Parse(socket).Port, string.Empty, "http", dashboard);

        await using VisitedPage page = await VisitedPage.OpenAsync(chromium, new Uri($"https://127.0.0.1:{proxy.Port}/tags"));
        await page.ShowsAsync("#state", "connected");
        await page.Page.GetByLabel("Filter").FillAsync("Level");
        await page.Page.GetByRole(AriaRole.Button, new PageGetByRoleOptions { Name = "Write node/Level" }).ClickAsync();
        await page.Page.GetByLabel("New value, 0 to 200").FillAsync("87.5");
        await page.Page.Keyboard.PressAsync("Enter");

        await page.ShowsAsync("#message", "node/Level was set to 87.5.");
        await page.ShowsAsync(Level, "87.5");

        // What the plant has, asked without the bridge's memory; then the change of another client.
        await using TagClient other = await TagClient.ConnectAsync(new FastPortClientOptions { Endpoint = socket });
        Assert.Equal(87.5, (await other.ReadAsync("node/Level", cancellationToken: Patience.Token)).Value.Get<double>());
        Assert.Equal(TagStatus.Good, await other.WriteAsync("node/Level", 12.25, cancellationToken: Patience.Token));
        await page.ShowsAsync(Level, "12.25");
    }

    // The dashboard names a path of the proxy's host, which needs no origin to be listed.
    private static ServerProcess StartBridge(Started plant) => ServerProcess.StartProgram(
        AppContext.BaseDirectory.Replace("tests/FastPort.Interop.Tests", "src/FastPort.OpcBridge", StringComparison.Ordinal),
        "FastPort.OpcBridge.dll",
        ["--listen", "ws://127.0.0.1:0/tags", "--dashboard", "http://127.0.0.1:0"],
        ("Dashboard__WebSocketUrl", "/tags"),
        ("OpcBridge__Endpoints__node__EndpointUrl", $"opc.tcp://127.0.0.1:{plant.Port}"),
        ("OpcBridge__Endpoints__node__AllowWrite", "true"),
        ("OpcBridge__Endpoints__node__Below__0", $"nsu={plant.NamespaceUri};i=90000"));

    [GeneratedRegex("dashboard on http://127.0.0.1:([0-9]+)")]
    private static partial Regex DashboardPort { get; }

    private sealed record Started(int Port, string NamespaceUri);
}
