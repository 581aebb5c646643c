using System.Diagnostics;
using FastPort.Core.Tests.Support;
using FastPort.Dispatch;
using Xunit;

namespace FastPort.Core.Tests.Dispatch;

public sealed class SlowHandlerTests
{
    private const int SlowHandler = 2009;

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
}
