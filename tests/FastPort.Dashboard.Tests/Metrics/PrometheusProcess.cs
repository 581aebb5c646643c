using System.Diagnostics;
using System.Net;
using System.Text.Json;
using System.Text.RegularExpressions;
using Xunit;

namespace FastPort.Dashboard.Tests.Metrics;

/// <summary>Prometheus as a process that scrapes servers each second. It is ended by its id when disposed.</summary>
internal sealed partial class PrometheusProcess : IAsyncDisposable
{
    private readonly TemporaryDirectory _directory;
    private readonly Process _process;
    private readonly HttpClient _http;
    private readonly Task _reading;

    private PrometheusProcess(TemporaryDirectory directory, Process process, Uri url)
    {
        _directory = directory;
        _process = process;
        _http = new HttpClient { BaseAddress = url };

        // Its log must be read to its end, or it blocks.
        _reading = process.StandardError.ReadToEndAsync();
    }

    public static async Task<PrometheusProcess> StartAsync(params Uri[] servers)
    {
        var directory = new TemporaryDirectory();
        string configuration = Path.Combine(directory.Path, "prometheus.yml");
        string targets = string.Join(", ", servers.Select(static server => $"'{server.Authority}'"));
        await File.WriteAllTextAsync(
            configuration,
            $"""
            global:
              scrape_interval: 1s
            scrape_configs:
              - job_name: fastport
                static_configs:
                  - targets: [{targets}]
            """);
        Process process = PrometheusTools.Start(
            "prometheus",
            $"--config.file={configuration}",
            $"--storage.tsdb.path={Path.Combine(directory.Path, "data")}",
            "--web.listen-address=127.0.0.1:0");
        while (await process.StandardError.ReadLineAsync(Patience.Token) is { } line)
        {
            if (Listening.Match(line) is { Success: true } match)
            {
                return new PrometheusProcess(directory, process, new Uri($"http://{match.Groups[1].Value}"));
            }
        }

        throw new InvalidOperationException("Prometheus has ended without saying where it listens.");
    }

    /// <summary>Waits until an expression of a panel gives data; a second or two after the start there is none.</summary>
    public async Task HasDataAsync(string panel, string expression)
    {
        CancellationToken patience = Patience.Token;
        string query = expression
            .Replace("$__rate_interval", "10s", StringComparison.Ordinal)
            .Replace("$instance", ".*", StringComparison.Ordinal);
        while (!await TryQueryAsync(query))
        {
            if (patience.IsCancellationRequested)
            {
                string targets = await _http.GetStringAsync("/api/v1/targets", TestContext.Current.CancellationToken);
                Assert.Fail($"Panel '{panel}' has no data: {query}\n{targets}");
            }

            await Task.Delay(TimeSpan.FromMilliseconds(200), TestContext.Current.CancellationToken);
        }
    }

    /// <summary>Whether an expression gives at least one value that is a number.</summary>
    public async Task<bool> TryQueryAsync(string query)
    {
        using HttpResponseMessage response = await _http.GetAsync(
            $"/api/v1/query?query={Uri.EscapeDataString(query)}", TestContext.Current.CancellationToken);
        if (response.StatusCode == HttpStatusCode.ServiceUnavailable)
        {
            // It listens before it has read its own data.
            return false;
        }

        string body = await response.Content.ReadAsStringAsync(TestContext.Current.CancellationToken);
        using JsonDocument answer = JsonDocument.Parse(body);
        if (answer.RootElement.GetProperty("status").GetString() != "success")
        {
            throw new InvalidOperationException(body);
        }

        return answer.RootElement.GetProperty("data").GetProperty("result").EnumerateArray()
            .Any(static series => series.GetProperty("value")[1].GetString() != "NaN");
    }

    public async ValueTask DisposeAsync()
    {
        _http.Dispose();
        _process.Kill();
        await _process.WaitForExitAsync();
        await _reading;
        _process.Dispose();
        _directory.Dispose();
    }

    [GeneratedRegex("msg=\"Listening on\" address=(\\S+)")]
    private static partial Regex Listening { get; }
}
