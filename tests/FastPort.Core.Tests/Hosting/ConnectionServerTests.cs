using System.Collections.Concurrent;
using System.Net;
using System.Net.Sockets;
using System.Text;
using FastPort.Buffers;
using FastPort.Configuration;
using FastPort.Connections;
using FastPort.Core.Tests.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Hosting;
using FastPort.Telemetry.Counters;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

/// <summary>A server of a protocol that has nothing to do with frames: what it is sent comes back.</summary>
public sealed class ConnectionServerTests : IAsyncDisposable
{
    private static readonly byte[] Hello = "hello"u8.ToArray();
    private readonly RecordingLog _log = new();
    private readonly ConcurrentQueue<EchoProtocol> _protocols = new();
    private readonly ConnectionServerOptions _options = new() { Endpoints = ["tcp://127.0.0.1:0"], MaxConnections = 100 };
    private readonly ConnectionServerComponents _components = new();
    private Func<Connection, IConnectionProtocol>? _make;
    private ConnectionServer? _server;

    private ServerCountersSnapshot Counts => _server!.Counters.Snapshot();

    public async ValueTask DisposeAsync()
    {
        if (_server is not null)
        {
            await _server.StopAsync(new CancellationToken(canceled: true)).InTimeAsync();
            Assert.Equal(0, _server.ConnectionCount);
            Assert.Equal(0, Counts.ConnectionsOpen);
            Assert.All(_protocols, static p => Assert.True(p.Closed.Task.IsCompleted));
        }
    }

    [Fact]
    public async Task A_protocol_is_served_and_its_connections_are_counted()
    {
        await StartAsync();
        using RawPeer first = await ConnectAsync();
        using (RawPeer second = await ConnectAsync())
        {
            await EchoAsync(first);
            await EchoAsync(second);
            Assert.Equal((2, 2L, 2), (_server!.ConnectionCount, Counts.ConnectionsOpen, _server.Connections.Count));
        }

        await Patience.UntilAsync(() => _server.Connections.Count == 1, "the second connection was forgotten");
        await EchoAsync(first);
        Assert.Equal((1, 2L, 1L), (_server.ConnectionCount, Counts.ConnectionsAccepted, Counts.ConnectionsClosed));
    }

    [Fact]
    public async Task Limits_close_the_connections_above_them()
    {
        _options.MaxConnectionsPerAddress = 1;
        await StartAsync();
        using (RawPeer first = await ConnectAsync())
        {
            await EchoAsync(first);
            using RawPeer extra = await ConnectAsync();
            await extra.ExpectGoneAsync();
        }

        await Patience.UntilAsync(() => _server!.ConnectionCount == 0, "the place was free");
        using RawPeer next = await ConnectAsync();
        await EchoAsync(next);
        Assert.Equal(1, Counts.ConnectionsRejectedFor(ConnectionRejection.AddressLimit));
        await Patience.UntilAsync(() => _log.WithId(3001).Count != 0, "the rejection was logged");
        Assert.Contains("ConnectionServer:MaxConnectionsPerAddress is 1", Assert.Single(_log.WithId(3001)).Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_stage_puts_a_connection_of_its_own_before_the_protocol()
    {
        _components.Stages.Add(static (lower, _) => ValueTask.FromResult<Connection?>(
            new FilterConnection(lower, new ConstantKey(0x5A), new ConstantKey(0x5A))));
        await StartAsync();
        using RawPeer peer = await ConnectAsync();

        // Masked on its way in and out, so the same comes back, and the protocol has seen other bytes.
        await EchoAsync(peer);

        Assert.Equal(Hello.Select(static b => (byte)(b ^ 0x5A)), Assert.Single(_protocols).Received);
        Assert.IsType<FilterConnection>(Assert.Single(_server!.Connections));
    }

    [Fact]
    public async Task The_limit_per_address_follows_the_address_that_a_stage_found()
    {
        _components.Stages.Add(HeaderConnection.StageAsync);
        _options.MaxConnectionsPerAddress = 2;
        await StartAsync();
        List<RawPeer> peers = [];
        foreach (string from in new[] { "10.0.0.1", "10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8::2" })
        {
            RawPeer peer = await ConnectAsync();
            peers.Add(peer);
            await peer.SendAsync(Encoding.ASCII.GetBytes($"from {from}\nhe"), "llo"u8.ToArray());
            Assert.Equal(Hello, await peer.ReadBytesAsync(Hello.Length));
        }

        foreach (string from in new[] { "10.0.0.1", "2001:db8::3" })
        {
            using RawPeer extra = await ConnectAsync();
            await extra.SendAsync(Encoding.ASCII.GetBytes($"from {from}\n"));
            await extra.ExpectGoneAsync();
        }

        Assert.Equal(2, Counts.ConnectionsRejectedFor(ConnectionRejection.AddressLimit));
        Assert.Equal(
            ["10.0.0.1", "10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8::2"], _server!.Connections.Select(Address)
                .Order(StringComparer.Ordinal));
        peers[0].Dispose();
        await Patience.UntilAsync(() => _server.ConnectionCount == 4, "the place was free");
        using RawPeer next = await ConnectAsync();
        await next.SendAsync("from 10.0.0.1\nhello"u8.ToArray());
        Assert.Equal(Hello, await next.ReadBytesAsync(Hello.Length));
        peers.ForEach(static p => p.Dispose());

        static string Address(Connection connection) => ((IPEndPoint)connection.RemoteEndPoint!).Address.ToString();
    }

    [Fact]
    public async Task A_frame_session_has_the_address_that_a_stage_found()
    {
        await using TestServer server = await TestServer.StartAsync(components: static h => h.Stages.Add(HeaderConnection.StageAsync));
        using RawPeer peer = await server.ConnectAsync();

        await peer.SendAsync("from 10.1.2.3\n"u8.ToArray(), Wire.Request(TestServer.Echo, 1, Hello));

        Assert.Equal(Wire.Frame(TestServer.Echo, Wire.Reply, 1, Hello), await peer.ReadBytesAsync(Hello.Length + 12));
        Assert.Equal("10.1.2.3:1", (await server.SessionAsync()).RemoteEndPoint!.ToString());
    }

    [Fact]
    public async Task Stages_are_bounded_in_number()
    {
        var release = new TaskCompletionSource();
        _options.MaxConnectionsInStages = 2;
        _components.Stages.Add(async (connection, _) =>
        {
            await release.Task;
            return connection;
        });
        await StartAsync();
        using RawPeer first = await ConnectAsync();
        using RawPeer second = await ConnectAsync();
        await Patience.UntilAsync(() => _server!.ConnectionCount == 2, "both were let in");

        using RawPeer third = await ConnectAsync();

        // Which of the three is the one too many depends on the pool.
        await Patience.UntilAsync(() => Counts.ConnectionsRejectedFor(ConnectionRejection.StageLimit) == 1, "one was turned away");
        release.SetResult();
        await Patience.UntilAsync(() => _server!.Connections.Count == 2, "the others were served");
        Assert.Equal(2, _server!.ConnectionCount);
    }

    [Fact]
    public async Task Stages_are_bounded_in_time_whether_they_look_at_their_token_or_not()
    {
        var time = new FakeTimeProvider();
        int begun = 0;
        _components.Time = time;
        _options.StageTimeout = TimeSpan.FromSeconds(3);
        _components.Stages.Add(async (_, cancellationToken) =>
        {
            bool looks = Interlocked.Increment(ref begun) == 1;
            await Task.Delay(Timeout.Infinite, looks ? cancellationToken : CancellationToken.None);
            return null;
        });
        await StartAsync();
        using RawPeer first = await ConnectAsync();
        using RawPeer second = await ConnectAsync();
        await Patience.UntilAsync(() => Volatile.Read(ref begun) == 2, "both stages ran");

        time.Advance(TimeSpan.FromSeconds(3));

        await first.ExpectGoneAsync();
        await second.ExpectGoneAsync();
        Assert.Equal(2, Counts.ConnectionsRejectedFor(ConnectionRejection.StageTimeout));
    }

    [Fact]
    public async Task A_stage_that_does_not_look_at_its_token_counts_until_it_ends()
    {
        var time = new FakeTimeProvider();
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var release = new TaskCompletionSource();
        int runs = 0;
        _hooks.Time = time;
        _options.MaxConnectionsInStages = 1;
        _hooks.Stages.Add(async (connection, _) =>
        {
            if (Interlocked.Increment(ref runs) == 1)
            {
                begun.SetResult();
                await release.Task;
                throw new InvalidDataException("too late");
            }

            return connection;
        });
        await StartAsync();
        using RawPeer first = await ConnectAsync();
        await begun.Task.InTimeAsync();
        time.Advance(_options.StageTimeout);
        await first.ExpectGoneAsync();

        using (RawPeer second = await ConnectAsync())
        {
            await second.ExpectGoneAsync();
        }

        Assert.Equal(1, Counts.ConnectionsRejectedFor(ConnectionRejection.StageLimit));
        release.SetResult();
        using RawPeer third = await ConnectAsync();
        await EchoAsync(third);
    }

    [Fact]
    public async Task A_stage_may_refuse_or_fail()
    {
        int runs = 0;
        _components.Stages.Add((connection, _) => Interlocked.Increment(ref runs) switch
        {
            1 => ValueTask.FromResult<Connection?>(null),
            2 => throw new InvalidDataException("a stage's own"),
            _ => ValueTask.FromResult<Connection?>(connection),
        });
        await StartAsync();
        for (int i = 0; i < 2; i++)
        {
            using RawPeer peer = await ConnectAsync();
            await peer.ExpectGoneAsync();
        }

        using RawPeer third = await ConnectAsync();
        await EchoAsync(third);

        Assert.Equal(
            (1, 1, 1),
            (Counts.ConnectionsRejectedFor(ConnectionRejection.Refused), Counts.ConnectionsRejectedFor(
                ConnectionRejection.StageFailed), Counts.ConnectionsAccepted));
        Assert.IsType<InvalidDataException>(Assert.Single(_log.WithId(3008)).Exception);
    }

    [Fact]
    public async Task A_stop_ends_stages()
    {
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _options.StageTimeout = TimeSpan.Zero;
        _options.ShutdownTimeout = TimeSpan.FromHours(1);
        _components.Stages.Add(async (_, _) =>
        {
            begun.SetResult();
            await Task.Delay(Timeout.Infinite, CancellationToken.None);
            return null;
        });
        await StartAsync();
        using RawPeer peer = await ConnectAsync();
        await begun.Task.InTimeAsync();

        await _server!.StopAsync().InTimeAsync();

        await peer.ExpectGoneAsync();
        Assert.Equal(1, Counts.ConnectionsRejectedFor(ConnectionRejection.ShuttingDown));
    }

    [Fact]
    public async Task Making_a_protocol_holds_up_neither_accepting_nor_others()
    {
        using var release = new ManualResetEventSlim();
        int made = 0;
        _make = _ =>
        {
            if (Interlocked.Increment(ref made) == 1)
            {
                release.Wait(Patience.Limit);
            }

            return new EchoProtocol();
        };
        await StartAsync();
        using RawPeer held = await ConnectAsync();
        await Patience.UntilAsync(() => Volatile.Read(ref made) == 1, "the first is being made");

        using RawPeer other = await ConnectAsync();
        await EchoAsync(other);

        Assert.Single(_server!.Connections);
        release.Set();
        await EchoAsync(held);
    }

    [Fact]
    public async Task A_protocol_that_cannot_be_made_costs_its_own_connection()
    {
        int made = 0;
        _make = _ => Interlocked.Increment(ref made) == 1 ? throw new InvalidDataException("no") : new EchoProtocol();
        await StartAsync();
        using RawPeer first = await ConnectAsync();
        await first.ExpectGoneAsync();

        using RawPeer second = await ConnectAsync();
        await EchoAsync(second);

        Assert.IsType<InvalidDataException>(Assert.Single(_log.WithId(3007)).Exception);
        Assert.Equal((2L, 1L), (Counts.ConnectionsAccepted, Counts.ConnectionsClosed));
    }

    [Fact]
    public async Task A_stop_closes_connections_in_order()
    {
        await StartAsync();
        using RawPeer peer = await ConnectAsync();
        await EchoAsync(peer);

        await _server!.StopAsync().InTimeAsync();

        await peer.ExpectEndAsync();
        Assert.Equal(CloseKind.Stopping, (await Assert.Single(_protocols).Closed.Task).Kind);
        await Assert.ThrowsAnyAsync<SocketException>(ConnectAsync);
    }

    [Fact]
    public async Task A_stop_lets_a_protocol_say_goodbye_and_finish()
    {
        _options.ShutdownTimeout = TimeSpan.FromHours(1);
        await StartAsync();
        using RawPeer peer = await ConnectAsync();
        await EchoAsync(peer);
        EchoProtocol protocol = Assert.Single(_protocols);
        protocol.Goodbye = "bye"u8.ToArray();

        Task stop = _server!.StopAsync();
        Assert.Equal("bye"u8.ToArray(), await peer.ReadBytesAsync(3));
        await EchoAsync(peer);
        Assert.False(stop.IsCompleted);
        peer.Dispose();

        await stop.InTimeAsync();
    }

    [Fact]
    public async Task A_stop_aborts_who_does_not_finish_in_time()
    {
        var time = new FakeTimeProvider();
        _components.Time = time;
        await StartAsync();
        using RawPeer peer = await ConnectAsync();
        await EchoAsync(peer);
        Assert.Single(_protocols).Goodbye = "bye"u8.ToArray();
        Task stop = _server!.StopAsync();
        Assert.Equal("bye"u8.ToArray(), await peer.ReadBytesAsync(3));

        // The stop gives up by this clock what it has not got to yet, and goes on with it all the same: time must not stand still then.
        Task gone = peer.ExpectGoneAsync();
        while (!stop.IsCompleted || !gone.IsCompleted)
        {
            time.Advance(_options.ShutdownTimeout);
            await Task.Yield();
        }

        await gone;
        Assert.Single(_log.WithId(3004));

        // The stop's last bound may have passed, by this clock, before the aborted connection has come to its end.
        await Assert.Single(_protocols).Closed.Task.InTimeAsync();
        await Patience.UntilAsync(() => _server.ConnectionCount == 0, "the connection is counted no more");
    }

    [Fact]
    public async Task A_server_starts_once_and_not_after_its_stop()
    {
        await StartAsync();
        await Assert.ThrowsAsync<InvalidOperationException>(() => _server!.StartAsync());
        await using var stopped = new ConnectionServer(_options, static _ => new EchoProtocol());

        await stopped.StopAsync();

        await Assert.ThrowsAsync<InvalidOperationException>(() => stopped.StartAsync());
        using RawPeer peer = await ConnectAsync();
        await EchoAsync(peer);
    }

    [Fact]
    public void Options_that_are_wrong_are_named_together()
    {
        var options = new ConnectionServerOptions { MaxReceiveBytes = 1, StageTimeout = TimeSpan.FromDays(2) };

        var failure = Assert.Throws<FastPortOptionsException>(() => new ConnectionServer(options, static _ => new EchoProtocol()));

        Assert.Equal(
            [
                "ConnectionServer:StageTimeout is 2.00:00:00; allowed are 00:00:00 (off) to 1.00:00:00.",
                "ConnectionServer:Endpoints is empty; give a list of URIs: tcp://host:port, unix:///path or inproc://name.",
                "ConnectionServer:MaxReceiveBytes is 1; allowed are 4096 to 1073741824.",
            ],
            failure.Problems);
    }

    private static async Task EchoAsync(RawPeer peer)
    {
        await peer.SendAsync(Hello);
        Assert.Equal(Hello, await peer.ReadBytesAsync(Hello.Length));
    }

    private Task<RawPeer> ConnectAsync() => RawPeer.ConnectAsync(_server!.Endpoints[0]);

    private async Task StartAsync()
    {
        _server = new ConnectionServer(_options, _make ?? Make, _components, _log);
        await _server.StartAsync();

        IConnectionProtocol Make(Connection connection)
        {
            var protocol = new EchoProtocol();
            _protocols.Enqueue(protocol);
            return protocol;
        }
    }

    private sealed class EchoProtocol : IConnectionProtocol
    {
        private Connection _connection = null!;

        public TaskCompletionSource<CloseReason> Closed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public List<byte> Received { get; } = [];

        /// <summary>What is said at a stop, after which the protocol goes on until its peer leaves. Null to be closed at once.</summary>
        public byte[]? Goodbye { get; set; }

        public void OnOpened(Connection connection) => _connection = connection;

        public ReceiveOutcome OnReceived(ArrayPoolCircularBuffer input)
        {
            byte[] bytes = new byte[input.Length];
            input.CopyTo(0, bytes);
            input.Consume(bytes.Length);
            Received.AddRange(bytes);
            Write(bytes);
            return ReceiveOutcome.Continue;
        }

        public void OnInputEnded(bool truncated) => _connection.Close(CloseReason.PeerClosed);

        public void OnOutputDrained()
        {
        }

        public long OnTick(long nowMilliseconds) => ConnectionClock.Never;

        public bool OnStopping(CloseReason reason)
        {
            if (Goodbye is not { } goodbye)
            {
                return false;
            }

            Write(goodbye);
            _connection.Flush();
            return true;
        }

        public void OnClosed(CloseReason reason) => Closed.SetResult(reason);

        private void Write(byte[] bytes)
        {
            if (_connection.BeginWrite() is { } output)
            {
                output.Write(bytes);
                _connection.EndWrite();
            }
        }
    }
}
