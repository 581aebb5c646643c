using System.Globalization;
using System.Text;
using FastPort.Core.Tests.Support;
using FastPort.Transports.Epoll;
using FastPort.Transports.Epoll.Loop;
using Microsoft.Extensions.Logging.Abstractions;
using Xunit;

namespace FastPort.Core.Tests.Transports.Epoll.Loop;

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

        loop.Run(() =>
        {
            inside.Set();
            Assert.True(release.Wait(Patience.Limit));
        });
        Assert.True(inside.Wait(Patience.Limit));
        await Task.WhenAll(Enumerable.Range(0, threads).Select(_ => Task.Run(() =>
        {
            for (int i = 0; i < Each; i++)
            {
                loop.Run(() => all.Signal());
            }
        })));

        Assert.Equal(1, loop.WakeUps - before);
        release.Set();
        Assert.True(all.Wait(Patience.Limit));
        Assert.Equal(1, loop.WakeUps - before);
        loop.Stop();
    }

    // Its kernel tells of room with each piece that is read; only who was refused wants to know.
    [LinuxTheory]
    [InlineData(40_000, 300)]
    public async Task A_loop_is_not_woken_by_the_reads_of_a_Unix_sockets_peer(int size, int messages)
    {
        using var directory = new TemporaryDirectory();
        string loopsThread = "";
        await using TestServer server = await TestServer.StartAsync(
            handlers => handlers.MapInline(WhereAmI, (ref InlineRequest request) =>
            {
                loopsThread = new FileInfo("/proc/thread-self").LinkTarget!;
                request.Reply([1]);
            }),
            options =>
            {
                options.Transport = TransportKind.Epoll;
                options.Loops = 1;
                options.SpinMicroseconds = 0;
                options.Endpoints.Clear();
                options.Endpoints.Add($"unix://{directory["loop.sock"]}");
            });
        using RawPeer peer = await server.ConnectKnownAsync();
        await peer.CallAsync(Wire.Request(WhereAmI, 1));
        Session session = await server.SessionAsync();
        long before = Sleeps();

        for (int i = 0; i < messages; i++)
        {
            // So much is sent by the thread that writes it.
            Assert.Equal(SendStatus.Queued, session.TrySend(0x1001, new byte[size]));
            Assert.Equal(size, (await peer.ReadFrameAsync()).Body.Length);
        }

        Assert.InRange(Sleeps() - before, 0, messages / 4);

        long Sleeps() => long.Parse(
            File.ReadLines($"/proc/{loopsThread}/status")
                .First(static line => line.StartsWith("voluntary_ctxt_switches:", StringComparison.Ordinal)).Split(':')[1],
            CultureInfo.InvariantCulture);
    }

    // The listener is on one of the two loops as well.
    [LinuxTheory]
    [InlineData(7)]
    public async Task Connections_are_dealt_out_evenly(int connections)
    {
        await using TestServer server = await TestServer.StartAsync(
            static handlers => handlers.MapInline(
                WhereAmI, static (ref InlineRequest request) =>
                    request.Reply(Encoding.UTF8.GetBytes(Thread.CurrentThread.Name ?? string.Empty))),
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
}
