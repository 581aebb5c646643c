using FastPort.Connections;
using FastPort.Core.Tests.Routing;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
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
        long Held() => (server.Opened.Sum(static s => s.MessagesReceived) - Sessions) * 16 * 1024;
        await Patience.UntilAsync(() => Held() >= Sessions * 64 * 1024, "all were taken from");
        await Patience.UntilSteadyAsync(Held, "no more was taken");
        Assert.InRange(Held(), Sessions * 64 * 1024, Megabyte + (Sessions * 80 * 1024));

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

    [Fact]
    public async Task At_the_budget_the_peers_that_have_not_read_for_the_longest_time_go()
    {
        const int Peers = 6;
        var time = new FakeTimeProvider();
        await using TestServer server = await TestServer.StartAsync(
            static h => h.MapInline(0x1002, static (ref InlineRequest request) => request.Reply(new byte[512 * 1024])),
            static o => o.MaxBufferedMegabytes = 4,
            h => h.Time = time);
        using RawPeer reading = await server.ConnectKnownAsync();
        List<RawPeer> peers = [];
        for (int i = 1; i <= Peers; i++)
        {
            peers.Add(await server.ConnectKnownAsync(receiveBuffer: 4096));
            Session session = await server.SessionAsync(i);
            await peers[^1].SendAsync([.. Enumerable.Range(1, 40).Select(static n => Wire.Request(0x1002, (uint)n))]);
            await Patience.UntilAsync(
                () => session.IsClosed || (session.Connection.PendingBytes >= Megabyte && session.Connection.IsSendBlocked),
                "it was sent as much as may wait for it");
            time.Advance(TimeSpan.FromSeconds(1));
            await Patience.UntilAsync(() => server.Server.BufferedBytes <= 4 * Megabyte, "the budget was kept");
        }

        Session[] closed = [.. server.Closed.Select(static c => c.Session).OrderBy(static s => s.Id)];
        Assert.InRange(closed.Length, 1, Peers - 1);
        Assert.Equal(server.Opened.Skip(1).Take(closed.Length), closed);
        Assert.All(server.Closed, static c => Assert.Equal(CloseKind.MemoryLimit, c.Reason.Kind));
        Assert.Equal(512 * 1024, (await reading.CallAsync(Wire.Request(0x1002, 1))).Body.Length);

        // Who reads now gets all that it has asked for.
        for (uint i = 1; i <= 40; i++)
        {
            Assert.Equal(i, (await peers[^1].ReadFrameAsync()).Correlation);
        }

        peers.ForEach(static p => p.Dispose());
        await Patience.UntilAsync(() => server.Server.BufferedBytes == 0, "all was given back");
    }

    [Fact]
    public async Task Known_peers_whose_relays_wait_for_a_target_that_reads_slowly_are_closed_too()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await RoutingWire.StartAsync(
            static o =>
            {
                o.MaxBufferedMegabytes = 8;
                o.Session.SendQueueBytes = 2 * Megabyte;
                o.Session.WriteTimeout = TimeSpan.Zero;
            },
            h => h.Time = time);
        using RawPeer target = await server.ConnectAsync("target", receiveBuffer: 4096);
        Session receiving = await server.SessionAsync();
        List<RawPeer> senders = [];
        await HoldAsync(1);

        // The target reads, so it is not late; its queue is still more than half full, so the first sender goes on waiting.
        time.Advance(TimeSpan.FromSeconds(2));
        await Patience.UntilAsync(
            async () =>
            {
                await target.ReadBytesAsync(64 * 1024);
                time.Advance(ConnectionClock.Period);
                return receiving.Connection.SendWaitsSince is < 0 or > 1500;
            },
            "bytes went to the target");
        Session first = server.Opened[1];
        for (int i = 2; server.Server.BufferedBytes <= 8 * Megabyte; i++)
        {
            await HoldAsync(i);
        }

        await Patience.UntilAsync(() => first.Connection.IsClosing, "the one that has waited for more than a second was closed");
        Assert.Equal(CloseKind.MemoryLimit, first.Connection.ClosingReason?.Kind);
        Assert.DoesNotContain(server.Opened, s => s != first && s.Connection.IsClosing);
        senders.ForEach(static s => s.Reset());

        async Task HoldAsync(int index)
        {
            senders.Add(await server.ConnectKnownAsync());
            Session session = await server.SessionAsync(index);
            long waited = server.Counts.RelaysWaited;
            _ = senders[^1].TrySendAsync(
                [.. Enumerable.Range(0, 12).SelectMany(static _ => RoutingWire.RelayPost("target", new byte[3 * Part]))]);
            await Patience.UntilAsync(
                () => server.Counts.RelaysWaited > waited && session.Connection.ReceiveMemory >= Part, "its relays wait");
        }
    }

    [Theory]
    [InlineData(8 * 1024)]
    [InlineData(64 * 1024)]
    public async Task What_other_threads_send_counts_until_it_is_read(int size)
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.MaxBufferedMegabytes = 64);
        using RawPeer peer = await server.ConnectKnownAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();
        byte[] body = new byte[size];
        int sent = 0;
        while (session.TrySend(0x1003, body) == SendStatus.Queued)
        {
            sent++;
        }

        Assert.InRange(server.Server.BufferedBytes, session.Connection.PendingBytes - MemoryBudget.FreeBytes, 4 * Megabyte);
        for (int i = 0; i < sent; i++)
        {
            Assert.Equal(size, (await peer.ReadFrameAsync()).Body.Length);
        }

        await Patience.UntilAsync(() => server.Server.BufferedBytes == 0, "all was given back");
    }

    [Fact]
    public async Task A_frame_that_is_sent_to_many_from_where_it_lies_counts_once()
    {
        await using TestServer server = await TestServer.StartAsync(options: static o => o.MaxBufferedMegabytes = 64);
        var group = new SessionGroup();
        List<RawPeer> peers = [];
        for (int i = 0; i < 4; i++)
        {
            peers.Add(await server.ConnectKnownAsync(receiveBuffer: 4096));
            group.Add(await server.SessionAsync(i));
        }

        int most = 0;
        int frames = 0;
        for (; most < 4 && frames < 100; frames++)
        {
            Assert.True(group.Broadcast(0x1003, new RawBody(new byte[512 * 1024])) > 0, "Somebody has room.");
            most = server.Opened.Count(static s => s.Connection.PendingBytes >= 512 * 1024);
        }

        Assert.InRange(server.Server.BufferedBytes, 512 * 1024, (frames + 1) * Megabyte);
        peers.ForEach(static p => p.Reset());
        await Patience.UntilAsync(() => server.Server.BufferedBytes == 0, "all was given back");
    }

    [Fact]
    public async Task Connections_of_other_protocols_count_too()
    {
        var options = new ConnectionServerOptions { Endpoints = ["tcp://127.0.0.1:0"], MaxBufferedMegabytes = 1 };
        await using var server = new ConnectionServer(options, static _ => new HoardingProtocol());
        await server.StartAsync();
        List<RawPeer> peers = [];
        for (int i = 0; i < 6; i++)
        {
            peers.Add(await RawPeer.ConnectAsync(server.Endpoints[0]));
            await peers[^1].TrySendAsync(new byte[300 * 1024]);
        }

        await Patience.UntilAsync(() => server.ConnectionCount < 6 && server.Memory.Used <= Megabyte, "the budget was kept");
        peers.ForEach(static p => p.Dispose());
    }

    [Fact]
    public async Task Servers_of_a_process_share_a_budget_unless_they_name_one()
    {
        await using TestServer one = await TestServer.StartAsync();
        await using TestServer other = await TestServer.StartAsync();
        await using TestServer alone = await TestServer.StartAsync(options: static o => o.MaxBufferedMegabytes = 1000);
        using RawPeer first = await one.ConnectAsync();
        using RawPeer second = await other.ConnectAsync();
        long before = one.Server.BufferedBytes;
        await first.SendAsync(Unfinished[..Part]);
        await second.SendAsync(Unfinished[..Part]);

        await Patience.UntilAsync(() => other.Server.BufferedBytes - before > 2 * (Part - MemoryBudget.FreeBytes), "both count");

        Assert.Equal(0, alone.Server.BufferedBytes);
    }

    private static async Task SendPartAsync(RawPeer peer, Session session)
    {
        long before = session.Connection.BytesReceived;
        await peer.TrySendAsync(Unfinished[..Part]);
        await Patience.UntilAsync(
            () => session.IsClosed
                || (session.Connection.BytesReceived == before + Part && session.Protocol.UnfinishedSince >= 0),
            "its part was received");
    }

    // Leaves all unread.
    private sealed class HoardingProtocol : IConnectionProtocol
    {
        public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input) => ReceiveOutcome.Continue;

        public void OnInputEnded(bool truncated)
        {
        }

        public void OnClosed(CloseReason reason)
        {
        }
    }
}
