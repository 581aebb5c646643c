using FastPort.Dashboard.Tests.Support;
using FastPort.Protocol;
using Google.Protobuf;
using Xunit;

namespace FastPort.Dashboard.Tests.Metrics;

/// <summary>FastPort.Server as a process with a dashboard, and a client that asks it for echoes.</summary>
internal sealed class MeteredServer : IAsyncDisposable
{
    private readonly ServerProcess _process;
    private readonly FastPortClient _client;
    private readonly HttpClient _http;

    private MeteredServer(ServerProcess process, FastPortClient client, Uri dashboard)
    {
        _process = process;
        _client = client;
        _http = new HttpClient { BaseAddress = dashboard };
        Dashboard = dashboard;
    }

    public Uri Dashboard { get; }

    public HttpClient Http => _http;

    public ServerProcess Process => _process;

    public static async Task<MeteredServer> StartAsync(params (string Key, string Value)[] environment)
    {
        ServerProcess process = DashboardPrograms.StartServer(DashboardPrograms.Listen, environment);
        string endpoint = await process.ListeningAsync();
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint });
        await client.ConnectAsync();
        return new MeteredServer(process, client, await DashboardPrograms.DashboardAsync(process));
    }

    /// <summary>Asks for echoes, one after the other.</summary>
    public async Task EchoAsync(int count)
    {
        for (int i = 0; i < count; i++)
        {
            await _client.RequestAsync(DiagnosticType.Echo, new Echo { Payload = ByteString.CopyFromUtf8("hello") }, Echo.Parser);
        }
    }

    public Task<string> GetMetricsAsync() => _http.GetStringAsync("/metrics", TestContext.Current.CancellationToken);

    /// <summary>The metrics when a series has a value; messages are counted at the next tick of a clock.</summary>
    public async Task<PrometheusText> MetricsAsync(string series, double value)
    {
        CancellationToken patience = Patience.Token;
        while (true)
        {
            var metrics = new PrometheusText(await GetMetricsAsync());
            if (metrics.Find(series) is { } found && found == value)
            {
                return metrics;
            }

            Assert.False(patience.IsCancellationRequested, $"{series} did not become {value}, but is {metrics.Find(series)}.");
            await Task.Delay(TimeSpan.FromMilliseconds(20), TestContext.Current.CancellationToken);
        }
    }

    public async ValueTask DisposeAsync()
    {
        await _client.DisposeAsync();
        _http.Dispose();
        await _process.DisposeAsync();
    }
}
