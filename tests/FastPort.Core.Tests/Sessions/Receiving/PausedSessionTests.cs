using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Receiving;

/// <summary>
/// Heartbeats of a session that is not read: the peer must neither be blamed for its silence nor think that it talks to a dead one.
/// </summary>
public sealed class PausedSessionTests
{
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(15);
    private readonly FakeTimeProvider _time = new();

    [Fact]
    public async Task A_session_paused_by_its_request_queue_pings_its_peer_each_interval_and_answers_the_peers_Pings_afterwards()
    {
        var release = new TaskCompletionSource();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapQueued(0x1001, async _ => await release.Task),
            static o => (o.Session.MaxInFlightRequests, o.Session.HeartbeatInterval) = (1, Interval),
            h => h.Time = _time);
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        await peer.SayHelloAsync();

        // The Ping's reply leaves after the burst in which the second request could not be taken; the third Ping is not read.
        await peer.SendAsync(Wire.PingRequest(9), Wire.Request(0x1001, 1), Wire.Request(0x1001, 2), Wire.PingRequest(3));
        Assert.Equal(9u, (await peer.ReadFrameAsync()).Correlation);

        HashSet<uint> correlations = [];
        for (int i = 0; i < 5; i++)
        {
            _time.Advance(Interval + TimeSpan.FromMilliseconds(100));
            WireFrame ping = await peer.ReadFrameAsync();
            Assert.Equal((Wire.Ping, 0, 0), (ping.Type, ping.Flags, ping.Body.Length));
            correlations.Add(ping.Correlation);
        }

        // The five went unanswered: none of them may stay behind, and nobody is blamed.
        Assert.Equal(5, correlations.Count);
        Assert.Equal(1, session.OutstandingRequests);
        Assert.False(session.IsClosed);

        release.SetResult();
        uint[] answered = [
            (await peer.ReadFrameAsync()).Correlation, (await peer.ReadFrameAsync()).Correlation,
            (await peer.ReadFrameAsync()).Correlation];
        Assert.Equal([1u, 2, 3], answered.Order().ToArray());
        await peer.PingAsync();
    }

    [Fact]
    public async Task A_session_paused_by_its_send_queue_pings_past_the_queues_bound()
    {
        byte[] body = Wire.Bytes(16_000_000);
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapInline(0x1001, (ref InlineRequest r) => r.Reply(body)),
            static o =>
            {
                (o.Session.MaxFrameBytes, o.Session.SendQueueBytes) = (32_000_000, 4096);
                (o.Session.HeartbeatInterval, o.Session.WriteTimeout) = (Interval, TimeSpan.Zero);
            },
            h => h.Time = _time);
        using RawPeer peer = await server.ConnectAsync(receiveBuffer: 4096);
        Session session = await server.SessionAsync();
        _time.Advance(Interval);
        await peer.SayHelloAsync();
        TimeSpan start = _time.Elapsed;

        // The reply fills the queue and the Ping behind it is not read. Nobody has been pinged yet, so the first Ping shows that the
        // session is paused.
        await peer.SendAsync(Wire.Request(0x1001, 1), Wire.PingRequest(2));
        await Patience.UntilAsync(
            () =>
            {
                _time.Advance(TimeSpan.FromMilliseconds(10));
                return session.MessagesSent == 3;
            },
            "the paused session's peer was pinged");
        Assert.InRange(_time.Elapsed - start, TimeSpan.Zero, Interval - TimeSpan.FromMilliseconds(1));
        for (int pings = 2; pings <= 3; pings++)
        {
            _time.Advance(Interval + TimeSpan.FromMilliseconds(100));
            Assert.Equal(2 + pings, session.MessagesSent);
        }

        Assert.Equal(body, (await peer.ReadFrameAsync()).Body);
        List<(ushort Type, byte Flags)> behind = [];
        for (int i = 0; i < 4; i++)
        {
            WireFrame frame = await peer.ReadFrameAsync();
            behind.Add((frame.Type, frame.Flags));
        }

        Assert.Equal([(Wire.Ping, 0), (Wire.Ping, 0), (Wire.Ping, 0), (Wire.Ping, Wire.Reply)], behind);
        await peer.PingAsync();
    }
}
