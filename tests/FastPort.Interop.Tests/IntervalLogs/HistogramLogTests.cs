using FastPort.Interop.Tests.Peers;
using FastPort.Telemetry;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Interop.Tests.IntervalLogs;

/// <summary>The .hlog file as hdr-histogram-js reads it.</summary>
public sealed class HistogramLogTests
{
    [NodeFact]
    public async Task An_interval_log_holds_the_values_of_each_latency()
    {
        string directory = Directory.CreateTempSubdirectory("fastport-hlog-").FullName;
        try
        {
            var stats = new LatencyStats(LatencyRole.Client, typeName: static type => type == 0x100 ? "Écho" : null);
            for (int i = 1; i <= 10_000; i++)
            {
                stats.ForType(0x100).RecordRoundTrip(i * 1_000_000L, 5_000);
            }

            var options = new LatencyStatsOptions { EnableConsoleOutput = false, EnableHistogramLog = true, OutputDirectory = directory };
            await using (var writer = new LatencyStatsWriter(stats, options, NullLogger<LatencyStatsWriter>.Instance))
            {
                await writer.FinishAsync();
            }

            using NodeProcess node = NodeProcess.Start("hlog.mjs", Assert.Single(Directory.GetFiles(directory, "*.hlog")));
            Log log = await node.FinishAsync<Log>();

            Assert.Equal(
                ["all/round_trip", "all/server", "all/network", "Écho/round_trip", "Écho/server", "Écho/network"],
                log.Intervals.Select(static interval => interval.Tag));
            Assert.All(log.Intervals, interval =>
            {
                Assert.Equal(10_000, interval.Count);
                Assert.InRange(interval.Start, stats.Started.ToUnixTimeMilliseconds() - 1, interval.End);
            });
            Interval roundTrip = log.Intervals[0];
            AssertClose([1e6, 10_000e6], [roundTrip.Min, roundTrip.Max]);
            AssertClose([5_000e6, 9_000e6, 9_900e6, 9_990e6], roundTrip.Percentiles);
            AssertClose([5_000, 5_000], [log.Intervals[1].Min, log.Intervals[1].Max]);
        }
        finally
        {
            Directory.Delete(directory, recursive: true);
        }
    }

    // Our bucket and theirs are each within 0.1 %.
    private static void AssertClose(double[] expected, double[] actual) =>
        Assert.All(expected.Zip(actual), static pair => Assert.InRange(pair.Second, pair.First * 0.998, pair.First * 1.002));

    private sealed record Log(Interval[] Intervals);

    private sealed record Interval(string Tag, long Start, long End, long Count, double Min, double Max, double[] Percentiles);
}
