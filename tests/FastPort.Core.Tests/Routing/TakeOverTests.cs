using System.Collections.Concurrent;
using System.Globalization;
using FastPort.Core.Tests.Support;
using Xunit;
using static FastPort.Core.Tests.Routing.RoutingWire;

namespace FastPort.Core.Tests.Routing;

/// <summary>Routing ids that change hands while messages go there.</summary>
public sealed class TakeOverTests
{
    [Fact]
    public async Task Every_relay_during_take_overs_is_answered_and_those_answered_well_arrive_once()
    {
        const int TakeOvers = 30;
        await using TestServer server = await StartAsync(
            static o => (o.DuplicateIdentity, o.Loops) = (DuplicateIdentityPolicy.TakeOver, 2));
        using RawPeer sender = await server.ConnectAsync("sender");
        var received = new ConcurrentQueue<uint>();
        List<Task> readers = [];
        List<RawPeer> targets = [];
        await AddTargetAsync();
        using var stop = new CancellationTokenSource();

        Task<(List<uint> Good, int Lost)> relaying = RelayAsync(sender, stop.Token);
        for (int i = 0; i < TakeOvers; i++)
        {
            await AddTargetAsync();
        }

        await stop.CancelAsync();
        (List<uint> good, int lost) = await relaying.InTimeAsync();

        // The last one says farewell; all others were told to go.
        await targets[^1].SendAsync(Wire.GoodbyePost());
        await Task.WhenAll(readers).InTimeAsync();
        Assert.Equal(good, received.Order());
        Assert.Equal((good.Count, lost), (server.Counts.Relayed, server.Counts.RelaysFailed));
        Assert.NotEmpty(good);

        // At no time does nobody have the id.
        Assert.Equal(0, lost);
        targets.ForEach(static t => t.Dispose());

        async Task AddTargetAsync()
        {
            RawPeer target = await server.ConnectAsync("target");
            targets.Add(target);
            readers.Add(ReadAsync(target));
        }

        async Task ReadAsync(RawPeer target)
        {
            while (await target.ReadAsync() is { } frame)
            {
                if (frame.Type == Relay)
                {
                    received.Enqueue(uint.Parse(System.Text.Encoding.UTF8.GetString(frame.BytesAt(3)), CultureInfo.InvariantCulture));
                }
            }
        }
    }

    [Fact]
    public async Task Relays_while_the_target_comes_and_goes_are_answered_and_those_answered_well_arrive_once()
    {
        await using TestServer server = await StartAsync(static o => o.Loops = 2);
        using RawPeer sender = await server.ConnectAsync("sender");
        List<uint> received = [];
        using var stop = new CancellationTokenSource();
        Task<(List<uint> Good, int Lost)> relaying = RelayAsync(sender, stop.Token);

        for (int i = 0; i < 15; i++)
        {
            using RawPeer target = await server.ConnectAsync("target");
            for (int k = 0; k < 3; k++)
            {
                Add(await target.ReadFrameAsync());
            }

            await target.SendAsync(Wire.GoodbyePost());
            while (await target.ReadAsync() is { } frame)
            {
                Add(frame);
            }

            target.Dispose();
            await Patience.UntilAsync(() => server.Server.Routing.Find("target") is null, "the target was gone");
        }

        await stop.CancelAsync();
        (List<uint> good, int lost) = await relaying.InTimeAsync();
        Assert.Equal(good, received);
        Assert.Equal((good.Count, lost), (server.Counts.Relayed, server.Counts.RelaysFailed));

        void Add(WireFrame frame) =>
            received.Add(uint.Parse(System.Text.Encoding.UTF8.GetString(frame.BytesAt(3)), CultureInfo.InvariantCulture));
    }

    [Theory]
    [InlineData(DuplicateIdentityPolicy.TakeOver)]
    [InlineData(DuplicateIdentityPolicy.Refuse)]
    public async Task Taken_and_lost_take_turns_however_many_fight_for_an_id(DuplicateIdentityPolicy policy)
    {
        const int Rivals = 40;
        var told = new ConcurrentQueue<(bool Taken, Session Session, CloseKind? Kind)>();
        int inside = 0, overlaps = 0;
        await using TestServer server = await StartAsync(o => (o.DuplicateIdentity, o.Loops) = (policy, 2));
        server.Server.RoutingIdTaken += session => Tell(session, null);
        server.Server.RoutingIdLost += (session, reason) => Tell(session, reason);

        await Task.WhenAll(Enumerable.Range(0, Rivals).Select(async i =>
        {
            using RawPeer rival = await server.ConnectAsync();
            WireFrame answer = await rival.CallAsync(Wire.HelloRequest(1, "prize"));
            Assert.True(!answer.IsError || (policy == DuplicateIdentityPolicy.Refuse && answer.ErrorCode == 11));
            if (i % 3 == 0)
            {
                await rival.TrySendAsync(Wire.GoodbyePost());
                while (await rival.ReadAsync() is not null)
                {
                }
            }
        })).InTimeAsync();
        await Patience.UntilAsync(() => server.Closed.Count == Rivals, "all were gone");

        (bool Taken, Session Session, CloseKind? Kind)[] all = [.. told];
        Assert.NotEmpty(all);
        Assert.Equal((0, 0), (overlaps, all.Length % 2));
        for (int i = 0; i < all.Length; i += 2)
        {
            Assert.Equal((true, false), (all[i].Taken, all[i + 1].Taken));
            Assert.Same(all[i].Session, all[i + 1].Session);
        }

        Assert.Null(server.Server.Routing.Find("prize"));
        Assert.Empty(server.Server.Routing.ListPeers());
        Assert.Equal(policy == DuplicateIdentityPolicy.TakeOver, all.Any(static t => t.Kind == CloseKind.TakenOver));

        void Tell(Session session, CloseReason? reason)
        {
            // What a subscriber throws is logged and no more.
            overlaps += Interlocked.Increment(ref inside) == 1 ? 0 : 1;

            // Time for another one to come between.
            Thread.SpinWait(30_000);
            told.Enqueue((reason is null, session, reason?.Kind));
            Interlocked.Decrement(ref inside);
        }
    }

    [Fact]
    public async Task The_events_of_a_session_come_in_order_with_their_reasons()
    {
        var told = new ConcurrentQueue<string>();
        await using TestServer server = await StartAsync(static o => o.DuplicateIdentity = DuplicateIdentityPolicy.TakeOver);
        server.Server.SessionOpened += session => told.Enqueue($"opened '{session.RoutingId}'");
        server.Server.SessionIdentified += session => told.Enqueue($"identified '{session.RoutingId}'");
        server.Server.RoutingIdTaken += session => told.Enqueue($"taken {ReferenceEquals(server.Server.Routing.Find("tank"), session)}");
        server.Server.RoutingIdLost += (session, reason) =>
            told.Enqueue($"lost {reason.Kind} {server.Server.Routing.Find("tank") is null}");
        server.Server.SessionClosed += (_, reason) => told.Enqueue($"closed {reason.Kind}");

        using (await server.ConnectAsync(""))
        {
        }

        await Patience.UntilAsync(() => told.Count == 3, "the nameless one was gone");
        using (RawPeer first = await server.ConnectAsync("tank"))
        using (await server.ConnectAsync("tank"))
        {
            Assert.Equal(Wire.Goodbye, (await first.ReadFrameAsync()).Type);
            first.Dispose();
            await Patience.UntilAsync(() => server.Closed.Count == 2, "the first one was gone");
        }

        await Patience.UntilAsync(() => server.Closed.Count == 3, "all were gone");
        Assert.Equal(
            [
                "opened ''", "identified ''", "closed PeerClosed",
                "opened ''", "identified 'tank'", "taken True",
                "opened ''", "identified 'tank'", "lost TakenOver False", "taken True", "closed TakenOver",
                "lost PeerClosed True", "closed PeerClosed",
            ],
            told);
    }

    // Relays numbers until told to stop; the number is both correlation and body.
    private static async Task<(List<uint> Good, int Lost)> RelayAsync(RawPeer sender, CancellationToken stop)
    {
        List<uint> good = [];
        int lost = 0;
        for (uint next = 1; !stop.IsCancellationRequested || next == 1; next += 10)
        {
            await sender.SendAsync([.. Enumerable.Range((int)next, 10).Select(static i =>
                RelayRequest((uint)i, "target", System.Text.Encoding.UTF8.GetBytes(i.ToString(CultureInfo.InvariantCulture))))]);
            for (uint i = next; i < next + 10; i++)
            {
                WireFrame answer = await sender.ReadFrameAsync();
                Assert.Equal((Relay, i), (answer.Type, answer.Correlation));
                if (answer.IsError)
                {
                    Assert.Equal(12u, answer.ErrorCode);
                    lost++;
                }
                else
                {
                    good.Add(i);
                }
            }
        }

        return (good, lost);
    }
}
