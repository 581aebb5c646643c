using FastPort.Client.Load;
using FastPort.Hosting;
using FastPort.Telemetry;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Client.Tests.Load;

[CollectionDefinition("Alone", DisableParallelization = true)]
public sealed class AloneDefinition;

[Collection("Alone")]
public sealed class LoadAllocationTests
{
    private const int Warm = 50_000;
    private const int Measured = 200_000;

    [Fact]
    public async Task Allocates_nothing_per_message_once_warm()
    {
        using var enough = new CancellationTokenSource();
        int count = 0;
        long before = 0;
        long after = 0;
        await using FastPortServer server = await TestServer.StartAsync(TestServer.RawEcho(() =>
        {
            switch (Interlocked.Increment(ref count))
            {
                case Warm:
                    before = GC.GetTotalAllocatedBytes(precise: true);
                    break;
                case Warm + Measured:
                    after = GC.GetTotalAllocatedBytes(precise: true);
                    _ = enough.CancelAsync();
                    break;
            }
        }));
        LoadSettings settings = TestRun.Short with { WarmUp = TestRun.Patience, InFlight = 16 };
        var errors = new LoadErrors();
        await using var load = new EchoLoad(
            settings,
            server.Uri(),
            new LoadRecorder(new LatencyStats(LatencyRole.Client, 10_000), errors),
            new ConnectionWatch(NullLogger.Instance, TimeProvider.System),
            TimeProvider.System);
        await load.ConnectAsync(CancellationToken.None);

        await load.RunAsync(enough.Token).WaitAsync(TestRun.Patience);

        Assert.Equal(0, errors.Total);

        // The smallest object has 24 bytes, so one per message of server or client would be 24 a message. What remains is made once:
        // histogram segments of latencies met for the first time, rings that grow, ticks of the coarse clocks.
        Assert.InRange(after - before, 0, Measured * 4);
    }
}
