using System.Diagnostics;
using System.Text.RegularExpressions;
using Xunit;

namespace FastPort.Dashboard.Tests.Metrics;

/// <summary>What docs/observability.md prints for Prometheus is what Prometheus takes, and what its alerts ask for is there.</summary>
public sealed partial class ObservabilityPageTests
{
    private const string TokenFile = "/etc/prometheus/fastport-token";

    [PrometheusFact]
    public async Task Printed_configurations_are_valid()
    {
        using var directory = new TemporaryDirectory();
        string token = Path.Combine(directory.Path, "token");
        await File.WriteAllTextAsync(token, "secret", TestContext.Current.CancellationToken);
        string[] printed = [.. Blocks().Where(static block => block.Contains("scrape_configs:", StringComparison.Ordinal))];

        Assert.Equal(2, printed.Length);
        foreach (string text in printed)
        {
            string file = Path.Combine(directory.Path, "prometheus.yml");
            await File.WriteAllTextAsync(
                file, text.Replace(TokenFile, token, StringComparison.Ordinal), TestContext.Current.CancellationToken);
            using Process promtool = PrometheusTools.Start("promtool", "check", "config", file);
            string said = await promtool.StandardOutput.ReadToEndAsync(Patience.Token)
                + await promtool.StandardError.ReadToEndAsync(Patience.Token);
            await promtool.WaitForExitAsync(Patience.Token);
            Assert.True(promtool.ExitCode == 0, said);
        }
    }

    [PrometheusFact]
    public async Task Printed_expressions_give_data_from_a_server()
    {
        await using MeteredServer server = await MeteredServer.StartAsync();
        await using PrometheusProcess prometheus = await PrometheusProcess.StartAsync(server.Dashboard);
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(TestContext.Current.CancellationToken);
        Task load = LoadAsync(server, ended.Token);
        string[] expressions =
        [
            .. Blocks().SelectMany(static block => block.Split('\n'))
                .Where(static line => line.Contains("fastport_", StringComparison.Ordinal) && Expression().IsMatch(line)),
        ];

        Assert.Equal(5, expressions.Length);
        foreach (string expression in expressions)
        {
            // What an alert compares, over a time that has passed in the test.
            string compared = Threshold().Replace(expression, string.Empty);
            await prometheus.HasDataAsync("docs/observability.md", Window().Replace(compared, "[10s]"));
        }

        await ended.CancelAsync();
        await load;
    }

    private static async Task LoadAsync(MeteredServer server, CancellationToken ended)
    {
        while (!ended.IsCancellationRequested)
        {
            await server.EchoAsync(20);
            await Task.Delay(TimeSpan.FromMilliseconds(5), CancellationToken.None);
        }
    }

    // Lines that are indented by four, in a row.
    private static IEnumerable<string> Blocks()
    {
        string root = AppContext.BaseDirectory[..AppContext.BaseDirectory.IndexOf("/tests/", StringComparison.Ordinal)];
        List<string> block = [];
        foreach (string line in File.ReadLines(Path.Combine(root, "docs", "observability.md")).Append(string.Empty))
        {
            if (line.StartsWith("    ", StringComparison.Ordinal))
            {
                block.Add(line[4..]);
            }
            else if (block.Count != 0)
            {
                yield return string.Join('\n', block) + "\n";
                block.Clear();
            }
        }
    }

    [GeneratedRegex("^(histogram_quantile|sum by|fastport_[a-z_]+ /)")]
    private static partial Regex Expression();

    [GeneratedRegex(" > [0-9.]+$")]
    private static partial Regex Threshold();

    [GeneratedRegex("\\[[0-9]+m\\]")]
    private static partial Regex Window();
}
