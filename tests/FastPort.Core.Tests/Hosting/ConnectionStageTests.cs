using System.Net;
using System.Text;
using FastPort.Connections;
using FastPort.Core.Tests.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;

namespace FastPort.Core.Tests.Hosting;

/// <summary>What connections go through before their protocol.</summary>
public sealed class ConnectionStageTests : EchoServerTests
{
    [Fact]
    public async Task A_stage_puts_a_connection_of_its_own_before_the_protocol()
    {
        Components.Stages.Add(static (lower, _) => ValueTask.FromResult<Connection?>(
            new FilterConnection(lower, new ConstantKey(0x5A), new ConstantKey(0x5A))));
        await StartAsync();
        using RawPeer peer = await ConnectAsync();

        // Masked on its way in and out, so the same comes back, and the protocol has seen other bytes.
        await EchoAsync(peer);

        Assert.Equal(Hello.Select(static b => (byte)(b ^ 0x5A)), Assert.Single(Protocols).Received);
        Assert.IsType<FilterConnection>(Assert.Single(Server!.Connections));
    }

    [Fact]
    public async Task The_limit_per_address_follows_the_address_that_a_stage_found()
    {
        Components.Stages.Add(HeaderConnection.StageAsync);
        Options.MaxConnectionsPerAddress = 2;
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
            ["10.0.0.1", "10.0.0.1", "10.0.0.2", "2001:db8::1", "2001:db8::2"], Server!.Connections.Select(Address)
                .Order(StringComparer.Ordinal));
        peers[0].Dispose();
        await Patience.UntilAsync(() => Server.ConnectionCount == 4, "the place was free");
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
        Options.MaxConnectionsInStages = 2;
        Components.Stages.Add(async (connection, _) =>
        {
            await release.Task;
            return connection;
        });
        await StartAsync();
        using RawPeer first = await ConnectAsync();
        using RawPeer second = await ConnectAsync();
        await Patience.UntilAsync(() => Server!.ConnectionCount == 2, "both were let in");

        using RawPeer third = await ConnectAsync();

        // Which of the three is the one too many depends on the pool.
        await Patience.UntilAsync(() => Counts.ConnectionsRejectedFor(ConnectionRejection.StageLimit) == 1, "one was turned away");
        release.SetResult();
        await Patience.UntilAsync(() => Server!.Connections.Count == 2, "the others were served");
        Assert.Equal(2, Server!.ConnectionCount);
    }

    [Fact]
    public async Task One_address_has_a_quarter_of_the_stages()
    {
        using var release = new SemaphoreSlim(0);
        Options.MaxConnectionsInStages = 8;
        Options.MaxConnectionsPerAddress = 50;
        Components.Stages.Add(async (connection, cancellationToken) =>
        {
            await release.WaitAsync(cancellationToken);
            return connection;
        });
        await StartAsync();
        using RawPeer first = await ConnectAsync();
        using RawPeer second = await ConnectAsync();
        await Patience.UntilAsync(() => Server!.ConnectionsInStages == 2, "both are in their stage");

        using (RawPeer third = await ConnectAsync())
        {
            await third.ExpectGoneAsync();
        }

        Assert.Equal(1, Counts.ConnectionsRejectedFor(ConnectionRejection.StageLimit));
        await Patience.UntilAsync(() => Log.WithId(3001).Count != 0, "the rejection was logged");
        Assert.Contains("MaxConnectionsInStages is 8, 2 for one address", Log.WithId(3001)[0].Text, StringComparison.Ordinal);
        release.Release(3);
        await Patience.UntilAsync(() => Server!.Connections.Count == 2, "their stages have ended");
        using RawPeer next = await ConnectAsync();
        await EchoAsync(next);
    }

    [Fact]
    public async Task The_stages_of_one_address_are_those_of_the_address_that_a_stage_found()
    {
        using var release = new SemaphoreSlim(0);
        Options.MaxConnectionsInStages = 8;
        Components.Stages.Add(HeaderConnection.StageAsync);
        Components.Stages.Add(async (connection, cancellationToken) =>
        {
            await release.WaitAsync(cancellationToken);
            return connection;
        });
        await StartAsync();
        List<RawPeer> peers = [];
        foreach (string from in new[] { "10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.2" })
        {
            RawPeer peer = await ConnectAsync();
            peers.Add(peer);
            await peer.SendAsync(Encoding.ASCII.GetBytes($"from {from}\nhello"));
        }

        await Patience.UntilAsync(() => Counts.ConnectionsRejectedFor(ConnectionRejection.StageLimit) == 1, "one was turned away");
        release.Release(3);

        Assert.Equal(Hello, await peers[3].ReadBytesAsync(Hello.Length));
        await Patience.UntilAsync(() => Server!.Connections.Count == 3, "the others are served");
        await Patience.UntilAsync(() => Server!.ConnectionsInStages == 0, "all stages were over");
        peers.ForEach(static p => p.Dispose());
    }

    [Fact]
    public async Task Stages_are_bounded_in_time_whether_they_look_at_their_token_or_not()
    {
        var time = new FakeTimeProvider();
        int begun = 0;
        Components.Time = time;
        Options.StageTimeout = TimeSpan.FromSeconds(3);
        Components.Stages.Add(async (_, cancellationToken) =>
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
        Components.Time = time;
        Options.MaxConnectionsInStages = 1;
        Components.Stages.Add(async (connection, _) =>
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
        time.Advance(Options.StageTimeout);
        await first.ExpectGoneAsync();

        using (RawPeer second = await ConnectAsync())
        {
            await second.ExpectGoneAsync();
        }

        Assert.Equal(1, Counts.ConnectionsRejectedFor(ConnectionRejection.StageLimit));
        release.SetResult();
        await Patience.UntilAsync(() => Server!.ConnectionsInStages == 0, "the stage has ended");
        using RawPeer third = await ConnectAsync();
        await EchoAsync(third);
    }

    [Fact]
    public async Task A_stage_may_refuse_or_fail()
    {
        int runs = 0;
        Components.Stages.Add((connection, _) => Interlocked.Increment(ref runs) switch
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
        Assert.IsType<InvalidDataException>(Assert.Single(Log.WithId(3008)).Exception);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_stage_whose_callback_on_its_token_throws_holds_up_neither_a_stop_nor_its_deadline(bool stops)
    {
        var time = new FakeTimeProvider();
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Components.Time = time;
        Components.Stages.Add(async (_, cancellationToken) =>
        {
            cancellationToken.Register(static () => throw new InvalidOperationException("a stage's own"));
            begun.SetResult();
            await Task.Delay(Timeout.Infinite, CancellationToken.None);
            return null;
        });
        await StartAsync();
        using RawPeer peer = await ConnectAsync();
        await begun.Task.InTimeAsync();

        if (stops)
        {
            await Server!.StopAsync().InTimeAsync();
        }
        else
        {
            time.Advance(Options.StageTimeout);
        }

        await peer.ExpectGoneAsync();
        Assert.Equal(
            1, Counts.ConnectionsRejectedFor(stops ? ConnectionRejection.ShuttingDown : ConnectionRejection.StageTimeout));
    }

    [Fact]
    public async Task A_stop_ends_stages()
    {
        var begun = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Options.StageTimeout = TimeSpan.Zero;
        Options.ShutdownTimeout = TimeSpan.FromHours(1);
        Components.Stages.Add(async (_, _) =>
        {
            begun.SetResult();
            await Task.Delay(Timeout.Infinite, CancellationToken.None);
            return null;
        });
        await StartAsync();
        using RawPeer peer = await ConnectAsync();
        await begun.Task.InTimeAsync();

        await Server!.StopAsync().InTimeAsync();

        await peer.ExpectGoneAsync();
        Assert.Equal(1, Counts.ConnectionsRejectedFor(ConnectionRejection.ShuttingDown));
    }
}
