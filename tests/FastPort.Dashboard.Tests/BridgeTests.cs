using System.Text.Json;
using FastPort.Dashboard.Tests.Metrics;
using FastPort.Dashboard.Tests.Support;
using FastPort.Tags;
using Xunit;

namespace FastPort.Dashboard.Tests;

/// <summary>The bridge as a process: its page, its metrics and its export.</summary>
public sealed class BridgeTests
{
    [Fact]
    public async Task ThePageHasEndpointsTagsCacheHitsAndCoalescing()
    {
        await using ServerProcess bridge = DashboardPrograms.StartBridge();
        await using TagClient tags = await ConnectAsync(bridge);
        using var http = new HttpClient { BaseAddress = await DashboardPrograms.DashboardAsync(bridge) };
        TagList list = await tags.ResolveAsync(["simulation/Int32.0", "simulation/Int32.1"], Patience.Token);
        for (int i = 0; i < 20; i++)
        {
            await tags.ReadAsync(list, cancellationToken: Patience.Token);
            await tags.ReadAsync(list, TimeSpan.FromHours(1), cancellationToken: Patience.Token);
        }

        using EventStream events = await EventStream.OpenAsync(http);
        (string name, JsonElement history) = (await events.ReadAsync())!.Value;
        JsonElement figures = await events.ReadFiguresAsync(static f => Count(f, "cached") >= 40);

        Assert.Equal("history", name);
        Assert.StartsWith("tcp://127.0.0.1:", history.GetProperty("endpoints")[0].GetString(), StringComparison.Ordinal);
        Assert.InRange(Count(figures, "read"), 2, 1000);
        Assert.NotNull(Ratio(figures, "cache_hit_rate"));
        Assert.NotNull(Ratio(figures, "coalescing_factor"));
        Assert.Contains(
            figures.GetProperty("latencies").EnumerateArray(), static one => one.GetProperty("name").GetString() == "ReadTags");
        Assert.Contains(
            figures.GetProperty("operations").EnumerateArray(),
            static one => one.GetProperty("name").GetString()!.Contains("simulation", StringComparison.Ordinal));

        bridge.Signal(ServerProcess.SigTerm);
        await ReadToEndAsync(events);
        Assert.Equal(0, await bridge.ExitAsync());
        Assert.Empty(bridge.Errors);
    }

    [Fact]
    public async Task MetricsAndTracesArriveByOtlp()
    {
        await using OtlpReceiver receiver = await OtlpReceiver.StartAsync(grpc: false);
        await using ServerProcess bridge = DashboardPrograms.StartBridge(
            ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.Url),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "200"),
            ("OTEL_TRACES_EXPORTER", "otlp"),
            ("OTEL_BSP_SCHEDULE_DELAY", "200"));
        await using TagClient tags = await ConnectAsync(bridge);

        await tags.ReadAsync("simulation/Int32.0", cancellationToken: Patience.Token);

        const string Series = "fastport.request.duration.count {message}{message.type=ReadTags}";
        await Patience.UntilAsync(
            () => receiver.Values.TryGetValue(Series, out double count) && count == 1, "the metric of the read has arrived");
        await Patience.UntilAsync(
            () => receiver.Spans.Contains("ReadTags") && receiver.Spans.Contains("Read"),
            "the spans of the tag and of OPC UA have arrived");
        Assert.Equal("FastPort.OpcBridge", receiver.Resource["service.name"]);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task NothingOfOpenTelemetryIsLoadedUnlessItIsAskedFor(bool isAsked)
    {
        await using OtlpReceiver receiver = await OtlpReceiver.StartAsync(grpc: false);
        await using ServerProcess bridge = DashboardPrograms.StartBridgeAlone(
            ("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.Url),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_METRICS_EXPORTER", isAsked ? "otlp" : "none"));
        await bridge.ListeningAsync();

        string maps = await File.ReadAllTextAsync($"/proc/{bridge.Id}/maps", TestContext.Current.CancellationToken);

        Assert.Contains("FastPort.OpcUa", maps, StringComparison.Ordinal);
        Assert.Equal(isAsked, maps.Contains("OpenTelemetry", StringComparison.Ordinal));
        Assert.DoesNotContain("FastPort.Security", maps, StringComparison.Ordinal);
    }

    private static async Task<TagClient> ConnectAsync(ServerProcess bridge) =>
        await TagClient.ConnectAsync(new FastPortClientOptions { Endpoint = await bridge.ListeningAsync() });

    private static async Task ReadToEndAsync(EventStream events)
    {
        while (await events.ReadAsync() is not null)
        {
        }
    }

    private static long Count(JsonElement figures, string name) => Find(figures, name)?.GetProperty("count").GetInt64() ?? 0;

    private static double? Ratio(JsonElement figures, string name) =>
        Find(figures, name)?.GetProperty("ratio") is { ValueKind: JsonValueKind.Number } ratio ? ratio.GetDouble() : null;

    private static JsonElement? Find(JsonElement figures, string name)
    {
        foreach (JsonElement one in figures.GetProperty("counts").EnumerateArray())
        {
            if (one.GetProperty("owner").GetString() == "simulation" && one.GetProperty("name").GetString() == name)
            {
                return one;
            }
        }

        return null;
    }
}
