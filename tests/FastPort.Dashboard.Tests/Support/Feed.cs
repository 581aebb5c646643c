using System.Text;
using System.Text.Json;
using FastPort.Dashboard.Live;
using FastPort.Telemetry;
using Microsoft.Extensions.Logging;
using Xunit;

namespace FastPort.Dashboard.Tests.Support;

/// <summary>A feed of a server that does not run, in a time that the test moves.</summary>
internal sealed class Feed : IAsyncDisposable
{
    private readonly LiveFeed _feed;

    public Feed(TimeProvider time, INodes? nodes = null)
    {
        var server = new FastPortServer(new FastPortServerOptions());
        Stats = new LatencyStats(LatencyRole.Server, time: time);
        var warnings = new RecentWarnings(time);
        ILogger<DashboardServer> logger = new LoggerFactory([Log]).CreateLogger<DashboardServer>();
        _feed = new LiveFeed(
            new LiveSampler(
                server,
                new LatencySampler(Stats, logger),
                new ServerReasons(server),
                new NodeSampler(nodes),
                warnings,
                new Security.WrongTokens(),
                new HostState(new NoLifetime()),
                time),
            new ServerDescription(server, "test", allowsActions: false),
            time,
            logger);
        _feed.Start();
    }

    public LatencyStats Stats { get; }

    public LogLines Log { get; } = new();

    public Task TakenAsync(int samples) => Patience.UntilAsync(() => _feed.Samples == samples, $"{samples} samples are taken");

    public async Task<JsonElement> HistoryAsync() => (await ReadAsync()).History;

    public async Task<JsonElement> LatestAsync() => (await ReadAsync()).Figures;

    public async ValueTask DisposeAsync() => await _feed.StopAsync();

    private async Task<(JsonElement History, JsonElement Figures)> ReadAsync()
    {
        EventReader reader = _feed.Open(static () => { })!;
        _feed.Close(reader);
        reader.Complete();
        List<JsonElement> events = [];
        await foreach (byte[] bytes in reader.ReadAllAsync(TestContext.Current.CancellationToken))
        {
            string text = Encoding.UTF8.GetString(bytes);
            events.Add(JsonDocument.Parse(text[(text.IndexOf("data: ", StringComparison.Ordinal) + 6)..]).RootElement);
        }

        return (events[0], events[1]);
    }

    private sealed class NoLifetime : Microsoft.Extensions.Hosting.IHostApplicationLifetime
    {
        public CancellationToken ApplicationStarted => CancellationToken.None;

        public CancellationToken ApplicationStopping => CancellationToken.None;

        public CancellationToken ApplicationStopped => CancellationToken.None;

        public void StopApplication()
        {
        }
    }
}
