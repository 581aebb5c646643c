using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Transports;
using Xunit;

namespace FastPort.Core.Tests.Clients;

/// <content>Time limits of requests.</content>
public sealed partial class ClientRequestTests
{
    [Fact]
    public async Task A_request_has_its_own_timeout_and_the_server_is_told()
    {
        using var server = new ScriptedServer();
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        var options = new FastPortClientOptions { Endpoint = server.Endpoint };
        options.Session.HeartbeatInterval = TimeSpan.Zero;
        await using var client = new FastPortClient(options, clock: clock);
        time.Fired = () => LoopWork.Settle(client.Session is { } session ? [session] : []);
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        Task<byte[]> quick = client.RequestAsync(SomeType, new byte[1], TimeSpan.FromSeconds(2));
        Task<byte[]> patient = client.RequestAsync(SomeType, new byte[1]);
        Task<byte[]> endless = client.RequestAsync(SomeType, new byte[1], TimeSpan.Zero);
        uint[] correlations = new uint[3];
        for (int i = 0; i < 3; i++)
        {
            correlations[i] = (await peer.ReadAsync()).Header.Correlation;
        }

        time.Advance(TimeSpan.FromSeconds(1.9));
        Assert.False(quick.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(0.2));
        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => quick.InTimeAsync());
        Assert.Equal(RequestFailure.TimedOut, e.Failure);
        Assert.Equal(ErrorCode.Timeout, e.Code);
        Assert.Equal(correlations[0], await ReadCancelAsync(peer));

        time.Advance(TimeSpan.FromSeconds(28));
        await Assert.ThrowsAsync<RequestFailedException>(() => patient.InTimeAsync());
        Assert.Equal(correlations[1], await ReadCancelAsync(peer));
        Assert.False(endless.IsCompleted);
        Assert.Equal(1, client.Session!.OutstandingRequests);
    }

    [Fact]
    public async Task A_request_without_a_connection_waits_no_longer_than_its_timeout()
    {
        using var server = new ScriptedServer();
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint }, clock: clock);
        time.Fired = () => LoopWork.Settle(client.Session is { } session ? [session] : []);
        Task connecting = client.ConnectAsync();

        Task<byte[]> request = client.RequestAsync(SomeType, new byte[1], TimeSpan.FromSeconds(3));
        Assert.False(request.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(3.1));

        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => request.InTimeAsync());
        Assert.Equal(RequestFailure.TimedOut, e.Failure);
        Assert.Contains(server.Endpoint, e.Message, StringComparison.Ordinal);
        Assert.False(connecting.IsCompleted);
    }

    public static TheoryData<TimeSpan> NoLimits => [TimeSpan.Zero, Timeout.InfiniteTimeSpan, TimeSpan.MinValue, TimeSpan.MaxValue];

    [Theory]
    [MemberData(nameof(NoLimits))]
    public async Task A_request_without_a_limit_waits_for_a_connection_and_for_its_reply(TimeSpan none)
    {
        using var server = new ScriptedServer();
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        var options = new FastPortClientOptions { Endpoint = server.Endpoint, ConnectTimeout = TimeSpan.FromHours(1) };
        options.Session.HeartbeatInterval = options.Session.IdleTimeout = TimeSpan.Zero;
        await using var client = new FastPortClient(options, clock: clock);
        time.Fired = () => LoopWork.Settle(client.Session is { } session ? [session] : []);
        Task connecting = client.ConnectAsync();

        Task<byte[]> request = client.RequestAsync(SomeType, new byte[1], none);
        time.Advance(TimeSpan.FromSeconds(100));
        Assert.False(request.IsCompleted);
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        ScriptedFrame frame = await peer.ReadAsync();
        time.Advance(TimeSpan.FromSeconds(100));
        Assert.False(request.IsCompleted);

        await peer.ReplyAsync(frame, 7);
        Assert.Equal([7], await request.InTimeAsync());
    }

    [Fact]
    public async Task A_request_that_finds_no_room_in_time_leaves_no_wait_behind()
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateFor(server, new MessageHandlers());
        (ScriptedPeer peer, Task<byte[]> request, ScriptedFrame _) = await ConnectAndFillAsync(client, server);
        using ScriptedPeer held = peer;
        Session session = client.Session!;
        foreach (Func<Task<byte[]>> ask in new Func<Task<byte[]>>[]
            {
                () => client.RequestAsync(SomeType, new byte[1], TimeSpan.FromMilliseconds(1)),
                () => session.RequestAsync(SomeType, new byte[1], TimeSpan.FromMilliseconds(1)),
            })
        {
            RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => ask().InTimeAsync());
            Assert.Equal(RequestFailure.TimedOut, e.Failure);
        }

        using var gone = new CancellationTokenSource();
        Task canceled = session.RequestAsync(SomeType, new byte[1], TimeSpan.Zero, gone.Token);
        await Patience.UntilAsync(() => Awaited() >= 0, "it waits for room");
        await gone.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => canceled.InTimeAsync());

        Assert.Equal(-1, Awaited());
        Assert.False(request.IsCompleted);

        long Awaited() => Assert.IsAssignableFrom<TransportConnection>(session.Connection).AwaitedPending;
    }
}
