using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Sessions.Lifecycle;

/// <summary>
/// A process that did not run for a while (a signal, a machine's migration, a throttled container) does not hold that against its peers.
/// </summary>
public sealed class SuspensionTests
{
    private const ushort Hold = 0x2001;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(5);

    private readonly FakeTimeProvider _time = new();

    [Theory]
    [InlineData(CloseKind.HandshakeTimeout)]
    [InlineData(CloseKind.MessageTimeout)]
    [InlineData(CloseKind.IdleTimeout)]
    [InlineData(CloseKind.HeartbeatTimeout)]
    public async Task Time_in_which_the_process_did_not_run_is_nobodys_silence(CloseKind kind)
    {
        await using TestServer server = await StartAsync(kind);
        using RawPeer peer = await server.ConnectAsync();
        Session session = await BeginAsync(server, peer, kind);

        for (int i = 0; i < 3; i++)
        {
            _time.Advance(TimeSpan.FromSeconds(1));
            _time.Leap(TimeSpan.FromHours(1));
            _time.Advance(TimeSpan.FromMilliseconds(100));
            Assert.False(session.Connection.IsClosing, $"Closed after leap {i}.");
        }

        _time.Advance(TimeSpan.FromSeconds(3));
        while (await peer.ReadAsync() is not null)
        {
        }

        peer.Dispose();
        Assert.Equal(kind, (await server.CloseReasonAsync()).Kind);
    }

    [Fact]
    public async Task A_request_has_its_whole_time_while_the_process_runs()
    {
        await using TestServer server = await StartAsync(CloseKind.IdleTimeout);
        using RawPeer peer = await server.ConnectKnownAsync();
        Session session = await server.SessionAsync();
        Task request = session.RequestAsync(
            0x2002, default(EmptyBody), static (scoped in InboundReply _) => true, TimeSpan.FromSeconds(3), CancellationToken.None);
        await peer.ReadFrameAsync();

        _time.Advance(TimeSpan.FromSeconds(1));
        _time.Leap(TimeSpan.FromHours(1));
        _time.Advance(TimeSpan.FromSeconds(1));

        Assert.False(request.IsCompleted);
        _time.Advance(TimeSpan.FromSeconds(2));
        await Assert.ThrowsAsync<RequestFailedException>(() => request.InTimeAsync());
    }

    // The loop finds the clock's tick before the bytes that have come while a handler held it up.
    [LinuxTheory]
    [InlineData(CloseKind.HandshakeTimeout)]
    [InlineData(CloseKind.MessageTimeout)]
    [InlineData(CloseKind.IdleTimeout)]
    [InlineData(CloseKind.HeartbeatTimeout)]
    public async Task Bytes_that_this_side_has_not_read_yet_are_no_silence(CloseKind kind)
    {
        var entered = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        using var leave = new ManualResetEventSlim();
        await using TestServer server = await StartAsync(kind, handlers => handlers.MapInline(Hold, (ref InlineRequest _) =>
        {
            entered.SetResult();
            leave.Wait();
        }));
        using RawPeer other = await server.ConnectAsync();
        await other.SayHelloAsync("other");
        using RawPeer peer = await server.ConnectAsync();
        Session session = await BeginAsync(server, peer, kind, 1);
        _time.Advance(Limit - TimeSpan.FromSeconds(0.5));
        await other.SendAsync(Wire.Request(Hold, 1));
        await entered.Task.InTimeAsync();

        await peer.SendAsync(kind switch
        {
            CloseKind.HandshakeTimeout => Wire.HelloRequest(7, "peer"),
            CloseKind.MessageTimeout => Wire.PingRequest(7)[1..],
            _ => Wire.PingRequest(7),
        });
        _time.Fired = null;
        _time.Advance(TimeSpan.FromSeconds(1));
        leave.Set();

        WireFrame reply = await peer.ReadFrameAsync();
        Assert.Equal((Wire.Reply, 7u), (reply.Flags, reply.Correlation));
        Assert.False(session.Connection.IsClosing);
    }

    [LinuxTheory]
    [InlineData(TransportKind.Epoll)]
    [InlineData(TransportKind.Sockets)]
    public async Task A_stopped_process_closes_no_session_whose_answer_lies_in_its_socket(TransportKind transport)
    {
        var heartbeat = TimeSpan.FromSeconds(3);
        await using TestHostProcess host = await TestHostProcess.ServeWithHeartbeatsAsync(transport, heartbeat);
        Endpoint endpoint = Endpoint.Parse($"tcp://127.0.0.1:{host.Port}");
        RawPeer[] peers = await Task.WhenAll(Enumerable.Range(0, 60).Select(_ => RawPeer.ConnectAsync(endpoint)));
        await Task.WhenAll(peers.Select(static peer => peer.SayHelloAsync()));
        WireFrame[] pings = await Task.WhenAll(peers.Select(static peer => peer.ReadFrameAsync()));
        Assert.All(pings, static ping => Assert.Equal(Wire.Ping, ping.Type));

        await host.SignalAsync("STOP");
        await Task.WhenAll(peers.Zip(pings, static (peer, ping) =>
            peer.SendAsync(Wire.Frame(Wire.Ping, Wire.Reply, ping.Correlation, []))));

        // How long the process is stopped is what the test is about.
        await Task.Delay(heartbeat + TimeSpan.FromSeconds(1));
        await host.SignalAsync("CONT");

        await Task.WhenAll(peers.Select(static async peer =>
        {
            await peer.SendAsync(Wire.PingRequest(7));
            WireFrame frame;
            do
            {
                frame = await peer.ReadFrameAsync();
            }
            while (frame is { Type: Wire.Ping, Flags: 0 });
            Assert.Equal((Wire.Reply, 7u), (frame.Flags, frame.Correlation));
            peer.Dispose();
        }));
    }

    private Task<TestServer> StartAsync(CloseKind kind, Action<MessageHandlers>? handlers = null) => TestServer.StartAsync(
        handlers,
        options =>
        {
            SessionOptions session = options.Session;
            options.RequireRoutingId = kind == CloseKind.HandshakeTimeout;
            (options.Transport, options.Loops) = OperatingSystem.IsLinux() ? (TransportKind.Epoll, 1) : (TransportKind.Sockets, 0);
            session.HandshakeTimeout = kind == CloseKind.HandshakeTimeout ? Limit : TimeSpan.Zero;
            session.FrameTimeout = kind == CloseKind.MessageTimeout ? Limit : TimeSpan.Zero;
            session.IdleTimeout = kind == CloseKind.IdleTimeout ? Limit : TimeSpan.Zero;
            session.HeartbeatInterval = kind == CloseKind.HeartbeatTimeout ? Limit : TimeSpan.Zero;
        },
        components => components.Time = _time);

    // The time for what the deadline is about has begun.
    private async Task<Session> BeginAsync(TestServer server, RawPeer peer, CloseKind kind, int index = 0)
    {
        Session session = await server.SessionAsync(index);
        if (kind != CloseKind.HandshakeTimeout)
        {
            await peer.SayHelloAsync("peer");
            await Patience.UntilAsync(() => session.Connection.PendingBytes == 0, "everything was sent");
        }

        _time.Advance(TimeSpan.FromMilliseconds(100));
        if (kind == CloseKind.MessageTimeout)
        {
            await peer.SendAsync(Wire.PingRequest(6), Wire.PingRequest(7)[..1]);
            Assert.Equal(6u, (await peer.ReadFrameAsync()).Correlation);
            await Patience.UntilAsync(() => session.Connection.PendingBytes == 0, "everything was sent");
        }
        else if (kind == CloseKind.HeartbeatTimeout)
        {
            _time.Advance(Limit);
            Assert.Equal(Wire.Ping, (await peer.ReadFrameAsync()).Type);
            await Patience.UntilAsync(() => session.Connection.PendingBytes == 0, "everything was sent");
        }

        return session;
    }
}
