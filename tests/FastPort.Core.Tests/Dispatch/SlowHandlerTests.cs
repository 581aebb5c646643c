using System.Diagnostics;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Dispatch;

public sealed class SlowHandlerTests
{
    private const int SlowHandler = 2009;
    private const int HandlerHolds = 2010;

    // Of the tests' clock. A handler is held up in real time, too, which counts as well: never that long.
    private static readonly TimeSpan Threshold = TimeSpan.FromSeconds(60);

    private readonly FakeTimeProvider _time = new();

    [Fact]
    public async Task A_handler_that_holds_its_loop_up_is_named_once_a_second()
    {
        await using TestServer server = await StartAsync(TimeSpan.FromMilliseconds(2));
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync(Wire.Request(TestServer.Echo, 1), Wire.Request(0x1001, 2), Wire.Request(TestServer.Echo, 3));
        await ReadAsync(peer, 3);
        await peer.CallAsync(Wire.Request(0x1001, 4));

        Assert.Contains("Sluggish", Assert.Single(server.Log.WithId(SlowHandler)).Text, StringComparison.Ordinal);

        _time.Advance(TimeSpan.FromSeconds(1));
        await peer.CallAsync(Wire.Request(0x1001, 5));
        await peer.PingAsync();
        Assert.Equal(2, server.Log.WithId(SlowHandler).Count);
    }

    [Fact]
    public async Task Zero_turns_it_off()
    {
        await using TestServer server = await StartAsync(TimeSpan.Zero);
        using RawPeer peer = await server.ConnectAsync();

        await peer.CallAsync(Wire.Request(0x1001, 1));
        await peer.PingAsync();

        Assert.Empty(server.Log.WithId(SlowHandler));
    }

    [Theory]
    [InlineData(TransportKind.Auto)]
    [InlineData(TransportKind.Sockets)]
    public async Task A_handler_that_does_not_return_is_named_while_it_holds_its_loop_up(TransportKind transport)
    {
        using var held = new HeldHandler();
        await using TestServer server = await StartAsync(Threshold, held, transport: transport);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(TestServer.Echo, 1), Wire.Request(0x1002, 2));
        await held.EnteredAsync();

        _time.Advance(Threshold);
        Assert.Empty(server.Log.WithId(HandlerHolds));
        _time.Advance(ConnectionClock.Period);
        string line = Assert.Single(server.Log.WithId(HandlerHolds)).Text;
        Assert.StartsWith($"{server.Opened[0]}: ", line, StringComparison.Ordinal);
        Assert.Contains("for 60000 ms and are still running, most likely Held", line, StringComparison.Ordinal);

        // Once is enough, and it is not over yet.
        _time.Advance(TimeSpan.FromSeconds(10));
        Assert.Single(server.Log.WithId(HandlerHolds));
        Assert.Empty(server.Log.WithId(SlowHandler));

        held.Release();
        await ReadAsync(peer, 2);
        Assert.Contains("for 70000 ms, most likely Held", Assert.Single(server.Log.WithId(SlowHandler)).Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_end_of_what_was_told_of_is_told_however_soon_it_comes()
    {
        using var held = new HeldHandler();
        await using TestServer server = await StartAsync(Threshold, held);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(0x1002, 1));
        await held.EnteredAsync();
        _time.Advance(Threshold + (2 * ConnectionClock.Period));
        Assert.Single(server.Log.WithId(HandlerHolds));

        held.Release();
        await ReadAsync(peer, 1);
        Assert.Contains("for 60100 ms, most likely Held", Assert.Single(server.Log.WithId(SlowHandler)).Text, StringComparison.Ordinal);

        // The burst is over: nothing more is told of it.
        _time.Advance(TimeSpan.FromSeconds(10));
        Assert.Single(server.Log.WithId(HandlerHolds));
    }

    [Fact]
    public async Task Nothing_is_told_between_bursts_however_long_that_is()
    {
        using var held = new HeldHandler();
        held.Release();
        await using TestServer server = await StartAsync(Threshold, held);
        using RawPeer peer = await server.ConnectAsync();
        await peer.CallAsync(Wire.Request(0x1002, 1));
        await peer.PingAsync();

        _time.Advance(TimeSpan.FromMinutes(10));

        Assert.Empty(server.Log.WithId(HandlerHolds));
        Assert.Empty(server.Log.WithId(SlowHandler));
    }

    [Fact]
    public async Task Each_handler_of_a_burst_that_does_not_return_is_named_and_at_the_end_the_one_that_took_longest()
    {
        using HeldHandler first = new(), second = new();
        await using TestServer server = await StartAsync(Threshold, first, second);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(0x1002, 1), Wire.Request(0x1003, 2));
        await first.EnteredAsync();
        _time.Advance(TimeSpan.FromSeconds(80));
        first.Release();
        await second.EnteredAsync();
        _time.Advance(TimeSpan.FromSeconds(3));

        IReadOnlyList<LogLine> lines = server.Log.WithId(HandlerHolds);
        Assert.Equal(2, lines.Count);
        Assert.Contains("for 60000 ms and are still running, most likely Held", lines[0].Text, StringComparison.Ordinal);
        Assert.Contains("for 80000 ms and are still running, most likely Other", lines[1].Text, StringComparison.Ordinal);

        second.Release();
        await ReadAsync(peer, 2);
        Assert.Contains("for 82900 ms, most likely Held", Assert.Single(server.Log.WithId(SlowHandler)).Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Nothing_is_told_of_a_handler_that_does_not_return_where_it_is_turned_off()
    {
        using var held = new HeldHandler();
        await using TestServer server = await StartAsync(TimeSpan.Zero, held);
        using RawPeer peer = await server.ConnectAsync();
        await peer.SendAsync(Wire.Request(0x1002, 1));
        await held.EnteredAsync();

        _time.Advance(TimeSpan.FromMinutes(1));
        held.Release();
        await ReadAsync(peer, 1);

        Assert.Empty(server.Log.WithId(HandlerHolds));
        Assert.Empty(server.Log.WithId(SlowHandler));
    }

    private Task<TestServer> StartAsync(
        TimeSpan threshold, HeldHandler held, HeldHandler? other = null,
        TransportKind transport = TransportKind.Auto) => TestServer.StartAsync(
        h =>
        {
            h.MapInline(0x1002, (ref InlineRequest _) => held.Handle(), "Held");
            h.MapInline(0x1003, (ref InlineRequest _) => other?.Handle(), "Other");
        },
        o =>
        {
            o.Transport = transport;
            o.Session.SlowHandlerThreshold = threshold;
        },
        h => h.Time = _time);

    private Task<TestServer> StartAsync(TimeSpan threshold) => TestServer.StartAsync(
        h => h.MapInline(
            0x1001,
            (ref InlineRequest _) =>
            {
                // Works for three milliseconds of real time, during which the coarse clock moves on.
                for (var watch = Stopwatch.StartNew(); watch.Elapsed < TimeSpan.FromMilliseconds(3);)
                {
                }

                _time.Advance(TimeSpan.FromMilliseconds(100));
            },
            "Sluggish"),
        o => o.Session.SlowHandlerThreshold = threshold,
        h => h.Time = _time);

    private static async Task ReadAsync(RawPeer peer, int frames)
    {
        for (int i = 0; i < frames; i++)
        {
            await peer.ReadFrameAsync();
        }
    }

    /// <summary>Blocks the thread it runs on until the test lets it go.</summary>
    private sealed class HeldHandler : IDisposable
    {
        private readonly TaskCompletionSource _entered = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly TaskCompletionSource _released = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task EnteredAsync() => _entered.Task.InTimeAsync();

        public void Handle()
        {
            _entered.TrySetResult();
            Assert.True(_released.Task.Wait(Patience.Limit));
        }

        public void Release() => _released.TrySetResult();

        public void Dispose() => Release();
    }
}
