using System.Net.Sockets;
using System.Runtime.CompilerServices;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Core.Tests.Transports.Support;
using FastPort.Transports;
using FastPort.Transports.Epoll;
using Xunit;

namespace FastPort.Core.Tests.Transports;

/// <summary>Listening, connecting and ending, again and again.</summary>
public sealed class AcceptingTests
{
    [Theory, EveryLink]
    public async Task An_endpoint_in_use_is_named_and_its_listener_goes_on(string link)
    {
        await using TestLink open = TestLink.Open(link);
        open.Serve = TestProtocol.Echo;
        await using ITransportListener second = open.Transport.CreateListener(open.Endpoint, open.Settings);

        var e = Assert.Throws<EndpointException>(() => second.Start(static _ => Assert.Fail("Nothing is accepted here.")));

        Assert.Equal(open.Endpoint, e.Endpoint);
        Assert.StartsWith($"Cannot listen on {open.Endpoint}: ", e.Message, StringComparison.Ordinal);
        Assert.Contains("in use", e.Message, StringComparison.Ordinal);
        await second.StopAsync();

        // Whether somebody listens may have been found out by connecting: that connection is none of the test's.
        RawEnd raw = await open.ConnectRawAloneAsync();
        await raw.SendAsync([1, 2]);
        Assert.Equal([1, 2], await raw.ReadAsync(2));
    }

    [Theory, EveryLink]
    public async Task A_stopped_listener_leaves_its_endpoint_free_and_its_connections_alive(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync();

        await open.Listener.StopAsync();
        await open.Listener.StopAsync();

        await CannotConnectAsync(open);
        Assert.True(await client.SendAsync(new byte[1000]));
        await server.ReceivedAsync(1000);
        await using ITransportListener again = open.Transport.CreateListener(open.Endpoint, open.Settings);
        var accepted = new TestProtocol();
        again.Start(connection =>
        {
            accepted.Connection = connection;
            connection.Start(accepted);
        });
        Connection another = await open.Transport.CreateConnector(open.Endpoint, open.Settings).ConnectAsync(Patience.Token);
        another.Abort(CloseReason.LocalClosed);

        // The link does not know this one, and would find what it reads into not returned yet.
        await accepted.ClosedAsync();
    }

    [Theory, EveryLink]
    public async Task Where_nothing_listens_connecting_says_so(string link)
    {
        await using TestLink open = TestLink.Open(link);
        await open.Listener.StopAsync();

        EndpointException e = await CannotConnectAsync(open);

        Assert.StartsWith($"Cannot connect to {open.Endpoint}: ", e.Message, StringComparison.Ordinal);
        Assert.Contains("Is the server running", e.Message, StringComparison.Ordinal);
    }

    [Theory, EveryLink]
    public async Task Connecting_can_be_cancelled_before_it_begins(string link)
    {
        await using TestLink open = TestLink.Open(link);

        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () =>
            await open.Transport.CreateConnector(open.Endpoint, open.Settings).ConnectAsync(new CancellationToken(canceled: true)));

        await AssertServesAsync(open);
    }

    [Theory, EveryLink]
    public async Task Connecting_that_goes_on_and_on_can_be_cancelled(string link)
    {
        if (Links.Get(link).Busy is not { } makeBusy)
        {
            return;
        }

        await using TestLink open = TestLink.Open(link);
        using var directory = new TemporaryDirectory();
        using BusyListener busy = makeBusy(directory);
        using var cancel = new CancellationTokenSource();
        ITransportConnector connector = open.Transport.CreateConnector(busy.Endpoint, open.Settings);

        Task<Connection> connecting = connector.ConnectAsync(cancel.Token).AsTask();
        await Task.Delay(20);
        Assert.False(connecting.IsCompleted);
        await cancel.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connecting.InTimeAsync());
    }

    [LinuxTheory]
    [InlineData(1)]
    public async Task Connecting_can_be_canceled_while_its_loop_is_blocked(int loops)
    {
        await using TestLink open = TestLink.Open(
            LinkKind.Tcp("one loop", () => new EpollTransport(new EpollOptions { Loops = loops })));
        (TestProtocol client, _) = await open.ConnectAsync();
        using var release = new ManualResetEventSlim();
        using var blocked = new ManualResetEventSlim();
        client.Connection.Post(
            _ =>
            {
                blocked.Set();
                release.Wait(Patience.Limit);
            },
            null);
        Assert.True(await Task.Run(() => blocked.Wait(Patience.Limit)));
        using var cancel = new CancellationTokenSource();

        Task<Connection> connecting = open.Transport.CreateConnector(open.Endpoint, open.Settings).ConnectAsync(cancel.Token).AsTask();
        await cancel.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => connecting.WaitAsync(Patience.Limit / 2));

        // The connection that comes after all is not left open.
        release.Set();
        TestProtocol late = await open.AcceptedAsync();
        await late.ClosedAsync();
    }

    [Theory, EveryLink]
    public async Task An_accepted_connection_that_cannot_be_set_up_is_closed_and_the_next_is_served(string link)
    {
        await using TestLink open = TestLink.Open(link);
        Func<TestProtocol> sound = open.Serve;
        Exception[] faults = [new InvalidOperationException("A defect."), new SocketException((int)SocketError.ConnectionReset)];
        foreach (Exception fault in faults)
        {
            open.Serve = () => throw fault;
            await open.ConnectToBeRefusedAsync();
        }

        open.Serve = sound;
        await AssertServesAsync(open);

        // The line may follow the end of the connection, on another thread.
        await Patience.UntilAsync(() => open.Log.WithId(1005).Count == faults.Length, "the failures are logged");
    }

    [Theory, EveryLink]
    public async Task Many_connections_at_once_are_told_apart(string link)
    {
        const int Count = 60;
        await using TestLink open = TestLink.Open(link);
        open.Serve = TestProtocol.Echo;
        var clients = new TestProtocol[Count];
        for (int i = 0; i < Count; i++)
        {
            (clients[i], _) = await open.ConnectAsync();
        }

        bool[] sent = await Task.WhenAll(clients.Select((client, i) => Task.Run(() => client.SendAsync(Wire.Bytes(20_000, i)))));

        Assert.All(sent, Assert.True);
        for (int i = 0; i < Count; i++)
        {
            await clients[i].ReceivedAsync(20_000);
            Assert.Equal(Wire.Bytes(20_000, i), clients[i].Received);
        }

    }

    [Theory, EveryLink]
    public async Task An_idle_connection_holds_no_buffer(string link)
    {
        await using TestLink open = TestLink.Open(link);
        (TestProtocol client, TestProtocol server) = await open.ConnectAsync(server: TestProtocol.Echo());

        for (int i = 0; i < 3; i++)
        {
            Assert.True(await client.SendAsync(new byte[100_000 * i], 30_000));
            Assert.True(client.TryLend(new byte[40_000], null, null));
            client.Connection.Flush();
            await client.ReceivedAsync(client.Connection.BytesSent + client.Connection.PendingBytes);
            await Patience.UntilAsync(() => open.Pool.Outstanding == 0, "both ends gave back their buffers");
        }
    }

    [Theory, EveryLink]
    public async Task Two_hundred_connections_later_nothing_is_left(string link)
    {
        await using TestLink open = TestLink.Open(link);
        List<WeakReference> connections = [];
        for (int i = 0; i < 200; i++)
        {
            connections.AddRange(await ComeAndGoAsync(open, i));
        }

        await Patience.UntilAsync(
            () =>
            {
                GC.Collect();
                GC.WaitForPendingFinalizers();

                // The runtime may remember the last one or two that its threads worked for.
                return connections.Count(static c => c.IsAlive) <= 4;
            },
            "the connections were collected");
    }

    // A method of its own, so that no variable of the test's keeps a connection alive.
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static async Task<WeakReference[]> ComeAndGoAsync(TestLink open, int round)
    {
        var server = new TestProtocol();
        TaskCompletionSource<Connection> accepted = new();
        Connection client = await open.ConnectForgottenAsync(server, accepted);
        var protocol = new TestProtocol();
        protocol.Connection = client;
        client.Start(protocol);
        Connection other = await accepted.Task.InTimeAsync();
        Assert.True(await protocol.SendAsync(new byte[100 * round]));
        await server.ReceivedAsync(100 * round);
        switch (round % 4)
        {
            case 0:
                client.Close(CloseReason.LocalClosed);
                break;
            case 1:
                other.Close(CloseReason.LocalClosed);
                break;
            case 2:
                client.Abort(CloseReason.LocalClosed);
                break;
            default:
                other.Abort(CloseReason.LocalClosed);
                break;
        }

        await protocol.ClosedAsync();
        await server.ClosedAsync();
        return [new WeakReference(client), new WeakReference(other)];
    }

    private static async Task AssertServesAsync(TestLink open)
    {
        (RawEnd raw, TestProtocol server) = await open.ConnectRawAsync(new TestProtocol());
        await raw.SendAsync([1, 2]);
        await server.ReceivedAsync(2);
    }

    private static async Task<EndpointException> CannotConnectAsync(TestLink open)
    {
        var e = await Assert.ThrowsAsync<EndpointException>(async () =>
            await open.Transport.CreateConnector(open.Endpoint, open.Settings).ConnectAsync(Patience.Token));
        Assert.Equal(open.Endpoint, e.Endpoint);
        return e;
    }
}
