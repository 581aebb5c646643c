using System.Collections.Concurrent;
using System.Net.Sockets;
using FastPort.Connections;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using FastPort.Transports;
using FastPort.Transports.Sockets;
using Xunit;

namespace FastPort.Core.Tests.Clients;

public sealed class ClientReconnectTests
{
    [Theory]
    [InlineData(1, "tcp")]
    [InlineData(2, "tcp")]
    [InlineData(3, "tcp")]
    [InlineData(4, "tcp")]
    [InlineData(5, "ws")]
    [InlineData(6, "ws")]
    public async Task A_connection_cut_at_any_byte_fails_exactly_what_was_in_flight_and_runs_nothing_twice(int seed, string scheme)
    {
        const int Workers = 8;
        const int Rounds = 12;
        var random = new Random(seed);
        await using CountingServer server = await CountingServer.StartAsync(configure: o =>
        {
            o.Endpoints[0] = $"{scheme}://127.0.0.1:0";
            o.Session.MaxConcurrency = 4;
        });
        await using var proxy = new CuttingProxy(server.Port, n => n >= Rounds
            ? null
            : new Cut(random.Next(n == 0 ? 400 : 1, 5000), TowardsServer: random.Next(2) == 0, WithReset: random.Next(2) == 0));
        int connected = 0, disconnected = 0;
        long next = 0;
        ConcurrentBag<long> succeeded = [], failed = [];
        var client = new FastPortClient(new FastPortClientOptions
        {
            Endpoint = proxy.Endpoint.Replace("tcp", scheme, StringComparison.Ordinal),
            ReconnectDelay = TimeSpan.FromMilliseconds(5),
            MaxReconnectDelay = TimeSpan.FromMilliseconds(20),
        });
        client.Connected += _ => Interlocked.Increment(ref connected);
        client.Disconnected += (_, _) => Interlocked.Increment(ref disconnected);
        await client.ConnectAsync().InTimeAsync();
        using var stop = new CancellationTokenSource();
        Task[] workers = [.. Enumerable.Range(0, Workers).Select(w => Task.Run(() => WorkAsync(w)))];
        await Patience.UntilAsync(() => proxy.Accepted > Rounds, "each cut connection was followed by another");
        int good = succeeded.Count;
        await Patience.UntilAsync(() => succeeded.Count > good + 100, "the client goes on after the last cut");
        await stop.CancelAsync();
        await Task.WhenAll(workers).InTimeAsync();
        await client.CloseAsync().InTimeAsync();

        Assert.All(succeeded, id => Assert.Equal(1, server.Log.Count(id)));
        Assert.All(failed, id => Assert.InRange(server.Log.Count(id), 0, 1));
        Assert.Equal(next, succeeded.Count + failed.Count);
        Assert.InRange(failed.Count, 0, Workers * disconnected);
        Assert.Equal(connected, disconnected);
        Assert.True(disconnected >= Rounds / 2, $"Only {disconnected} sessions were cut.");

        async Task WorkAsync(int worker)
        {
            ushort type = worker % 2 == 0 ? CountingServer.InlineEcho : CountingServer.QueuedEcho;
            while (!stop.IsCancellationRequested)
            {
                long id = Interlocked.Increment(ref next);
                byte[] body = CountingServer.Body(id, 8 + (int)(id % 300));
                try
                {
                    Assert.Equal(body, await client.RequestAsync(type, body).InTimeAsync());
                    succeeded.Add(id);
                }
                catch (RequestFailedException e)
                {
                    Assert.Equal(RequestFailure.ConnectionLost, e.Failure);
                    Assert.Contains("while the request was in flight", e.Message, StringComparison.Ordinal);
                    failed.Add(id);
                }
            }
        }
    }

    [Fact]
    public async Task A_loss_fails_all_that_is_in_flight_and_nothing_else()
    {
        await using CountingServer server = await CountingServer.StartAsync(configure: static o => o.Session.MaxConcurrency = 50);
        await using var proxy = new CuttingProxy(server.Port);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = proxy.Endpoint });
        await client.ConnectAsync().InTimeAsync();
        Task<byte[]>[] inFlight = [
            .. Enumerable.Range(0, 50).Select(i => client.RequestAsync(CountingServer.Hold, CountingServer.Body(i)))];
        await Patience.UntilAsync(() => server.Held == 50, "all are in flight");

        proxy.CutAll();

        foreach (Task<byte[]> request in inFlight)
        {
            Assert.Equal(
                RequestFailure.ConnectionLost, (await Assert.ThrowsAsync<RequestFailedException>(() => request.InTimeAsync())).Failure);
        }

        Assert.Equal(CountingServer.Body(77), await client.RequestAsync(CountingServer.InlineEcho, CountingServer.Body(77)).InTimeAsync());
        await Patience.UntilAsync(() => server.Cancelled == 50, "the handlers of the lost session were cancelled");
        Assert.All(Enumerable.Range(0, 50), i => Assert.Equal(1, server.Log.Count(i)));
    }

    [Fact]
    public async Task Requests_made_while_there_is_no_connection_wait_and_succeed()
    {
        await using CountingServer server = await CountingServer.StartAsync();
        await using var proxy = new CuttingProxy(server.Port);
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = proxy.Endpoint });
        await client.ConnectAsync().InTimeAsync();
        proxy.Refuses = true;
        proxy.CutAll();
        await Patience.UntilAsync(() => client.Session is null, "the loss was noticed");

        Task<byte[]>[] waiting = [
            .. Enumerable.Range(0, 20).Select(i => client.RequestAsync(CountingServer.QueuedEcho, CountingServer.Body(i)))];
        Task<SendStatus> oneWay = client.TrySendAsync(CountingServer.OneWay, new SequenceBody(new(CountingServer.Body(500)))).AsTask();
        int attempts = proxy.Accepted;
        await Patience.UntilAsync(() => proxy.Accepted >= attempts + 2, "the client keeps trying");
        Assert.DoesNotContain(waiting, static w => w.IsCompleted);
        Assert.False(oneWay.IsCompleted);
        proxy.Refuses = false;

        for (int i = 0; i < waiting.Length; i++)
        {
            Assert.Equal(CountingServer.Body(i), await waiting[i].InTimeAsync());
            Assert.Equal(1, server.Log.Count(i));
        }

        Assert.Equal(SendStatus.Queued, await oneWay.InTimeAsync());
        await Patience.UntilAsync(() => server.Log.Count(500) == 1, "the one-way message arrived");
    }

    [Fact]
    public async Task Cancelling_a_waiting_request_ends_it()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        using var cancel = new CancellationTokenSource();
        Task connecting = client.ConnectAsync();
        Task<byte[]> request = client.RequestAsync(0x2000, new byte[1], cancellationToken: cancel.Token);
        Task<SendStatus> oneWay = client.TrySendAsync(0x2000, default(EmptyBody), cancel.Token).AsTask();

        await cancel.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => request.InTimeAsync());
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => oneWay.InTimeAsync());
        Assert.False(connecting.IsCompleted);
    }

    [Fact]
    public async Task Without_reconnecting_a_loss_ends_the_client_with_a_sentence()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint, Reconnect = false });
        Task connecting = client.ConnectAsync();
        ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();

        peer.Dispose();

        await Patience.UntilAsync(() => client.Session is null, "the loss was noticed");
        RequestFailedException e = await Assert.ThrowsAsync<RequestFailedException>(
            () => client.RequestAsync(0x2000, new byte[1], TimeSpan.Zero).InTimeAsync());
        Assert.Equal(RequestFailure.Closed, e.Failure);
        Assert.Contains("does not reconnect", e.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_server_that_drops_every_session_at_once_is_tried_at_growing_intervals()
    {
        using var server = new ScriptedServer();
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        await using var client = new FastPortClient(
            new FastPortClientOptions
            {
                Endpoint = server.Endpoint,
                ReconnectDelay = TimeSpan.FromSeconds(
                2),
                MaxReconnectDelay = TimeSpan.FromSeconds(10)
            }, clock: clock);
        time.Fired = () => LoopWork.Settle(client.Session is { } session ? [session] : []);
        Task connecting = client.ConnectAsync();
        (await server.WelcomeAsync()).Dispose();
        await connecting.InTimeAsync();

        // The first loss: tried again at once, without the time moving. The second: only after a delay.
        (await server.WelcomeAsync()).Dispose();

        await Patience.UntilAsync(
            () => time.WasArmed(TimeSpan.FromSeconds(1.5), TimeSpan.FromSeconds(2.5)), "the client waits before the third attempt");
        time.Advance(TimeSpan.FromSeconds(2.6));
        using ScriptedPeer third = await server.WelcomeAsync();
    }

    [Fact]
    public async Task A_server_that_drops_sessions_which_have_lasted_a_while_is_tried_again_at_once()
    {
        using var server = new ScriptedServer();
        var time = new ManualTime();
        using var clock = new ConnectionClock(time);
        using var connected = new SemaphoreSlim(0);
        await using var client = new FastPortClient(
            new FastPortClientOptions
            {
                Endpoint = server.Endpoint,
                ReconnectDelay = TimeSpan.FromSeconds(1),
                MaxReconnectDelay = TimeSpan.FromMinutes(10)
            }, clock: clock);
        client.Connected += _ => connected.Release();
        time.Fired = () => LoopWork.Settle(client.Session is { } session ? [session] : []);
        Task connecting = client.ConnectAsync();

        for (int losses = 0; losses < 5; losses++)
        {
            using ScriptedPeer peer = await server.WelcomeAsync();
            Assert.True(await connected.WaitAsync(Patience.Limit));
            time.Advance(TimeSpan.FromSeconds(3));
        }

        // The time does not move between a loss and the next connection.
        using ScriptedPeer last = await server.WelcomeAsync();
        await connecting.InTimeAsync();
    }

    [Fact]
    public async Task A_connector_that_throws_something_unexpected_does_not_end_the_client()
    {
        await using CountingServer server = await CountingServer.StartAsync();
        var transport = new MoodyTransport();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint }, transport: transport);
        await client.ConnectAsync().InTimeAsync();
        transport.Failures = 2;

        client.Session!.Abort();

        await Patience.UntilAsync(() => transport.Failures == 0, "the connector has thrown twice");
        Assert.Equal(CountingServer.Body(1), await client.RequestAsync(CountingServer.InlineEcho, CountingServer.Body(1)).InTimeAsync());
    }

    /// <summary>A transport that fails as a process without free descriptors does.</summary>
    private sealed class MoodyTransport : ITransport
    {
        private readonly SocketTransport _inner = new();
        private int _failures;

        public int Failures
        {
            get => Volatile.Read(ref _failures);
            set => Volatile.Write(ref _failures, value);
        }

        public bool Supports(string scheme) => _inner.Supports(scheme);

        public ITransportListener CreateListener(Endpoint endpoint, ConnectionSettings settings) =>
            _inner.CreateListener(endpoint, settings);

        public ITransportConnector CreateConnector(Endpoint endpoint, ConnectionSettings settings) =>
            new Connector(this, _inner.CreateConnector(endpoint, settings));

        private sealed class Connector(MoodyTransport transport, ITransportConnector inner) : ITransportConnector
        {
            public ValueTask<Connection> ConnectAsync(CancellationToken cancellationToken)
            {
                if (transport.Failures > 0)
                {
                    Interlocked.Decrement(ref transport._failures);
                    throw new SocketException((int)SocketError.TooManyOpenSockets);
                }

                return inner.ConnectAsync(cancellationToken);
            }
        }
    }
}
