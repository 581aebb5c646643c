using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Limits;

/// <content>Sessions that end while their account is over its rate.</content>
public sealed partial class SessionRateTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_peer_that_has_said_Goodbye_is_held_and_refused_and_a_stop_does_not_wait_for_it(bool stops)
    {
        await using TestServer server = await StartAsync(static rates => rates.PerAddress.MessagesPerSecond = 10);
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        await peer.SendAsync(Wire.Request(Held, 1), Wire.GoodbyePost());
        for (uint i = 2; i <= 10; i++)
        {
            await peer.SendAsync(Wire.Request(TestServer.Echo, i, [1]));
            await ExpectRefusalAsync(i);
        }

        byte[][] echoes = [.. Enumerable.Range(11, 100).Select(static i => Wire.Request(TestServer.Echo, (uint)i, [1]))];
        long sent = session.Connection.BytesReceived + echoes.Sum(static echo => echo.Length);
        await peer.SendAsync(echoes);
        await Patience.UntilAsync(() => session.Connection.BytesReceived == sent, "the bytes have arrived");
        server.Settle();

        Assert.Equal(11, session.MessagesReceived);
        Task stopped = stops ? server.Server.StopAsync() : Task.CompletedTask;
        if (!stops)
        {
            await AdvanceUntilAsync(() => session.MessagesReceived != 11);
        }

        await Patience.UntilAsync(() => session.MessagesReceived == 111, "all was read");
        Assert.Equal(stops, _time.Elapsed == TimeSpan.Zero);
        for (uint i = 11; i <= 110; i++)
        {
            await ExpectRefusalAsync(i);
        }

        _release.SetResult();
        WireFrame reply = await peer.ReadFrameAsync();
        Assert.Equal((1u, false), (reply.Correlation, reply.IsError));
        await peer.ExpectEndAsync();
        peer.Dispose();
        await AdvanceUntilAsync(() => stopped.IsCompleted && session.IsClosed);

        async Task ExpectRefusalAsync(uint correlation)
        {
            WireFrame frame = await peer.ReadFrameAsync();
            Assert.Equal((correlation, 10u), (frame.Correlation, frame.ErrorCode));
        }
    }

    [Fact]
    public async Task A_Goodbye_that_is_held_ends_the_session_when_the_rate_has_made_up_for_it()
    {
        await using TestServer server = await StartAsync(static rates => rates.PerAddress.MessagesPerSecond = 10);
        using RawPeer peer = await server.ConnectAsync();
        Session session = await server.SessionAsync();
        await EchoAsync(peer, 11);
        await peer.SendAsync(Wire.Request(TestServer.Echo, 12, [7]), Wire.GoodbyePost());
        await Patience.UntilAsync(() => session.Protocol.IsPaused, "the session is held");

        await AdvanceUntilAsync(() => session.Connection.IsClosing);

        Assert.Equal([7], (await peer.ReadFrameAsync()).Body);
        await peer.ExpectEndAsync();
        Assert.InRange(_time.Elapsed, TimeSpan.FromSeconds(0.1), TimeSpan.FromSeconds(0.4));
        Assert.Equal(CloseKind.PeerClosed, session.Connection.ClosingReason?.Kind);
    }
}
