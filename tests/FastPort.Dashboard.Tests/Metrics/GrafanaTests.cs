using System.Text.Json;
using System.Text.RegularExpressions;
using FastPort.Dashboard.Tests.Support;
using FastPort.Tags;
using Xunit;

namespace FastPort.Dashboard.Tests.Metrics;

/// <summary>The dashboard in docs/grafana: its names are those of live servers, and its expressions give data in Prometheus.</summary>
public sealed partial class GrafanaTests
{
    [Fact]
    public async Task Every_name_of_the_dashboard_is_one_that_a_server_has()
    {
        await using MeteredServer server = await MeteredServer.StartAsync();
        await using ServerProcess bridge = DashboardPrograms.StartBridge();
        await server.EchoAsync(1);
        await using TagClient tags = await ReadTagAsync(bridge);
        PrometheusText metrics = await server.MetricsAsync("fastport_request_duration_seconds_count{message_type=\"Echo\"}", 1);
        using var http = new HttpClient();
        var bridged = new PrometheusText(await http.GetStringAsync(
            new Uri(await DashboardPrograms.DashboardAsync(bridge), "/metrics"), TestContext.Current.CancellationToken));

        string[] used = [.. Expressions().SelectMany(static e => Name.Matches(e.Expression)).Select(static m => m.Value).Distinct()];

        Assert.Empty(used.Except(metrics.Names.Concat(bridged.Names)));
        Assert.InRange(used.Length, 30, 200);
    }

    [PrometheusFact]
    public async Task Every_expression_gives_data_from_a_server_under_load()
    {
        await using MeteredServer server = await MeteredServer.StartAsync();
        await using ServerProcess bridge = DashboardPrograms.StartBridge();
        await using TagClient tags = await ReadTagAsync(bridge);
        await using PrometheusProcess prometheus = await PrometheusProcess.StartAsync(
            server.Dashboard, await DashboardPrograms.DashboardAsync(bridge));
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        Task load = LoadAsync(server, tags, ended.Token);

        foreach ((string panel, string expression) in Expressions())
        {
            await prometheus.HasDataAsync(panel, expression);
        }

        await ended.CancelAsync();
        await load;

        // It would say so: a name that is not there gives none.
        Assert.False(await prometheus.TryQueryAsync("fastport_nothing_total"));
        await Assert.ThrowsAnyAsync<Exception>(() => prometheus.TryQueryAsync("sum(("));
    }

    private static async Task LoadAsync(MeteredServer server, TagClient tags, CancellationToken ended)
    {
        while (!ended.IsCancellationRequested)
        {
            await server.EchoAsync(20);
            await tags.ReadAsync("simulation/Int32.0", cancellationToken: CancellationToken.None);
            await Task.Delay(TimeSpan.FromMilliseconds(5), CancellationToken.None);
        }
    }

    private static async Task<TagClient> ReadTagAsync(ServerProcess bridge)
    {
        string endpoint = await bridge.ListeningAsync();
        TagClient tags = await TagClient.ConnectAsync(new FastPortClientOptions { Endpoint = endpoint });
        await tags.ReadAsync("simulation/Int32.0", cancellationToken: TestContext.Current.CancellationToken);
        return tags;
    }

    private static List<(string Panel, string Expression)> Expressions()
    {
        string root = AppContext.BaseDirectory[..AppContext.BaseDirectory.IndexOf("/tests/", StringComparison.Ordinal)];
        using JsonDocument file = JsonDocument.Parse(File.ReadAllText(Path.Combine(root, "docs", "grafana", "fastport.json")));
        return
        [
            .. file.RootElement.GetProperty("panels").EnumerateArray().Where(static panel => panel.TryGetProperty("targets", out _))
                .SelectMany(static panel => panel.GetProperty("targets").EnumerateArray().Select(target =>
                    (panel.GetProperty("title").GetString()!, target.GetProperty("expr").GetString()!))),
        ];
    }

    [GeneratedRegex("\\b(fastport|dotnet)_[a-z0-9_]+(?=\\{)")]
    private static partial Regex Name { get; }
}
