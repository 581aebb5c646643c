using FastPort.Telemetry;
using Xunit;

namespace FastPort.Tags.Tests;

/// <summary>What reports say of a source.</summary>
public sealed class SourceTelemetryTests
{
    private static readonly TimeSpan Hour = TimeSpan.FromHours(1);

    private readonly FakeClock _clock = new();
    private readonly LatencyStats _latencies;

    public SourceTelemetryTests() => _latencies = new LatencyStats(LatencyRole.Server, time: _clock);

    [Fact]
    public async Task Calls_have_their_time_and_their_errors_by_operation()
    {
        var source = new ControlledSource();
        await using TagBridge bridge = await StartAsync(source);
        await using TagClient client = await bridge.ConnectAsync();
        TagList tags = await client.ResolveAsync(["1", "2", "3"]);

        Task<TagSamples> read = client.ReadAsync(tags).AsTask();
        await EndAsync(source, TimeSpan.FromMilliseconds(7), TagStatus.Good);
        await read;
        Task<TagStatus> write = client.WriteAsync("2", 5).AsTask();
        await EndAsync(source, TimeSpan.FromMilliseconds(9), TagStatus.BadNoCommunication);
        await write;
        read = client.ReadAsync(tags).AsTask();
        await EndAsync(source, TimeSpan.FromMilliseconds(5), TagStatus.Good);
        await read;
        await Assert.ThrowsAsync<TagException>(() => client.CallAsync("nothing", []).AsTask());

        Assert.Equal(
            [
                ("controlled Call", 1, 0, 0.0, 0.0), ("controlled Read", 2, 0, 5.0, 7.0),
                ("controlled Resolve", 2, 0, 0.0, 0.0), ("controlled Write", 1, 1, 9.0, 9.0),
            ],
            _latencies.Read().Operations.Select(static operation => (
                operation.Name,
                (int)operation.LifetimeCount,
                (int)operation.LifetimeErrors,
                operation.Metrics[0].Lifetime.Min / 1e6,
                operation.Metrics[0].Lifetime.Max / 1e6)));
    }

    [Fact]
    public async Task Tags_are_counted_where_their_answers_come_from()
    {
        var source = new ControlledSource();
        await using TagBridge bridge = await StartAsync(source);
        await using TagClient client = await bridge.ConnectAsync();
        TagList tags = await client.ResolveAsync(["1", "2", "1", "1"]);

        // Three rows of one tag are read once, then two rows of two tags come from the cache.
        Task<TagSamples> read = client.ReadAsync(tags).AsTask();
        await EndAsync(source, TimeSpan.Zero, TagStatus.Good);
        await read;
        await client.ReadAsync(await client.ResolveAsync(["1", "2"]), Hour);
        Task<TagStatus> write = client.WriteAsync("2", 5).AsTask();
        await EndAsync(source, TimeSpan.Zero, TagStatus.Good);
        await write;

        Assert.Equal(
            [
                "counts      read  joined  coalescing factor  cached  cache hit rate  written  dropped  losses",
                "controlled     2       2              2.000       2           0.333        1        0       0",
            ],
            Counts(LatencyTable.Lifetime(_latencies.Read())));
    }

    [Fact]
    public async Task Every_source_has_its_losses_and_the_samples_that_slow_subscribers_missed()
    {
        var first = new MemoryTagSource("first");
        var second = new MemoryTagSource("second");
        second.Add("a", 0);
        await using TagBridge bridge = await StartAsync(first, second);
        await using TagClient client = await bridge.ConnectAsync();
        first.IsConnected = false;
        first.IsConnected = true;
        first.IsConnected = false;
        await using TagSubscription subscription = await client.SubscribeAsync(
            await client.ResolveAsync(["a"]), new() { Interval = Hour, QueueSize = 2 });

        // The clock stands: after the first update none is sent, so that all but the last two wait in vain.
        await foreach (TagChange change in subscription)
        {
            break;
        }

        for (int i = 1; i <= 5; i++)
        {
            second.Set("a", i);
        }

        Assert.Equal(
            [
                "counts  read  joined  coalescing factor  cached  cache hit rate  written  dropped  losses",
                "first      0       0                  -       0               -        0        0       2",
                "second     0       0                  -       0               -        0        3       0",
            ],
            Counts(LatencyTable.Lifetime(_latencies.Read())));
        Assert.Equal(
            ["first Resolve", "second Resolve", "second Subscribe"], _latencies.Read().Operations.Select(static one => one.Name));
    }

    private Task<TagBridge> StartAsync(params ITagSource[] sources) =>
        TagBridge.StartAsync(sources, new TagServerOptions(), latencies: _latencies);

    private async Task EndAsync(ControlledSource source, TimeSpan after, TagStatus status)
    {
        ControlledSource.Call call = await source.NextAsync();
        _clock.Advance(after);
        call.End.SetResult(status);
    }

    private static IEnumerable<string> Counts(string table) =>
        table.TrimEnd().Split('\n').SkipWhile(static line => !line.StartsWith("counts", StringComparison.Ordinal));
}
