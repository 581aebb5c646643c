using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Sessions;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

/// <summary>What all peers together make the server hold is bounded, and peers that have said Hello are the last to notice.</summary>
public sealed class MemoryLimitTests
{
    private const int Megabyte = 1024 * 1024;
    private const int Part = 300 * 1024;

    private static readonly byte[] Unfinished = Wire.Request(TestServer.Echo, 5, Wire.Bytes(1_000_000));

    [Fact]
    public async Task At_the_budget_the_oldest_unfinished_frames_of_unknown_peers_go_first()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(
            options: static o => o.MaxBufferedMegabytes = 3, components: h => h.Time = time);
        using RawPeer known = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        await SendPartAsync(known, session);
        List<RawPeer> strangers = [];
        for (int i = 1; i <= 12; i++)
        {
            time.Advance(TimeSpan.FromSeconds(1));
            strangers.Add(await server.ConnectAsync());
            await SendPartAsync(strangers[^1], await server.SessionAsync(i));
            await Patience.UntilAsync(() => server.Server.BufferedBytes <= 3 * Megabyte, "the budget was kept");
        }

        // Those that are closed together end on their own loops.
        Session[] closed = [.. server.Closed.Select(static c => c.Session).OrderBy(static s => s.Id)];
        Assert.InRange(closed.Length, 5, 11);
        Assert.Equal(server.Opened.Skip(1).Take(closed.Length), closed);
        Assert.All(server.Closed, static c => Assert.Equal(CloseKind.MemoryLimit, c.Reason.Kind));
        await known.SendAsync(Unfinished[Part..]);
        Assert.Equal(1_000_000, (await known.ReadFrameAsync()).Body.Length);
        strangers.ForEach(static s => s.Dispose());
    }

    [Fact]
    public async Task A_known_peer_keeps_64_KiB_where_nothing_else_is_left()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.MaxBufferedMegabytes = 1);
        using RawPeer small = await server.ConnectKnownAsync();
        await small.SendAsync(Unfinished[..30_000]);
        Session session = await server.SessionAsync();
        await Patience.UntilAsync(() => session.Connection.BytesReceived > 30_000, "the first part was received");
        List<RawPeer> large = [];
        for (int i = 1; i <= 4; i++)
        {
            large.Add(await server.ConnectKnownAsync());
            await large[^1].TrySendAsync(Unfinished[..900_000]);
        }

        await Patience.UntilAsync(() => server.Closed.Count > 0 && server.Server.BufferedBytes <= Megabyte, "the budget was kept");

        Assert.False(session.IsClosed);
        byte[] body = Wire.Bytes(20_000);
        using RawPeer other = await server.ConnectKnownAsync();
        Assert.Equal(body, (await other.CallAsync(Wire.Request(TestServer.Echo, 1, body))).Body);
        large.ForEach(static s => s.Dispose());
    }

    [Fact]
    public async Task Requests_that_wait_in_all_sessions_together_are_bounded_and_none_is_lost()
    {
        const int Sessions = 6;
        const int Requests = 64;
        var release = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(0x1001, async _ => await release.Task), static o => o.MaxBufferedMegabytes = 1);
        List<RawPeer> peers = [];
        List<Task> sending = [];
        for (int i = 0; i < Sessions; i++)
        {
            RawPeer peer = await server.ConnectKnownAsync();
            peers.Add(peer);
            sending.Add(peer.SendAsync(
                [.. Enumerable.Range(1, Requests).Select(static n => Wire.Request(0x1001, (uint)n, new byte[16 * 1024]))]));
        }

        // Each may have 64 KiB and the message that goes beyond, and all together the budget. Hello is one message.
        await Patience.UntilSteadyAsync(() => server.Opened.Sum(static s => s.MessagesReceived), "no more was taken");
        long held = (server.Opened.Sum(static s => s.MessagesReceived) - Sessions) * 16 * 1024;
        Assert.InRange(held, Sessions * 64 * 1024, Megabyte + (Sessions * 80 * 1024));

        release.SetResult();
        foreach (RawPeer peer in peers)
        {
            for (uint i = 1; i <= Requests; i++)
            {
                Assert.Equal(i, (await peer.ReadFrameAsync()).Correlation);
            }
        }

        await Task.WhenAll(sending).InTimeAsync();
        await Patience.UntilAsync(() => server.Server.BufferedBytes == 0, "all was given back");
        peers.ForEach(static p => p.Dispose());
    }

    private static async Task SendPartAsync(RawPeer peer, Session session)
    {
        long before = session.Connection.BytesReceived;
        await peer.TrySendAsync(Unfinished[..Part]);
        await Patience.UntilAsync(
            () => session.IsClosed
                || (session.Connection.BytesReceived == before + Part && session.Protocol.Deadlines.HeldBytes > Part),
            "its part was received");
    }
}
