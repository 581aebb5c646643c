using System.Buffers;
using System.Collections.Concurrent;
using FastPort.Framing;
using FastPort.Interop.Tests.Peers;
using Xunit;

namespace FastPort.Interop.Tests.NodeClient;

/// <summary>Relays, topics and the list of peers, as protobufjs writes and reads them.</summary>
public sealed class RoutingTests
{
    [NodeFact]
    public async Task Relays_carry_type_body_and_the_senders_true_id()
    {
        await using NodeScenario node = await NodeScenario.StartWithPortAsync();

        RelayResult result = await node.PlayAsync<RelayResult>("relay");

        result.Reply.AssertReply(ControlType.Relay, 0, FrameFlags.Timing);
        HelloTests.AssertBlock(result.Reply);
        result.Forged.AssertReply(ControlType.Relay, 0);
        result.Nameless.AssertReply(ControlType.Relay, 0);
        Assert.Contains("'γ'", result.Nobody.AssertError(ErrorCode.NotFound, ControlType.Relay), StringComparison.Ordinal);
        result.Malformed.AssertError(ErrorCode.MalformedBody, ControlType.Relay);
        Assert.All(
            result.Relayed, static r =>
                Assert.Equal((ControlType.Relay, FrameFlags.OneWay, 0u), (r.Frame.Type, r.Frame.Flags, r.Frame.Correlation)));
        Assert.Equal(
            [("β", 60_000u, "0102ff", "gerät-é"), ("β", 1u, "00", "gerät-é"), ("β", 0u, "", ""), ("β", 2u, "big", "gerät-é")],
            result.Relayed.Select(static r => (r.Address, r.Type, r.Body, r.From)));
        Assert.Empty(result.Unread);

        // What no frame tells, the counters of a server in this process do.
        if (ServerProcess.Program is null)
        {
            Assert.Equal(1, node.Server.Counters.Snapshot().OneWayFailuresWith((uint)ErrorCode.NotFound));
        }
    }

    [NodeFact]
    public async Task Publications_reach_each_subscriber_once_and_are_counted()
    {
        await using NodeScenario node = await NodeScenario.StartWithPortAsync();

        TopicsResult result = await node.PlayAsync<TopicsResult>("topics");

        Assert.Equal(
            [ControlType.Subscribe, ControlType.Subscribe, ControlType.Subscribe, ControlType.Unsubscribe, ControlType.Unsubscribe],
            result.Replies.Select(static r => r.Type));
        Assert.All(result.Replies, static r => r.AssertReply(r.Type, 0));
        Assert.Equal([2u, 1u, 2u, 1u, 1u], result.Delivered);
        result.Malformed.AssertError(ErrorCode.MalformedBody, ControlType.Subscribe);
        Assert.Equal([1u, 2u, 3u, 4u, 5u], result.First.Select(static p => p.Type));
        Assert.Equal(
            [("werk/öfen", 1u, "ab", "first"), ("werk/öfen", 3u, "ab", "first")],
            result.Second.Select(static p => (p.Address, p.Type, p.Body, p.From)));
        Assert.All(result.Second, static p => Assert.Equal((ControlType.Publish, FrameFlags.OneWay), (p.Frame.Type, p.Frame.Flags)));
    }

    [NodeFact]
    public async Task Peers_are_listed_with_their_numbers_and_in_pages()
    {
        await using NodeScenario node = await NodeScenario.StartWithPortAsync();
        long before = DateTimeOffset.UtcNow.ToUnixTimeMilliseconds();

        PeersResult result = await node.PlayAsync<PeersResult>("peers", new { ids = new[] { "q", "p3", "p1", "p/ü", "p2" } });

        Assert.Equal(["p/ü", "p1", "p2", "p3", "q"], result.Whole.Select(static p => p.RoutingId));
        Assert.Equal([["p/ü", "p1"], ["p2", "p3"]], result.Pages);
        PeerMessage asker = result.Whole[^1];
        Assert.Equal("node q", asker.ClientName);
        Assert.Equal("1", asker.MessagesOut);
        Assert.InRange(long.Parse(asker.ConnectedUnixMs), before - 1000, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
        Assert.True(long.Parse(asker.SessionId) > 0 && long.Parse(asker.BytesIn) > 12 && long.Parse(asker.BytesOut) > 12);
    }

    [NodeFact]
    public async Task Our_client_and_the_peer_relay_to_each_other()
    {
        const int Messages = 50;
        await using NodeScenario node = await NodeScenario.StartWithPortAsync();
        await using var client = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = $"tcp://127.0.0.1:{node.Port}",
            RoutingId = "ours",
        });
        var back = new ConcurrentQueue<(string From, byte[] Body)>();
        client.OnRelayed(8, (scoped in RoutedMessage message) => back.Enqueue((message.From, message.Body.ToArray())));
        await client.ConnectAsync();

        Task<BackResult> playing = node.PlayAsync<BackResult>("relayBack", new { count = Messages });
        byte[][] bodies = [.. Enumerable.Range(0, Messages).Select(static i => new byte[i * i * 7])];
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(60));
        for (int i = 0; i < Messages;)
        {
            try
            {
                await client.RelayAsync("node", 7, bodies[i]);
                i++;
            }
            catch (RequestFailedException e) when (e.Code == ErrorCode.NotFound && i == 0)
            {
                // Not there yet.
                await Task.Delay(10, patience.Token);
            }
        }

        BackResult result = await playing;
        Assert.Equal(["ours"], result.Senders);

        // The reply to a relay says that the server has sent it on, not that it has arrived.
        await Patience.UntilAsync(() => back.Count >= Messages, "all came back");
        Assert.Equal(bodies.Select(static b => b.Length), back.Select(static b => b.Body.Length));
        Assert.All(back, static b => Assert.Equal("node", b.From));
    }

    private sealed record Envelope(PeerFrame Frame, string Address, uint Type, string Body, string From);

    private sealed record RelayResult(
        PeerFrame Reply, PeerFrame Forged, PeerFrame Nameless, PeerFrame Nobody, PeerFrame Malformed, Envelope[] Relayed, PeerFrame Ping,
        PeerFrame[] Unread);

    private sealed record TopicsResult(PeerFrame[] Replies, uint[] Delivered, PeerFrame Malformed, Envelope[] First, Envelope[] Second);

    private sealed record PeersResult(PeerMessage[] Whole, string[][] Pages);

    private sealed record PeerMessage(
        string SessionId, string RoutingId, string ClientName, string ConnectedUnixMs, string MessagesIn, string MessagesOut,
        string BytesIn, string BytesOut);

    private sealed record BackResult(string[] Senders);
}
