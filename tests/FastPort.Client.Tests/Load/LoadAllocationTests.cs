using FastPort.Client.Load;
using FastPort.Protocol;
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
    private const int OneWayWarm = 1_000_000;
    private const int OneWayMeasured = 4_000_000;

    // What a stall may add: 9 MB were seen once on a machine that takes cores away. One object per message would be 96 MB.
    private const int Stalls = 16_000_000;

    [Theory]
    [InlineData("sink")]
    [InlineData("source")]
    public async Task One_way_loads_allocate_nothing_per_message_once_warm(string mode)
    {
        using var enough = new CancellationTokenSource();
        await using FastPortServer server = await TestServer.StartAsync(new MessageHandlers().MapDiagnostics());
        LoadSettings settings = TestRun.Short with { Mode = mode == "sink" ? LoadMode.Sink : LoadMode.Source, WarmUp = TestRun.Patience };
        var errors = new LoadErrors();
        var watch = new ConnectionWatch(NullLogger.Instance, TimeProvider.System);
        await using ILoad load = settings.Mode == LoadMode.Sink
            ? new SinkLoad(settings, server.Uri(), errors, watch, TimeProvider.System)
            : new SourceLoad(settings, server.Uri(), errors, watch, TimeProvider.System);
        await load.ConnectAsync(CancellationToken.None);
        Task running = load.RunAsync(static () => { }, enough.Token).WaitAsync(TestRun.Patience);

        await UntilAsync(load, OneWayWarm, running);
        long before = GC.GetTotalAllocatedBytes(precise: true);
        long from = load.Messages;
        await UntilAsync(load, from + OneWayMeasured, running);
        long after = GC.GetTotalAllocatedBytes(precise: true);
        long messages = load.Messages - from;
        await enough.CancelAsync();
        await running;

        Assert.Equal(0, errors.Total);

        // Both sides together. What remains is made per Source request and per wait for room: a few objects for thousands of messages, 0.3
        // bytes a message.
        Assert.InRange(after - before, 0, (messages * 4) + Stalls);
    }

    private static async Task UntilAsync(ILoad load, long messages, Task running)
    {
        using var patience = new CancellationTokenSource(TimeSpan.FromMinutes(2));
        while (load.Messages < messages)
        {
            Assert.False(running.IsCompleted);
            await Task.Delay(1, patience.Token);
        }
    }

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
            new LoadRecorder(new LatencyStats(LatencyRole.Client, 10_000), errors, measureSessions: true),
            new ConnectionWatch(NullLogger.Instance, TimeProvider.System),
            TimeProvider.System);
        await load.ConnectAsync(CancellationToken.None);

        await load.RunAsync(static () => { }, enough.Token).WaitAsync(TestRun.Patience);

        Assert.Equal(0, errors.Total);

        // The smallest object has 24 bytes, so one per message of server or client would be 24 a message. What remains is made once:
        // histogram segments of latencies met for the first time, rings that grow, ticks of the coarse clocks.
        Assert.InRange(after - before, 0, Measured * 4);
    }
}
