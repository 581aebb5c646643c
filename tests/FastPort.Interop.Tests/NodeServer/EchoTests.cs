using FastPort.Framing;
using FastPort.Interop.Tests.Peers;
using Xunit;

namespace FastPort.Interop.Tests.NodeServer;

public sealed class EchoTests
{
    [NodeFact]
    public async Task Server_and_network_time_come_from_the_block_the_peer_wrote()
    {
        using NodePeer node = await NodePeer.StartAsync();
        var replies = new List<MeasuredReply>();
        await using (FastPortClient client = await node.ConnectAsync())
        {
            foreach (int size in new[] { 0, 1, 127, 128, 16_383, 65_536, FrameLimits.Default - 12 })
            {
                byte[] payload = Payload(size);
                MeasuredReply reply = await MeasuredEcho.Send(client, payload, timing: true).WaitAsync(NodeProcess.Limit);
                Assert.Equal(payload, reply.Payload);
                replies.Add(reply);
            }
        }

        PeerReport report = await node.FinishAsync();
        Assert.Equal(
            report.Echoes.Select(static e => (e.Correlation, e.Block)), replies.Select(static r => (r.Header.Correlation, r.Timing)));

        // Both clocks are the machine's, and the client's interval is around the peer's.
        Assert.All(
            replies, static reply =>
                Assert.True(reply.Timing.Received > 0 && reply.Timing.ServerNanoseconds >= 0 && reply.NetworkTime > 0, $"{reply}"));
        Assert.All(replies, static reply => Assert.Equal(reply.RoundTrip, reply.NetworkTime + reply.Timing.ServerNanoseconds));
    }

    [NodeFact]
    public async Task Without_the_flag_the_peer_sends_no_block_and_the_body_is_whole()
    {
        using NodePeer node = await NodePeer.StartAsync();
        await using FastPortClient client = await node.ConnectAsync();

        MeasuredReply reply = await MeasuredEcho.Send(client, Payload(500), timing: false).WaitAsync(NodeProcess.Limit);

        Assert.Equal(Payload(500), reply.Payload);
        Assert.Equal((FrameFlags.Reply, default), (reply.Header.Flags, reply.Timing));
    }

    [NodeTheory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Replies_in_reversed_order_reach_their_requests(bool timing)
    {
        const int Count = 500;
        using NodePeer node = await NodePeer.StartAsync(new { reverse = Count });
        await using FastPortClient client = await node.ConnectAsync();

        MeasuredReply[] replies = await Task.WhenAll(Enumerable.Range(0, Count).Select(i => MeasuredEcho.Send(client, Payload(i), timing)))
            .WaitAsync(NodeProcess.Limit);

        Assert.All(replies, static (reply, i) => Assert.Equal(Payload(i), reply.Payload));
        PeerReport report = await node.FinishAsync();
        Assert.Equal(replies.Select(static r => r.Header.Correlation).Reverse(), report.Echoes.Select(static e => e.Correlation));
    }

    [NodeFact]
    public async Task Replies_that_come_byte_by_byte_are_whole()
    {
        using NodePeer node = await NodePeer.StartAsync(new { bytewise = true });
        await using FastPortClient client = await node.ConnectAsync();

        MeasuredReply[] replies = await Task.WhenAll(
            Enumerable.Range(0, 12).Select(i => MeasuredEcho.Send(client, Payload(i * 11), timing: i % 2 == 0)))
            .WaitAsync(NodeProcess.Limit);

        Assert.All(replies, static (reply, i) => Assert.Equal(Payload(i * 11), reply.Payload));
        PeerReport report = await node.FinishAsync();
        Assert.All(replies.Zip(report.Echoes), static both =>
        {
            Assert.Equal(both.First.Header.Correlation, both.Second.Correlation);
            Assert.Equal(both.Second.Received is null ? default : both.Second.Block, both.First.Timing);
        });
    }

    private static byte[] Payload(int size)
    {
        byte[] bytes = new byte[size];
        new Random(size).NextBytes(bytes);
        return bytes;
    }
}
