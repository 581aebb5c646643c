using FastPort.Connections;
using FastPort.Core.Tests.Support;
using Xunit;

namespace FastPort.Core.Tests.Clients;

/// <summary>What becomes of a client whose first connection does not succeed at once.</summary>
public sealed class ClientConnectAgainTests
{
    [Fact]
    public async Task After_a_failed_attempt_requests_fail_at_once_until_it_is_tried_again()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        Task<byte[]> waiting = Request(client);
        using (ScriptedPeer unwilling = await server.AcceptAsync())
        {
            await unwilling.ReadAsync();
        }

        await Assert.ThrowsAsync<RequestFailedException>(() => connecting.InTimeAsync());

        Assert.Equal(RequestFailure.NotConnected, (await Assert.ThrowsAsync<RequestFailedException>(() => waiting.InTimeAsync())).Failure);
        RequestFailedException refused = await Assert.ThrowsAsync<RequestFailedException>(() => Request(client).InTimeAsync());
        Assert.Equal(RequestFailure.NotConnected, refused.Failure);
        Assert.StartsWith("The client is not connected: ", refused.Message, StringComparison.Ordinal);

        connecting = client.ConnectAsync();
        waiting = Request(client);
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        await peer.ReplyAsync(await peer.ReadAsync(), 7);
        Assert.Equal([7], await waiting.InTimeAsync());
    }

    [Fact]
    public async Task Before_ConnectAsync_all_that_needs_a_session_fails_at_once_and_says_what_to_call()
    {
        await using CountingServer server = await CountingServer.StartAsync(configure: static o => o.Routing.Topics = true);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });

        foreach (Func<Task> use in (Func<Task>[])[
            () => Request(client),
            () => client.SendAsync(CountingServer.OneWay, new byte[8]).AsTask(),
            () => client.TrySendAsync(CountingServer.OneWay, new byte[8]).AsTask(),
            () => client.SubscribeAsync("plant/", static (scoped in _) => { }),
            () => client.PublishAsync("plant/1", 1, new byte[1])])
        {
            RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => use().InTimeAsync());
            Assert.Equal(
                (RequestFailure.NotConnected, "The client is not connected: call ConnectAsync first."), (e.Failure, e.Message));
        }

        await client.ConnectAsync().InTimeAsync();
        await client.SubscribeAsync("plant/", static (scoped in _) => { }).InTimeAsync();
        Assert.Equal([1], await Request(client).InTimeAsync());
    }

    [Fact]
    public async Task A_cancelled_attempt_can_be_made_again_at_once()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        for (int round = 0; round < 20; round++)
        {
            using var cancel = new CancellationTokenSource();
            Task connecting = client.ConnectAsync(cancel.Token);
            using ScriptedPeer peer = await server.AcceptAsync();
            await cancel.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connecting.InTimeAsync());
        }

        Task last = client.ConnectAsync();
        using ScriptedPeer welcomed = await server.WelcomeAsync();
        await last.InTimeAsync();
    }

    [Fact]
    public async Task One_attempt_at_a_time()
    {
        using var server = new ScriptedServer();
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();

        await Assert.ThrowsAsync<InvalidOperationException>(() => client.ConnectAsync().InTimeAsync());
        await client.CloseAsync().InTimeAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connecting.InTimeAsync());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => client.ConnectAsync().InTimeAsync());
        Assert.Equal(
            RequestFailure.Closed, (await Assert.ThrowsAsync<RequestFailedException>(() => Request(client).InTimeAsync())).Failure);
    }

    [Fact]
    public async Task A_client_that_has_ended_says_why_it_does_not_connect_again()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint, Reconnect = false });
        Task connecting = client.ConnectAsync();
        using (await server.WelcomeAsync())
        {
            await connecting.InTimeAsync();
            Assert.Contains(
                "reconnects by itself",
                (await Assert.ThrowsAsync<InvalidOperationException>(() => client.ConnectAsync())).Message, StringComparison.Ordinal);
        }

        await Patience.UntilAsync(() => client.Session is null, "the connection has ended");
        await Patience.UntilAsync(
            () => Assert.Throws<InvalidOperationException>(() => { client.ConnectAsync().GetAwaiter().GetResult(); })
                .Message.StartsWith("The connection has ended and the client does not reconnect.", StringComparison.Ordinal),
            "the message says so");
    }

    [Fact]
    public async Task With_RetryConnect_it_tries_until_there_is_a_server_and_requests_wait()
    {
        using var server = new ScriptedServer();
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        await using var client = new FastPortClient(
            new FastPortClientOptions
            {
                Endpoint = server.Endpoint,
                RetryConnect = true,
                ReconnectDelay = TimeSpan.FromSeconds(2),
                MaxReconnectDelay = TimeSpan.FromSeconds(10),
            },
            clock: clock);
        time.Fired = () => LoopWork.Settle(client.Session is { } session ? [session] : []);
        Task connecting = client.ConnectAsync();
        Task<byte[]> waiting = Request(client);
        (await server.AcceptAsync()).Dispose();

        // The second attempt comes after the first delay, give or take a quarter.
        await Patience.UntilAsync(
            () => time.WasArmed(TimeSpan.FromSeconds(1.5), TimeSpan.FromSeconds(2.5)), "the client waits before the second attempt");
        Assert.False(connecting.IsCompleted);
        Assert.False(waiting.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(2.6));
        using ScriptedPeer peer = await server.WelcomeAsync();

        await connecting.InTimeAsync();
        await peer.ReplyAsync(await peer.ReadAsync(), 7);
        Assert.Equal([7], await waiting.InTimeAsync());
    }

    [Fact]
    public async Task With_RetryConnect_a_request_waits_within_its_own_timeout()
    {
        await using var nobody = new CuttingProxy(targetPort: 1) { Refuses = true };
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = nobody.Endpoint, RetryConnect = true });
        Task connecting = client.ConnectAsync();

        RequestFailedException e = await FailAsync();

        Assert.Equal(RequestFailure.TimedOut, e.Failure);
        Assert.False(connecting.IsCompleted);
        await Patience.UntilAsync(
            async () => (await FailAsync()).Message.Contains("in time. The last attempt failed: ", StringComparison.Ordinal),
            "the error has the reason of an attempt");

        Task<RequestFailedException> FailAsync() => Assert.ThrowsAsync<RequestFailedException>(
            () => client.RequestAsync(CountingServer.InlineEcho, new byte[1], TimeSpan.FromMilliseconds(20)).InTimeAsync());
    }

    [Fact]
    public async Task With_RetryConnect_cancelling_ends_it_and_it_can_be_called_again()
    {
        await using CountingServer server = await CountingServer.StartAsync();
        await using var proxy = new CuttingProxy(server.Port) { Refuses = true };
        await using var client = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = proxy.Endpoint,
            RetryConnect = true,
            ReconnectDelay = TimeSpan.FromMilliseconds(1),
        });
        using var cancel = new CancellationTokenSource();
        Task connecting = client.ConnectAsync(cancel.Token);
        await Patience.UntilAsync(() => proxy.Accepted >= 3, "the client keeps trying");

        await cancel.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connecting.InTimeAsync());
        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(() => Request(client).InTimeAsync());
        Assert.Equal(
            (RequestFailure.NotConnected, "The client is not connected: ConnectAsync was canceled; call it again."),
            (failure.Failure, failure.Message));
        proxy.Refuses = false;
        await client.ConnectAsync().InTimeAsync();
        Assert.Equal([1], await Request(client).InTimeAsync());
    }

    [Fact]
    public async Task With_RetryConnect_closing_ends_it()
    {
        await using var nobody = new CuttingProxy(targetPort: 1) { Refuses = true };
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = nobody.Endpoint, RetryConnect = true });
        Task connecting = client.ConnectAsync();
        Task<byte[]> waiting = Request(client);

        await client.CloseAsync().InTimeAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connecting.InTimeAsync());
        Assert.Equal(RequestFailure.Closed, (await Assert.ThrowsAsync<RequestFailedException>(() => waiting.InTimeAsync())).Failure);
    }

    [Fact]
    public async Task With_RetryConnect_a_Hello_above_the_frame_limit_still_ends_it()
    {
        using var server = new ScriptedServer();
        var options = new FastPortClientOptions { Endpoint = server.Endpoint, Token = new string('t', 2000), RetryConnect = true };
        options.Session.MaxFrameBytes = 1024;
        await using var client = new FastPortClient(options);

        await Assert.ThrowsAsync<FastPortOptionsException>(() => client.ConnectAsync().InTimeAsync());
    }

    private static Task<byte[]> Request(FastPortClient client) =>
        client.RequestAsync(CountingServer.InlineEcho, new byte[] { 1 }, TimeSpan.Zero);
}
