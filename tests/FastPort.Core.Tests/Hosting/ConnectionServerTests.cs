using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

/// <summary>A server of a protocol that has nothing to do with frames: what it is sent comes back.</summary>
public sealed class ConnectionServerTests : EchoServerTests
{
    [Fact]
    public async Task A_protocol_is_served_and_its_connections_are_counted()
    {
        await StartAsync();
        using RawPeer first = await ConnectAsync();
        using (RawPeer second = await ConnectAsync())
        {
            await EchoAsync(first);
            await EchoAsync(second);
            Assert.Equal((2, 2L, 2), (Server!.ConnectionCount, Counts.ConnectionsOpen, Server.Connections.Count));
        }

        await Patience.UntilAsync(() => Server.Connections.Count == 1, "the second connection was forgotten");
        await EchoAsync(first);
        Assert.Equal((1, 2L, 1L), (Server.ConnectionCount, Counts.ConnectionsAccepted, Counts.ConnectionsClosed));
    }

    [Fact]
    public async Task A_windows_thread_can_wait_for_its_start_and_its_stop()
    {
        Components.Stages.Add(static async (connection, _) =>
        {
            await Task.Yield();
            return connection;
        });
        await WindowThread.RunAsync(() =>
        {
            StartAsync().GetAwaiter().GetResult();
            using RawPeer peer = Task.Run(ConnectAsync).GetAwaiter().GetResult();
            Task.Run(() => EchoAsync(peer)).GetAwaiter().GetResult();
            Server!.StopAsync().GetAwaiter().GetResult();
            Server.DisposeAsync().AsTask().GetAwaiter().GetResult();
        });
    }

    [Fact]
    public void Another_protocol_has_no_endpoint_of_FastPorts()
    {
        FastPortOptionsException e = Assert.Throws<FastPortOptionsException>(
            () => new ConnectionServer(new OtherOptions(), _ => throw new NotSupportedException()));

        Assert.StartsWith("Other:Endpoints is empty; give a list of URIs: ", Assert.Single(e.Problems), StringComparison.Ordinal);
    }

    [Fact]
    public async Task Limits_close_the_connections_above_them()
    {
        Options.MaxConnectionsPerAddress = 1;
        await StartAsync();
        using (RawPeer first = await ConnectAsync())
        {
            await EchoAsync(first);
            using RawPeer extra = await ConnectAsync();
            await extra.ExpectGoneAsync();
        }

        await Patience.UntilAsync(() => Server!.ConnectionCount == 0, "the place was free");
        using RawPeer next = await ConnectAsync();
        await EchoAsync(next);
        Assert.Equal(1, Counts.ConnectionsRejectedFor(ConnectionRejection.AddressLimit));
        await Patience.UntilAsync(() => Log.WithId(3001).Count != 0, "the rejection was logged");
        Assert.Contains("ConnectionServer:MaxConnectionsPerAddress is 1", Assert.Single(Log.WithId(3001)).Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task What_takes_long_is_a_stage_and_holds_up_neither_accepting_nor_others()
    {
        using var release = new ManualResetEventSlim();
        int begun = 0;
        Components.Stages.Add((connection, _) =>
        {
            if (Interlocked.Increment(ref begun) == 1)
            {
                release.Wait(Patience.Limit, CancellationToken.None);
            }

            return ValueTask.FromResult<Connection?>(connection);
        });
        await StartAsync();
        using RawPeer held = await ConnectAsync();
        await Patience.UntilAsync(() => Volatile.Read(ref begun) == 1, "the first is in its stage");

        using RawPeer other = await ConnectAsync();
        await EchoAsync(other);

        Assert.Single(Server!.Connections);
        release.Set();
        await EchoAsync(held);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_protocol_is_made_on_its_connections_loop(bool hasStage)
    {
        if (hasStage)
        {
            Components.Stages.Add(static (connection, _) => ValueTask.FromResult<Connection?>(connection));
        }

        var onLoop = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        MakeProtocol = connection =>
        {
            onLoop.TrySetResult(connection.IsOnLoop);
            return new EchoProtocol();
        };
        await StartAsync();
        using RawPeer peer = await ConnectAsync();
        await EchoAsync(peer);

        Assert.True(await onLoop.Task.InTimeAsync());
    }

    [Fact]
    public async Task A_protocol_that_cannot_be_made_costs_its_own_connection()
    {
        int made = 0;
        MakeProtocol = _ => Interlocked.Increment(ref made) == 1 ? throw new InvalidDataException("no") : new EchoProtocol();
        await StartAsync();
        using RawPeer first = await ConnectAsync();
        await first.ExpectGoneAsync();

        using RawPeer second = await ConnectAsync();
        await EchoAsync(second);

        Assert.IsType<InvalidDataException>(Assert.Single(Log.WithId(3007)).Exception);
        Assert.Equal(2, Counts.ConnectionsAccepted);

        // Its peer sees the end a moment before it is counted.
        await Patience.UntilAsync(() => Counts.ConnectionsClosed == 1, "the first one was counted");
    }

    [Theory]
    [InlineData("tcp://0.0.0.0", "tcp://[::]")]
    [InlineData("tcp://[::]", "tcp://0.0.0.0")]
    [InlineData("tcp://*", "tcp://127.0.0.1")]
    [InlineData("tcp://127.0.0.1", "tcp://127.0.0.1")]
    public async Task A_port_that_the_server_itself_has_is_told_apart_from_one_of_another_program(string first, string second)
    {
        using var port = new HeldPort();
        Options.Endpoints = [$"{first}:{port.Number}", $"{second}:{port.Number}"];

        EndpointException e = await Assert.ThrowsAsync<EndpointException>(StartAsync);

        Assert.StartsWith(
            $"Cannot listen on {Options.Endpoints[1]}: this server's endpoint {Options.Endpoints[0]} already has the port. ",
            e.Message,
            StringComparison.Ordinal);
        Assert.Empty(Server!.Endpoints);
    }

    [Fact]
    public async Task A_stop_closes_connections_in_order()
    {
        await StartAsync();
        using RawPeer peer = await ConnectAsync();
        await EchoAsync(peer);

        await Server!.StopAsync().InTimeAsync();

        await peer.ExpectEndAsync();
        Assert.Equal(CloseKind.Stopping, (await Assert.Single(Protocols).Closed.Task).Kind);
        await Assert.ThrowsAnyAsync<SocketException>(ConnectAsync);
    }

    [Fact]
    public async Task A_stop_lets_a_protocol_say_goodbye_and_finish()
    {
        Options.ShutdownTimeout = TimeSpan.FromHours(1);
        await StartAsync();
        using RawPeer peer = await ConnectAsync();
        await EchoAsync(peer);
        EchoProtocol protocol = Assert.Single(Protocols);
        protocol.Goodbye = "bye"u8.ToArray();

        Task stop = Server!.StopAsync();
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
        Components.Time = time;
        await StartAsync();
        using RawPeer peer = await ConnectAsync();
        await EchoAsync(peer);
        Assert.Single(Protocols).Goodbye = "bye"u8.ToArray();
        Task stop = Server!.StopAsync();
        Assert.Equal("bye"u8.ToArray(), await peer.ReadBytesAsync(3));

        // The stop gives up by this clock what it has not got to yet, and goes on with it all the same: time must not stand still then.
        Task gone = peer.ExpectGoneAsync();
        while (!stop.IsCompleted || !gone.IsCompleted)
        {
            time.Advance(Options.ShutdownTimeout);
            await Task.Yield();
        }

        await gone;
        Assert.Single(Log.WithId(3004));

        // The stop's last bound may have passed, by this clock, before the aborted connection has come to its end.
        await Assert.Single(Protocols).Closed.Task.InTimeAsync();
        await Patience.UntilAsync(() => Server.ConnectionCount == 0, "the connection is counted no more");
    }

    [LinuxTheory]
    [InlineData("FastPort loop 0")]
    public async Task A_loop_that_is_blocked_keeps_the_stop_from_nobody_else(string listenersLoop)
    {
        var time = new FakeTimeProvider();
        Components.Time = time;
        Options.Transport = TransportKind.Epoll;
        Options.Loops = 2;
        Options.ShutdownTimeout = TimeSpan.FromHours(1);
        await StartAsync();
        using RawPeer other = await ConnectAsync();
        await EchoAsync(other);
        Connection otherConnection = Assert.Single(Server!.Connections);
        EchoProtocol otherProtocol = Assert.Single(Protocols);
        otherProtocol.Goodbye = "bye"u8.ToArray();

        // The loop with the fewest connections is that of the listener.
        using RawPeer peer = await ConnectAsync();
        await EchoAsync(peer);
        using var release = new ManualResetEventSlim();
        var blocked = new TaskCompletionSource<string?>();
        Server.Connections.Single(connection => connection != otherConnection).Post(
            _ =>
            {
                blocked.SetResult(Thread.CurrentThread.Name);
                release.Wait(Patience.Limit, CancellationToken.None);
            },
            null);
        Assert.Equal(listenersLoop, await blocked.Task.InTimeAsync());

        Task stop = Server.StopAsync();
        Task<byte[]> goodbye = other.ReadBytesAsync(3);
        await AdvanceUntilAsync(() => goodbye.IsCompleted, "the session of the other loop was told");
        Assert.Equal("bye"u8.ToArray(), await goodbye);
        await EchoAsync(other);
        Assert.False(stop.IsCompleted);

        // Of a call that has not begun the stop.
        using var hurry = new CancellationTokenSource();
        Task second = Server.StopAsync(hurry.Token);
        Assert.False(second.IsCompleted);
        await hurry.CancelAsync();
        await otherProtocol.Closed.Task.InTimeAsync();
        await AdvanceUntilAsync(() => stop.IsCompleted && second.IsCompleted, "the stop gave the blocked loop up");
        Assert.Single(Log.WithId(3004));

        release.Set();
        await Patience.UntilAsync(() => Server.ConnectionCount == 0, "the blocked loop has ended its connection");

        Task AdvanceUntilAsync(Func<bool> condition, string what) => Patience.UntilAsync(
            () =>
            {
                time.Advance(TimeSpan.FromSeconds(1));
                return condition();
            },
            what);
    }

    [Fact]
    public async Task A_server_starts_once_and_not_after_its_stop()
    {
        await StartAsync();
        await Assert.ThrowsAsync<InvalidOperationException>(() => Server!.StartAsync());
        await using var stopped = new ConnectionServer(Options, static _ => new EchoProtocol());

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
                "ConnectionServer:StageTimeout is 2.00:00:00; allowed: 00:00:00 (off) to 1.00:00:00.",
                "ConnectionServer:Endpoints is empty; give a list of URIs: tcp://host:port, tls://host:port, unix:///path or "
                    + "inproc://name.",
                "ConnectionServer:MaxReceiveBytes is 1; allowed: 4096 to 1073741824.",
            ],
            failure.Problems);
    }

    private sealed class OtherOptions() : ServerOptions("Other");
}
