using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Clients;

public sealed class ClientHeartbeatTests
{
    [Fact]
    public async Task A_silent_server_is_pinged_then_left()
    {
        using var server = new ScriptedServer();
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint }, clock: clock);
        time.Fired = () => LoopWork.Settle(client.Session is { } session ? [session] : []);
        var lost = new TaskCompletionSource<CloseReason>(TaskCreationOptions.RunContinuationsAsynchronously);
        client.Disconnected += (_, reason) => lost.TrySetResult(reason);
        Task connecting = client.ConnectAsync();
        ScriptedPeer peer = await server.WelcomeAsync(heartbeatMilliseconds: 15_000);
        await connecting.InTimeAsync();
        Task<byte[]> request = client.RequestAsync(0x2000, new byte[1], TimeSpan.Zero);
        await peer.ReadAsync();

        time.Advance(TimeSpan.FromSeconds(15.2));
        ScriptedFrame ping = await peer.ReadAsync();
        Assert.Equal((ControlType.Ping, 0), (ping.Header.Type, ping.Body.Length));
        time.Advance(TimeSpan.FromSeconds(15.2));

        ScriptedFrame goodbye = await peer.ReadAsync();
        Assert.Equal(ControlType.Goodbye, goodbye.Header.Type);
        Assert.True(CodeBody.TryRead(goodbye.Body, out CodeBody body));
        Assert.Equal(ErrorCode.Timeout, body.Code);
        Assert.Null(await peer.TryReadAsync());
        peer.Dispose();
        Assert.Equal(CloseKind.HeartbeatTimeout, (await lost.Task.InTimeAsync()).Kind);
        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => request.InTimeAsync());
        Assert.Equal(RequestFailure.ConnectionLost, e.Failure);
        using ScriptedPeer again = await server.WelcomeAsync();
    }

    [Fact]
    public async Task Any_byte_of_the_server_counts_as_life_and_the_smaller_interval_holds()
    {
        using var server = new ScriptedServer();
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint }, clock: clock);
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync(heartbeatMilliseconds: 2000);
        await connecting.InTimeAsync();
        time.Fired = () => LoopWork.Settle([client.Session!]);

        for (int i = 0; i < 5; i++)
        {
            time.Advance(TimeSpan.FromSeconds(2.1));
            ScriptedFrame ping = await peer.ReadAsync();
            Assert.Equal(ControlType.Ping, ping.Header.Type);
            await peer.ReplyAsync(ping);
            await Patience.UntilAsync(() => client.Session!.OutstandingRequests == 0, "the pong arrived");
            time.Advance(TimeSpan.FromSeconds(0.1));
        }

        Assert.False(client.Session!.IsClosed);
    }

    [Fact]
    public async Task A_Ping_without_an_answer_does_not_delay_the_close()
    {
        using var server = new ScriptedServer();
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint }, clock: clock);
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync(heartbeatMilliseconds: 2000);
        await connecting.InTimeAsync();
        time.Fired = () => LoopWork.Settle([client.Session!]);
        time.Advance(TimeSpan.FromSeconds(2.1));
        Assert.Equal(ControlType.Ping, (await peer.ReadAsync()).Header.Type);
        time.Fired = null;

        Task closing = client.CloseAsync();

        Assert.Equal(ControlType.Goodbye, (await peer.ReadAsync()).Header.Type);
        Assert.Null(await peer.TryReadAsync());
        peer.Dispose();
        await closing.InTimeAsync();
    }

    [Fact]
    public async Task Pings_of_the_server_are_answered()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();

        await peer.WriteAsync(ControlType.Ping, FrameFlags.None, 5);

        ScriptedFrame pong = await peer.ReadAsync();
        Assert.Equal((ControlType.Ping, FrameFlags.Reply, 5u), (pong.Header.Type, pong.Header.Flags, pong.Header.Correlation));
    }

    [Fact]
    public async Task Two_quiet_sides_keep_each_other_alive_past_the_idle_timeout()
    {
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        await using CountingServer server = await CountingServer.StartAsync(
            configure: static o => o.Session.IdleTimeout = TimeSpan.FromSeconds(20),
            components: new FastPortServerComponents { Time = time });
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint }, clock: clock);
        await client.ConnectAsync().InTimeAsync();
        Session session = client.Session!;
        time.Fired = () => LoopWork.Settle([session, .. server.Server.Sessions]);

        for (int i = 0; i < 8; i++)
        {
            long before = session.MessagesReceived;
            time.Advance(TimeSpan.FromSeconds(15.1));
            await Patience.UntilAsync(() => session.MessagesReceived > before && session.OutstandingRequests == 0, "a ping or pong came");
            await Patience.UntilAsync(
                () => server.Server.Sessions.All(static s => s.OutstandingRequests == 0), "the server's ping was answered");
            time.Advance(TimeSpan.FromSeconds(0.1));
        }

        Assert.False(session.IsClosed);
        Assert.Same(session, client.Session);
        Assert.Equal(CountingServer.Body(1), await client.RequestAsync(CountingServer.InlineEcho, CountingServer.Body(1)).InTimeAsync());

        // Both clocks are manual: give the close its time.
        await client.CloseAsync().InTimeAsync();
    }
}
