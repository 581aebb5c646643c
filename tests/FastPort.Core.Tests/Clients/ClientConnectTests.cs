using System.Net;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Clients;

public sealed class ClientConnectTests
{
    [Fact]
    public async Task Gives_up_on_a_listener_that_never_answers_and_says_so()
    {
        using var server = new ScriptedServer();
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint }, clock: clock);
        time.Fired = () => LoopWork.Settle(client.Session is { } session ? [session] : []);

        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.AcceptAsync();
        ScriptedFrame hello = await peer.ReadAsync();
        Assert.Equal(ControlType.Hello, hello.Header.Type);
        time.Advance(TimeSpan.FromSeconds(4.9));
        Assert.False(connecting.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(0.2));

        TimeoutException e = await Assert.ThrowsAsync<TimeoutException>(() => connecting.InTimeAsync());
        Assert.Contains(server.Endpoint, e.Message, StringComparison.Ordinal);
        Assert.Contains("5 s", e.Message, StringComparison.Ordinal);
        Assert.Null(await peer.TryReadAsync());
    }

    [Fact]
    public async Task Names_the_endpoint_when_nothing_listens()
    {
        string endpoint;
        using (var server = new ScriptedServer())
        {
            endpoint = server.Endpoint;
        }

        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = endpoint });

        EndpointException e = await Assert.ThrowsAsync<EndpointException>(() => client.ConnectAsync().InTimeAsync());
        Assert.Contains(endpoint, e.Message, StringComparison.Ordinal);
        Assert.Contains("nothing listens", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_refused_token_is_an_error_with_its_code_and_the_servers_sentence()
    {
        await using CountingServer server = await CountingServer.StartAsync(components: new FastPortServerComponents
        {
            Authenticator = static (hello, _) => new ValueTask<AuthenticationResult>(
                hello.Token == "good" ? AuthenticationResult.Accept() : AuthenticationResult.Refuse("No such token.")),
        });
        await using (var refused = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint, Token = "bad" }))
        {
            RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => refused.ConnectAsync().InTimeAsync());
            Assert.Equal(ErrorCode.Unauthenticated, e.Code);
            Assert.Contains("No such token.", e.Message, StringComparison.Ordinal);
            Assert.Null(refused.Session);
        }

        await using var accepted = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = server.Endpoint,
            Token = "good",
            RoutingId = "plc-7",
        });
        await accepted.ConnectAsync().InTimeAsync();
        Assert.NotNull(server.Server.Routing.Find("plc-7"));
        Assert.Equal(CountingServer.Body(1), await accepted.RequestAsync(CountingServer.InlineEcho, CountingServer.Body(1)).InTimeAsync());
    }

    [Fact]
    public async Task A_malformed_Welcome_is_an_error()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.AcceptAsync();
        await peer.ReplyAsync(await peer.ReadAsync(), 0x0A, 0xFF);

        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => connecting.InTimeAsync());
        Assert.Equal(ErrorCode.MalformedBody, e.Code);
        Assert.Null(await peer.TryReadAsync());
    }

    [Fact]
    public async Task A_server_that_closes_instead_of_a_Welcome_is_an_error()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using (ScriptedPeer peer = await server.AcceptAsync())
        {
            await peer.ReadAsync();
        }

        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(() => connecting.InTimeAsync());
        Assert.Equal(RequestFailure.ConnectionLost, e.Failure);
    }

    [Fact]
    public async Task A_Hello_above_the_frame_limit_is_named_as_such()
    {
        using var server = new ScriptedServer();
        var options = new FastPortClientOptions { Endpoint = server.Endpoint, Token = new string('t', 2000) };
        options.Session.MaxFrameBytes = 1024;
        await using var client = new FastPortClient(options);

        FastPortOptionsException e = await Assert.ThrowsAsync<FastPortOptionsException>(() => client.ConnectAsync().InTimeAsync());
        Assert.Contains("Hello", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Connects_once()
    {
        await using CountingServer server = await CountingServer.StartAsync();
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        await client.ConnectAsync().InTimeAsync();

        await Assert.ThrowsAsync<InvalidOperationException>(() => client.ConnectAsync().InTimeAsync());
        await client.CloseAsync().InTimeAsync();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => client.ConnectAsync().InTimeAsync());
    }

    [Fact]
    public async Task Closing_while_it_connects_ends_the_attempt()
    {
        using var server = new ScriptedServer();
        var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.AcceptAsync();
        await peer.ReadAsync();

        await client.CloseAsync().InTimeAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connecting.InTimeAsync());
        Assert.Null(await peer.TryReadAsync());
    }

    [Fact]
    public async Task A_Welcome_that_crosses_the_close_leaves_no_session_behind()
    {
        using var server = new ScriptedServer();
        for (int round = 0; round < 100; round++)
        {
            int connected = 0, disconnected = 0;
            var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
            client.Connected += _ => Interlocked.Increment(ref connected);
            client.Disconnected += (_, _) => Interlocked.Increment(ref disconnected);
            Task connecting = client.ConnectAsync();
            using ScriptedPeer peer = await server.AcceptAsync();
            ScriptedFrame hello = await peer.ReadAsync();
            Task welcoming = Task.Run(() => peer.TryWelcomeAsync(hello));
            Task closing = Task.Run(() => client.CloseAsync());

            await welcoming.InTimeAsync();
            await peer.ReadToEndAsync().InTimeAsync();
            peer.Dispose();
            await closing.InTimeAsync();
            try
            {
                await connecting.InTimeAsync();
            }
            catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException or RequestFailedException)
            {
                // The close was faster.
            }

            Assert.Null(client.Session);
            Assert.Equal(connected, disconnected);
        }
    }

    [Fact]
    public async Task A_cancelled_first_attempt_ends_as_cancelled()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        using var cancel = new CancellationTokenSource();
        Task connecting = client.ConnectAsync(cancel.Token);
        using ScriptedPeer peer = await server.AcceptAsync();
        await peer.ReadAsync();

        await cancel.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connecting.InTimeAsync());
        Assert.Null(await peer.TryReadAsync());
    }

    [Fact]
    public async Task Connects_over_IPv6_and_by_name()
    {
        await using CountingServer server = await CountingServer.StartAsync();
        await using (var byName = new FastPortClient(new FastPortClientOptions { Endpoint = $"tcp://localhost:{server.Port}" }))
        {
            await byName.ConnectAsync().InTimeAsync();
        }

        if (Socket.OSSupportsIPv6 && CanBind(IPAddress.IPv6Loopback))
        {
            await using CountingServer six = await CountingServer.StartAsync(configure: static o =>
            {
                o.Endpoints.Clear();
                o.Endpoints.Add("tcp://[::1]:0");
            });
            await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = six.Endpoint });
            await client.ConnectAsync().InTimeAsync();
        }
    }

    [Fact]
    public void Wrong_options_are_refused_with_key_value_and_range()
    {
        var options = new FastPortClientOptions
        {
            Endpoint = "nonsense",
            ConnectTimeout = TimeSpan.Zero,
            MaxReconnectDelay = TimeSpan.FromMilliseconds(1),
        };
        options.Session.MaxFrameBytes = 5;

        FastPortOptionsException e = Assert.Throws<FastPortOptionsException>(() => new FastPortClient(options));

        Assert.Contains(
            e.Problems, static p => p.Contains("FastPortClient:Endpoint", StringComparison.Ordinal)
                && p.Contains("nonsense", StringComparison.Ordinal));
        Assert.Contains(e.Problems, static p => p.Contains("FastPortClient:ConnectTimeout is 00:00:00", StringComparison.Ordinal));
        Assert.Contains(e.Problems, static p => p.Contains("FastPortClient:MaxReconnectDelay", StringComparison.Ordinal));
        Assert.Contains(
            e.Problems, static p => p.Contains("FastPortClient:Session:MaxFrameBytes is 5; allowed: 1024 to", StringComparison.Ordinal));
    }

    private static bool CanBind(IPAddress address)
    {
        try
        {
            using var socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
            socket.Bind(new IPEndPoint(address, 0));
            return true;
        }
        catch (SocketException)
        {
            return false;
        }
    }
}
