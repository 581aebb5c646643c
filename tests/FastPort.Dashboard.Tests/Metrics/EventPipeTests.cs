using System.Collections.Concurrent;
using System.Diagnostics;
using System.Diagnostics.Tracing;
using System.Globalization;
using Microsoft.Diagnostics.NETCore.Client;
using Microsoft.Diagnostics.Tracing;
using Xunit;

namespace FastPort.Dashboard.Tests.Metrics;

/// <summary>What <c>dotnet-counters monitor --counters FastPort</c> sees: it reads the same events of a running process.</summary>
public sealed class EventPipeTests
{
    private const long TimeSeriesValues = 2;

    [Fact]
    public async Task Counters_and_gauges_are_seen_from_another_process()
    {
        await using MeteredServer server = await MeteredServer.StartAsync(("DOTNET_EnableDiagnostics", "1"));
        await server.EchoAsync(100);
        var seen = new ConcurrentDictionary<string, double>(StringComparer.Ordinal);
        var arguments = new Dictionary<string, string>(StringComparer.Ordinal)
        {
            ["SessionId"] = Guid.NewGuid().ToString(),
            ["Metrics"] = "FastPort",
            ["RefreshInterval"] = "1",
            ["MaxTimeSeries"] = "1000",
            ["MaxHistograms"] = "20",
        };
        var client = new DiagnosticsClient(server.Process.Id);
        using EventPipeSession session = await client.StartEventPipeSessionAsync(
            [new EventPipeProvider("System.Diagnostics.Metrics", EventLevel.Informational, TimeSeriesValues, arguments)],
            requestRundown: false,
            circularBufferMB: 16,
            TestContext.Current.CancellationToken);

        // Process blocks until the session ends.
        Task reading = Task.Factory.StartNew(() => Read(session.EventStream, seen), TaskCreationOptions.LongRunning);

        await Patience.UntilAsync(() => Value("fastport.messages.received") >= 101, "the counter is seen");
        await Patience.UntilAsync(
            () => Value("fastport.request.duration.quantile message.type=Echo,quantile=0.99") > 0, "the percentile is seen");
        Assert.Equal(1, Value("fastport.connections.open"));
        Assert.Equal(100, Value("fastport.request.duration.count message.type=Echo"));
        await session.StopAsync(TestContext.Current.CancellationToken);
        await reading.WaitAsync(Patience.Limit, TestContext.Current.CancellationToken);

        // In order: where it is killed, its diagnostics leave files behind.
        using Process kill = Process.Start("kill", ["-TERM", $"{server.Process.Id}"]);
        Assert.Equal(0, await server.Process.ExitAsync());

        double Value(string series) => seen.GetValueOrDefault(series, double.NaN);
    }

    private static void Read(Stream events, ConcurrentDictionary<string, double> seen)
    {
        using var source = new EventPipeEventSource(events);
        source.Dynamic.All += e =>
        {
            // Counters have their value, gauges their last one, as text.
            string? field = e.EventName switch
            {
                "CounterRateValuePublished" or "UpDownCounterRateValuePublished" => "value",
                "GaugeValuePublished" => "lastValue",
                _ => null,
            };
            if (field is not null && e.PayloadByName(field) is string text
                && double.TryParse(text, CultureInfo.InvariantCulture, out double value))
            {
                seen[$"{e.PayloadByName("instrumentName")} {e.PayloadByName("tags")}".TrimEnd()] = value;
            }
        };
        source.Process();
    }
}
