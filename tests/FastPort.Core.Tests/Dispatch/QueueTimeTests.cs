using System.Buffers;
using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Dispatch;

/// <summary>The time for which requests wait in the queue.</summary>
public sealed class QueueTimeTests
{
    private const ushort Work = 0x1001;
    private const int First = 1000;
    private const int Third = 3000;

    [Fact]
    public async Task A_request_that_comes_while_the_one_before_is_cleared_up_waited_no_negative_time()
    {
        var stats = new LatencyStats(LatencyRole.Server);
        var pool = new HoldingPool();
        await using TestServer server = await TestServer.StartAsync(
            static h => h.MapQueued(Work, static c =>
            {
                c.Reply(c.Body.Span);
                return ValueTask.CompletedTask;
            }),
            o => o.Session.Pool = pool,
            c => c.LatencyStats = stats);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(Work, 1, Wire.Bytes(First)));
        await pool.Returning.Task.InTimeAsync();

        // The worker looks for the next request when the third one has come, so the second one is there.
        await peer.SendAsync([.. Wire.Request(Work, 2, Wire.Bytes(2000)), .. Wire.Request(Work, 3, Wire.Bytes(Third))]);
        for (uint i = 1; i <= 3; i++)
        {
            Assert.Equal(i, (await peer.ReadFrameAsync()).Correlation);
        }

        await Patience.UntilAsync(() => Queue(stats) is { Lifetime.Count: 3 }, "all were recorded");
        Assert.InRange(Queue(stats)!.Lifetime.Min, 0, long.MaxValue);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task What_begins_on_the_loop_between_inline_messages_is_no_time_of_theirs(bool awaits)
    {
        var stats = new LatencyStats(LatencyRole.Server, maxSamplesInMemory: 100);
        var release = new TaskCompletionSource();
        long began = 0, ended = 0;
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(
                Work,
                async _ =>
                {
                    began = MonotonicClock.Nanoseconds;
                    Thread.SpinWait(1000);
                    ended = MonotonicClock.Nanoseconds;
                    await (awaits ? release.Task : Task.CompletedTask);
                },
                beginsOnLoop: true),
            static o => o.Session.MaxConcurrency = 4,
            c => c.LatencyStats = stats);
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(
        [
            .. Wire.Request(TestServer.Echo, 1), .. Wire.Request(TestServer.Echo, 2), .. Wire.Request(Work, 3),
            .. Wire.Request(TestServer.Echo, 4),
        ]);
        for (int i = awaits ? 1 : 0; i < 4; i++)
        {
            await peer.ReadFrameAsync();
        }

        await Patience.UntilAsync(() => Echoes().Length == 3, "all were recorded");
        Assert.All(Echoes()[..2], sample => Assert.InRange(sample.Timestamp, 0, MonotonicClock.ToTimestamp(began)));
        LatencySample last = Echoes()[2];
        Assert.InRange(last.Timestamp - MonotonicClock.ToTimestamp(last.SecondPart), MonotonicClock.ToTimestamp(ended), last.Timestamp);
        release.SetResult();

        LatencySample[] Echoes() => [.. stats.RecentSamples.ToArray().Where(static sample => sample.MessageType == TestServer.Echo)];
    }

    private static LatencyMetricReport? Queue(LatencyStats stats) => stats.Read().Types
        .SingleOrDefault(static type => type.Key == Work)?.Metrics.Single(static metric => metric.Name == "queue");

    // Waits with the return of the first request's array until the third one is rented.
    private sealed class HoldingPool : ArrayPool<byte>
    {
        private readonly ManualResetEventSlim _release = new();
        private byte[]? _first;

        public TaskCompletionSource Returning { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public override byte[] Rent(int minimumLength)
        {
            var array = new byte[minimumLength];
            if (minimumLength == First)
            {
                _first = array;
            }
            else if (minimumLength == Third)
            {
                _release.Set();
            }

            return array;
        }

        public override void Return(byte[] array, bool clearArray = false)
        {
            if (array == _first)
            {
                Returning.SetResult();
                _release.Wait(Patience.Limit);
            }
        }
    }
}
