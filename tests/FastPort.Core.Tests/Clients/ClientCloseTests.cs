using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Clients;

public sealed class ClientCloseTests
{
    [Fact]
    public async Task Replies_in_flight_arrive_while_the_client_closes()
    {
        await using CountingServer server = await CountingServer.StartAsync(configure: static o => o.Session.MaxConcurrency = 20);
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        await client.ConnectAsync().InTimeAsync();
        Task<byte[]>[] requests = [
            .. Enumerable.Range(0, 20).Select(i => client.RequestAsync(CountingServer.Hold, CountingServer.Body(i)))];
        await Patience.UntilAsync(() => server.Held == 20, "all are in flight");

        Task closing = client.CloseAsync();
        Assert.Equal(
            RequestFailure.Closed,
            (await Assert.ThrowsAsync<RequestFailedException>(
                () => client.RequestAsync(CountingServer.InlineEcho, new byte[1]).InTimeAsync())).Failure);
        Assert.DoesNotContain(requests, static r => r.IsCompleted);
        server.Release();

        for (int i = 0; i < requests.Length; i++)
        {
            Assert.Equal(CountingServer.Body(i), await requests[i].InTimeAsync());
        }

        await closing.InTimeAsync();
        await Patience.UntilAsync(() => server.Server.ConnectionCount == 0, "the server's side has ended");
    }

    [Fact]
    public async Task Says_Goodbye_before_it_closes()
    {
        using var server = new ScriptedServer();
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();

        Task closing = client.CloseAsync();

        List<ScriptedFrame> last = await peer.ReadToEndAsync();
        Assert.Equal(ControlType.Goodbye, Assert.Single(last).Header.Type);
        peer.Dispose();
        await closing.InTimeAsync();
    }

    [Fact]
    public async Task A_reply_that_never_comes_holds_the_close_up_for_its_timeout_only()
    {
        using var server = new ScriptedServer();
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = server.Endpoint, CloseTimeout = TimeSpan.FromSeconds(7) }, clock: clock);
        time.Fired = () => LoopWork.Settle(client.Session is { } session ? [session] : []);
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        Task<byte[]> request = client.RequestAsync(0x2000, new byte[1], TimeSpan.Zero);
        await peer.ReadAsync();

        Task closing = client.CloseAsync();
        Assert.Equal(ControlType.Goodbye, (await peer.ReadAsync()).Header.Type);
        await Patience.UntilAsync(() => time.WasArmed(TimeSpan.FromSeconds(8), TimeSpan.FromSeconds(8)), "the close waits for the reply");
        time.Advance(TimeSpan.FromSeconds(7.9));
        Assert.False(closing.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(0.1));

        await closing.InTimeAsync();
        Assert.Equal(
            RequestFailure.ConnectionLost, (await Assert.ThrowsAsync<RequestFailedException>(() => request.InTimeAsync())).Failure);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_subscriber_that_blocks_does_not_keep_the_client_from_closing(bool connected)
    {
        using var server = new ScriptedServer();
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        var free = new ManualResetEventSlim();
        var blocked = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint }, clock: clock);
        if (connected)
        {
            client.Connected += _ => Block();
        }
        else
        {
            client.Disconnected += (_, _) => Block();
        }

        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await (connected ? blocked.Task : connecting).InTimeAsync();

        Task closing = client.CloseAsync();
        peer.Dispose();
        await blocked.Task.InTimeAsync();
        try
        {
            await Patience.UntilAsync(
                () =>
                {
                    time.Advance(TimeSpan.FromSeconds(1));
                    return closing.IsCompleted;
                },
                "the close is over");
        }
        finally
        {
            free.Set();
        }

        await closing;
        await connecting.InTimeAsync();

        void Block()
        {
            blocked.TrySetResult();
            free.Wait();
        }
    }

    [Fact]
    public async Task Closing_and_disposing_again_does_nothing_and_requests_fail_as_closed()
    {
        await using CountingServer server = await CountingServer.StartAsync();
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        await client.ConnectAsync().InTimeAsync();

        await Task.WhenAll(Enumerable.Range(0, 8).Select(_ => Task.Run(() => client.CloseAsync()))).InTimeAsync();
        await client.DisposeAsync().InTimeAsync();
        await client.DisposeAsync().InTimeAsync();

        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(
            () => client.RequestAsync(CountingServer.InlineEcho, new byte[1]).InTimeAsync());
        Assert.Equal(RequestFailure.Closed, e.Failure);
        Assert.Contains("closed", e.Message, StringComparison.Ordinal);
        await Assert.ThrowsAsync<RequestFailedException>(() => client.SendAsync(CountingServer.OneWay, default(EmptyBody)).InTimeAsync());
    }

    [Fact]
    public async Task A_client_that_never_connected_can_be_disposed()
    {
        var client = new FastPortClient(new FastPortClientOptions());

        await client.DisposeAsync().InTimeAsync();
        await client.CloseAsync().InTimeAsync();
    }

    [Fact]
    public async Task Requests_that_wait_for_a_connection_fail_as_closed()
    {
        await using CountingServer server = await CountingServer.StartAsync();
        await using var proxy = new CuttingProxy(server.Port);
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = proxy.Endpoint });
        await client.ConnectAsync().InTimeAsync();
        proxy.Refuses = true;
        proxy.CutAll();
        await Patience.UntilAsync(() => client.Session is null, "the loss was noticed");
        Task<byte[]> waiting = client.RequestAsync(CountingServer.InlineEcho, new byte[1], TimeSpan.Zero);

        await client.CloseAsync().InTimeAsync();

        Assert.Equal(RequestFailure.Closed, (await Assert.ThrowsAsync<RequestFailedException>(() => waiting.InTimeAsync())).Failure);
    }

    [Fact]
    public async Task A_reconnection_that_crosses_the_close_leaves_no_session_behind()
    {
        using var server = new ScriptedServer();
        for (int round = 0; round < 100; round++)
        {
            int connected = 0, disconnected = 0;
            var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
            client.Connected += _ => Interlocked.Increment(ref connected);
            client.Disconnected += (_, _) => Interlocked.Increment(ref disconnected);
            Task connecting = client.ConnectAsync();
            ScriptedPeer first = await server.WelcomeAsync();
            await connecting.InTimeAsync();
            first.Dispose();
            using ScriptedPeer second = await server.AcceptAsync();
            ScriptedFrame hello = await second.ReadAsync();
            Task welcoming = Task.Run(() => second.TryWelcomeAsync(hello));
            Task closing = Task.Run(() => client.CloseAsync());

            await welcoming.InTimeAsync();
            await second.ReadToEndAsync().InTimeAsync();
            second.Dispose();
            await closing.InTimeAsync();

            Assert.Null(client.Session);
            Assert.Equal(connected, disconnected);
        }
    }

    [Fact]
    public async Task Disconnected_has_been_raised_when_the_close_is_over()
    {
        await using CountingServer server = await CountingServer.StartAsync();
        for (int round = 0; round < 50; round++)
        {
            CloseReason? reason = null;
            var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
            client.Disconnected += (_, r) => Volatile.Write(ref reason, r);
            await client.ConnectAsync().InTimeAsync();

            await client.CloseAsync().InTimeAsync();

            Assert.NotNull(Volatile.Read(ref reason));
        }
    }

    [Fact]
    public async Task A_session_that_the_server_is_leaving_is_waited_for_too()
    {
        using var server = new ScriptedServer();
        CloseReason? reason = null;
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        client.Disconnected += (_, r) => Volatile.Write(ref reason, r);
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        Task<byte[]> request = client.RequestAsync(0x2000, new byte[1]);
        ScriptedFrame frame = await peer.ReadAsync();
        await peer.WriteAsync(
            ControlType.Goodbye, FrameFlags.OneWay, 0, ScriptedPeer.Encode(new CodeBody(ErrorCode.ShuttingDown, "Stopping.")));
        Assert.Equal(ControlType.Goodbye, (await peer.ReadAsync()).Header.Type);

        Task closing = client.CloseAsync();
        Assert.False(closing.IsCompleted);
        await peer.ReplyAsync(frame, 3);

        Assert.Equal([3], await request.InTimeAsync());
        peer.Dispose();
        await closing.InTimeAsync();
        Assert.NotNull(Volatile.Read(ref reason));
    }

    [Fact]
    public async Task A_subscriber_that_throws_disturbs_nothing()
    {
        await using CountingServer server = await CountingServer.StartAsync();
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        client.Connected += static _ => throw new InvalidOperationException("A user's mistake.");
        client.Disconnected += static (_, _) => throw new InvalidOperationException("A user's mistake.");
        await client.ConnectAsync().InTimeAsync();

        Assert.Equal([1], await client.RequestAsync(CountingServer.InlineEcho, new byte[] { 1 }).InTimeAsync());
        await client.CloseAsync().InTimeAsync();
    }

    [Fact]
    public async Task A_slow_reader_gets_every_reply_of_a_server_that_closes()
    {
        var time = new ManualTime();
        await using CountingServer server = await CountingServer.StartAsync(
            configure: static o => o.Session.MaxFrameBytes = 40 * 1024 * 1024, components: new FastPortServerComponents { Time = time });
        using var socket = new System.Net.Sockets.TcpClient();
        await socket.ConnectAsync(System.Net.IPAddress.Loopback, server.Port);
        System.Net.Sockets.NetworkStream stream = socket.GetStream();
        byte[] request = new byte[FrameHeader.Size + (32 * 1024 * 1024)];
        new FrameHeader((uint)request.Length - 4, CountingServer.InlineEcho, FrameFlags.None, 1, 1).Write(request);
        await stream.WriteAsync(request).InTimeAsync();
        socket.Client.Shutdown(System.Net.Sockets.SocketShutdown.Send);
        byte[] buffer = new byte[1024 * 1024];
        long total = 0;

        // Takes longer than the drain period in all: 12 reads at least, while more is left than the kernel holds.
        while (true)
        {
            int count = await stream.ReadAsync(buffer).InTimeAsync();
            if (count == 0)
            {
                break;
            }

            total += count;
            if (total < 12 * 1024 * 1024)
            {
                time.Advance(TimeSpan.FromMilliseconds(200));
            }
        }

        Assert.Equal(request.Length, total);
    }
}
