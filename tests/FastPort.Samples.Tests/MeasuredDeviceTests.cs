using FastPort.Samples.Tests.Snippets;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Samples.Tests;

/// <summary>What docs/telemetry.md shows does what it says.</summary>
public sealed class MeasuredDeviceTests
{
    [Fact]
    public async Task A_devices_calls_and_counts_are_reported()
    {
        var stats = new LatencyStats(LatencyRole.Server);
        var device = new MeasuredDevice(stats);

        Assert.Equal(1.5, await device.ReadAsync(static () => Task.FromResult(1.5)));
        await Assert.ThrowsAsync<IOException>(() => device.ReadAsync(static () => throw new IOException("It is off.")));
        device.OnCached();
        device.OnCached();
        LatencyReport report = stats.Read();

        LatencyScopeReport reads = Assert.Single(report.Operations);
        Assert.Equal(("line1 Read", 2, 1), (reads.Name, reads.LifetimeCount, reads.LifetimeErrors));
        Assert.EndsWith(
            "counts  read  cache hit rate\nline1      2           0.500\n", LatencyTable.Lifetime(report), StringComparison.Ordinal);
    }
}
