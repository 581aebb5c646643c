using System.Text;
using FastPort.Core.Tests.Support;
using FastPort.Dispatch;
using FastPort.Transports;
using FastPort.Transports.Epoll;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Core.Tests.Transports.Epoll;

/// <summary>What a loop costs others, and how the work comes to the loops.</summary>
public sealed class EpollLoopTests
{
    private const ushort WhereAmI = 0x1100;

    [LinuxTheory]
    [InlineData(1)]
    [InlineData(4)]
    public async Task However_much_is_posted_while_it_is_awake_a_loop_is_woken_once(int threads)
    {
        const int Each = 1_000;
        var loop = new EpollLoop(0, new EpollOptions { SpinMicroseconds = 0 }, NullLogger.Instance);
        using var inside = new ManualResetEventSlim();
        using var release = new ManualResetEventSlim();
        using var all = new CountdownEvent(threads * Each);
        await Patience.UntilAsync(() => loop.IsAsleep, "the loop has nothing to do");
        long before = loop.WakeUps;

        loop.Post(new Posted(() =>
        {
            inside.Set();
            Assert.True(release.Wait(Patience.Limit));
        }));
        Assert.True(inside.Wait(Patience.Limit));
        await Task.WhenAll(Enumerable.Range(0, threads).Select(_ => Task.Run(() =>
        {
            for (int i = 0; i < Each; i++)
            {
                loop.Post(new Posted(() => all.Signal()));
            }
        })));

        Assert.Equal(1, loop.WakeUps - before);
        release.Set();
        Assert.True(all.Wait(Patience.Limit));
        Assert.Equal(1, loop.WakeUps - before);
        loop.Stop();
    }

    // The listener is on one of the two loops as well.
    [LinuxTheory]
    [InlineData(7)]
    public async Task Connections_are_dealt_out_evenly(int connections)
    {
        await using TestServer server = await TestServer.StartAsync(
            static handlers => handlers.MapInline(
                WhereAmI, static (ref InlineRequest request) => request.Reply(Encoding.UTF8.GetBytes(Thread.CurrentThread.Name ?? string.Empty))),
            static options =>
            {
                options.Transport = TransportKind.Epoll;
                options.Loops = 2;
            });
        List<string> loops = [];
        List<RawPeer> peers = [];
        for (int i = 0; i < connections; i++)
        {
            RawPeer peer = await server.ConnectKnownAsync();
            peers.Add(peer);
            loops.Add(Encoding.UTF8.GetString((await peer.CallAsync(Wire.Request(WhereAmI, 7))).Body));
        }

        peers.ForEach(static peer => peer.Dispose());
        Assert.Equal([3, 4], loops.GroupBy(static loop => loop).Select(static on => on.Count()).Order());
    }

    private sealed class Posted(Action run) : ILoopTask
    {
        public ILoopTask? Next { get; set; }

        public void RunOnLoop() => run();
    }
}
