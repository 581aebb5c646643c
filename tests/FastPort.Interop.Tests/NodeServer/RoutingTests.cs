using System.Buffers;
using System.Collections.Concurrent;
using FastPort.Framing;
using FastPort.Interop.Tests.Peers;
using Xunit;

namespace FastPort.Interop.Tests.NodeServer;

/// <summary>What our client sends and understands of relays, topics and peers.</summary>
public sealed class RoutingTests
{
    [NodeFact]
    public async Task Relays_and_their_errors()
    {
        using NodePeer node = await NodePeer.StartAsync();
        var got = new TaskCompletionSource<string>();
        await using (FastPortClient client = node.CreateClient())
        {
            client.OnRelayed(
                60_000, (scoped in RoutedMessage m) =>
                    got.SetResult($"{m.Address} {m.Type} {Convert.ToHexString(m.Body.ToArray())} {m.From}"));
            await client.ConnectAsync();

            await client.RelayAsync("gerät", 60_000, new byte[] { 1, 0xFF });
            RequestFailedException error = await Assert.ThrowsAsync<RequestFailedException>(
                () => client.RelayAsync("nobody", 0, default(EmptyBody)));

            Assert.Equal((ErrorCode.NotFound, "NotFound: Nobody is called that."), (error.Code, error.Message));
            Assert.Equal("gerät 60000 01FF nœud", await got.Task.WaitAsync(NodeProcess.Limit));
        }

        PeerReport report = await node.FinishAsync();
        Assert.Equal([new PeerRelay("gerät", 60_000, "01ff", ""), new PeerRelay("nobody", 0, "", "")], report.Relays);
    }

    [NodeFact]
    public async Task Topics_before_and_after_a_reconnect()
    {
        using NodePeer node = await NodePeer.StartAsync(new { goodbyeAfterEcho = true });
        var got = new ConcurrentQueue<string>();
        await using (FastPortClient client = await node.ConnectAsync())
        {
            await client.SubscribeAsync("werk/", (scoped in RoutedMessage m) => got.Enqueue($"{m.Address} {m.Type} '{m.From}'"));
            await client.SubscribeAsync("lager", static (scoped in RoutedMessage _) => { });
            await client.UnsubscribeAsync("lager");
            Assert.Equal(1, await client.PublishAsync("werk/ö", 5, new byte[] { 1 }));
            Assert.Equal(0, await client.PublishAsync("lager", 5, new byte[] { 1 }));

            // The peer says Goodbye behind this reply: what comes next goes to a new connection.
            FastPort.Session before = client.Session!;
            await client.RequestAsync(0x0100, new byte[] { 0x0A, 1, 7 });
            await before.Closed.WaitAsync(NodeProcess.Limit);
            Assert.Equal(1, await client.PublishAsync("werk/z", 6, new byte[] { 1 }));
        }

        Assert.Equal(["werk/ö 5 ''", "werk/z 6 ''"], got);
        PeerReport report = await node.FinishAsync();
        Assert.Equal(["+werk/ on 1", "+lager on 1", "-lager on 1", "+werk/ on 2"], report.Topics);
    }

    [NodeFact]
    public async Task The_list_of_peers()
    {
        using NodePeer node = await NodePeer.StartAsync(new
        {
            peers = new[]
            {
                new
                {
                    sessionId = 7, routingId = "gerät", clientName = "Werk", connectedUnixMs = 1_700_000_000_123, messagesIn = 1,
                    messagesOut = 2, bytesIn = 3_000_000_000, bytesOut = 4,
                },
            },
        });
        await using (FastPortClient client = await node.ConnectAsync())
        {
            PeerInfo peer = await client.ListPeersAsync("g", "a").FirstAsync();
            Assert.Equal(
                new PeerInfo(7, "gerät", "Werk", DateTimeOffset.FromUnixTimeMilliseconds(1_700_000_000_123), 1, 2, 3_000_000_000, 4),
                peer);
        }

        Assert.Equal([new PeersQueryMessage("g", 0, "a")], (await node.FinishAsync()).Queries);
    }
}
