using System.Diagnostics;
using System.Diagnostics.Metrics;
using FastPort.Telemetry;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace FastPort.Protocol.Tests.Hosting;

/// <summary>What a collector of the meter reads of messages that a hosted server really handled.</summary>
public sealed class MeterTests
{
    private const ushort Inline = 0x1000;
    private const ushort Queued = 0x1001;

    [Theory]
    [InlineData(Inline, "Inline")]
    [InlineData(Queued, "Queued")]
    public async Task The_durations_of_a_handled_message_are_those_that_were_measured(ushort type, string name)
    {
        double handlerSeconds = 0;
        await using TestHost host = await TestHost.StartAsync(builder =>
        {
            builder.Services.AddMetrics();
            builder
                .MeasureLatencies()
                .Map(handlers => handlers
                    .MapInline(Inline, (ref InlineRequest _) => handlerSeconds = Spin(), "Inline")
                    .MapQueued(
                        Queued,
                        _ =>
                        {
                            handlerSeconds = Spin();
                            return ValueTask.CompletedTask;
                        },
                        "Queued"));
        });
        using var listener = new SumListener(host.Host.Services.GetRequiredService<IMeterFactory>());
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);

        long started = Stopwatch.GetTimestamp();
        await client.RequestAsync(type, ReadOnlyMemory<byte>.Empty);
        double elapsed = Stopwatch.GetElapsedTime(started).TotalSeconds;

        // A message is recorded after its reply has left.
        var stats = host.Host.Services.GetRequiredService<LatencyStats>();
        await Patience.UntilAsync(() => stats.Read().Types.Any(t => t.Name == name), "the message is recorded");
        listener.Collect();

        // Against clocks outside the server: the handler's own and the requester's.
        double request = listener["fastport.request.duration.sum"], queue = listener["fastport.request.queue.duration.sum"],
        handler = listener["fastport.request.handler.duration.sum"];
        Assert.InRange(handler, handlerSeconds, request);
        Assert.InRange(queue, 0, request - handler + 1e-9);
        Assert.InRange(request, handler, elapsed);
        Assert.All(listener.Types, t => Assert.Equal(name, t));
        Assert.Equal(3, listener.Types.Count);

        // And to the nanosecond against the statistics of the same message.
        LatencyScopeReport report = stats.Read().Types.Single(t => t.Name == name);
        Assert.Equal(1, report.LifetimeCount);
        Assert.Equal(
            report.Metrics.Select(static m => m.Lifetime.Min),
            new[] { request, queue, handler }.Select(static s => (long)Math.Round(s * 1e9)));
    }

    private static double Spin()
    {
        long started = Stopwatch.GetTimestamp();
        while (Stopwatch.GetElapsedTime(started) < TimeSpan.FromMilliseconds(2))
        {
            Thread.SpinWait(100);
        }

        return Stopwatch.GetElapsedTime(started).TotalSeconds;
    }

    /// <summary>Hears one factory's meters: tests run side by side in one process.</summary>
    private sealed class SumListener : IDisposable
    {
        private readonly MeterListener _listener = new();
        private readonly Dictionary<string, double> _seconds = new(StringComparer.Ordinal);
        private readonly List<object?> _types = [];

        public SumListener(IMeterFactory factory)
        {
            _listener.InstrumentPublished = (instrument, listener) =>
            {
                if (instrument.Meter.Scope == factory && instrument.Name.EndsWith(".duration.sum", StringComparison.Ordinal))
                {
                    listener.EnableMeasurementEvents(instrument);
                }
            };
            _listener.SetMeasurementEventCallback<double>((instrument, seconds, tags, _) =>
            {
                Assert.Equal("s", instrument.Unit);
                Assert.Equal("message.type", Assert.Single(tags.ToArray()).Key);
                _types.Add(tags[0].Value);
                _seconds[instrument.Name] = seconds;
            });
            _listener.Start();
        }

        public IReadOnlyCollection<object?> Types => _types;

        public double this[string instrument] => _seconds[instrument];

        public void Collect() => _listener.RecordObservableInstruments();

        public void Dispose() => _listener.Dispose();
    }
}
