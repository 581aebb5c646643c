using System.Buffers;
using System.Collections.Concurrent;
using FastPort.Core.Tests.Clients;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Routing;

/// <summary>The client's side of relays, topics and peers, against a real server.</summary>
public sealed class ClientRoutingTests
{
    [Fact]
    public async Task Relayed_messages_go_to_the_handler_of_their_type_with_their_sender()
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a");
        await using FastPortClient b = Create(server, "b");
        var got = new ConcurrentQueue<string>();
        b.OnRelayed(
            1, (scoped in RoutedMessage m) =>
                got.Enqueue($"one from {m.From} to {m.Address}: {m.Body.ToArray()[0]} over {m.Session.IsIdentified}"));
        b.OnRelayed(65_535, (scoped in RoutedMessage m) => got.Enqueue($"large from {m.From}: {m.Type}, {m.Body.Length}"));
        Assert.Throws<ArgumentException>(() => b.OnRelayed(1, static (scoped in RoutedMessage _) => { }));
        await b.ConnectAsync();

        await a.RelayAsync("b", 1, new byte[] { 5 }).InTimeAsync();
        await a.RelayAsync("b", 65_535, default(EmptyBody)).InTimeAsync();
        await a.RelayAsync("b", 2, new byte[] { 6 }).InTimeAsync();
        await a.RelayOneWayAsync("b", 1, new SequenceBody(new([7])));

        await Patience.UntilAsync(() => got.Count == 3 && b.Counters.Snapshot().OneWayFailures == 1, "all messages came");
        Assert.Equal(["one from a to b: 5 over True", "large from a: 65535, 0", "one from a to b: 7 over True"], got);
        Assert.Equal(1, b.Counters.Snapshot().OneWayFailuresWith((uint)ErrorCode.UnknownType));
    }

    [Fact]
    public async Task A_type_above_65535_is_MalformedBody_for_the_receiver_too()
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a");
        int got = 0;
        await a.SubscribeAsync("", (scoped in RoutedMessage _) => got++).InTimeAsync();
        a.OnRelayed(0, (scoped in RoutedMessage _) => got++);

        // No server of this kind forwards them.
        Session session = server.Server.Routing.Find("a")!;
        Assert.Equal(SendStatus.Queued, session.TrySend(RoutingWire.Relay, RoutingWire.Envelope("a", 65_536, [1])));
        Assert.Equal(SendStatus.Queued, session.TrySend(RoutingWire.Publish, RoutingWire.Envelope("x", 65_536, [1])));

        await Patience.UntilAsync(() => a.Counters.Snapshot().OneWayFailures == 2, "both are refused");
        Assert.Equal((2, 0), (a.Counters.Snapshot().OneWayFailuresWith((uint)ErrorCode.MalformedBody), got));
    }

    [Fact]
    public async Task A_relay_to_nobody_fails_with_NotFound_and_types_that_are_off_with_UnknownType()
    {
        await using TestServer server = await RoutingWire.StartAsync(static o => o.Routing.Topics = o.Routing.Peers = false);
        await using FastPortClient a = await ConnectAsync(server, "a");

        await FailsAsync(ErrorCode.NotFound, () => a.RelayAsync("nobody", 1, new byte[1]));
        await FailsAsync(ErrorCode.UnknownType, () => a.PublishAsync("x", 1, new byte[1]));
        await FailsAsync(ErrorCode.UnknownType, () => a.ListPeersAsync().ToArrayAsync().AsTask());
        await FailsAsync(ErrorCode.UnknownType, () => a.SubscribeAsync("x", static (scoped in RoutedMessage _) => { }));

        // Not subscribed: the prefix is free again.
        await FailsAsync(ErrorCode.UnknownType, () => a.SubscribeAsync("x", static (scoped in RoutedMessage _) => { }));
    }

    [Fact]
    public async Task A_subscription_that_is_given_up_while_a_session_is_made_is_ended_there()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using (ScriptedPeer first = await server.WelcomeAsync())
        {
            await connecting.InTimeAsync();
        }

        await Patience.UntilAsync(() => client.Session is null, "the connection is lost");
        using var giveUp = new CancellationTokenSource();
        Task subscribing = client.SubscribeAsync("p", static (scoped in RoutedMessage _) => { }, cancellationToken: giveUp.Token);
        using ScriptedPeer second = await server.WelcomeAsync();
        ScriptedFrame subscribe = await second.ReadAsync();
        Assert.Equal(ControlType.Subscribe, subscribe.Header.Type);

        await giveUp.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => subscribing.InTimeAsync());
        await second.ReplyAsync(subscribe);

        ScriptedFrame unsubscribe = await second.ReadAsync();
        Assert.Equal(ControlType.Unsubscribe, unsubscribe.Header.Type);
        Assert.Equal(subscribe.Body, unsubscribe.Body);
    }

    [Theory]
    [InlineData(SendQueueFullPolicy.Wait)]
    [InlineData(SendQueueFullPolicy.DropOneWay)]
    public async Task A_subscription_that_is_given_up_is_ended_also_where_the_queue_is_full(SendQueueFullPolicy policy)
    {
        using var server = new ScriptedServer();
        var options = new FastPortClientOptions { Endpoint = server.Endpoint };
        options.Session.SendQueueFull = policy;
        await using var client = new FastPortClient(options);
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        using var giveUp = new CancellationTokenSource();
        Task subscribing = client.SubscribeAsync("p", static (scoped in RoutedMessage _) => { }, cancellationToken: giveUp.Token);
        ScriptedFrame subscribe = await peer.ReadAsync();
        byte[] body = new byte[16 * 1024];
        long sent = 0;
        await Patience.UntilSteadyAsync(
            () =>
            {
                while (client.Session!.TrySend(0x2000, body) == SendStatus.Queued)
                {
                    sent++;
                }

                return sent;
            },
            "the peer's buffers and the queue are full");

        await giveUp.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => subscribing.InTimeAsync());

        ScriptedFrame next;
        do
        {
            next = await peer.ReadAsync();
        }
        while (next.Header.Type is 0x2000 or ControlType.Cancel);
        Assert.Equal(ControlType.Unsubscribe, next.Header.Type);
        Assert.Equal(subscribe.Body, next.Body);
    }

    [Fact]
    public async Task A_published_message_comes_once_and_goes_to_every_handler_whose_prefix_matches()
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a");
        await using FastPortClient b = await ConnectAsync(server, "b");
        var got = new ConcurrentQueue<string>();
        await b.SubscribeAsync("x/", Note("x/")).InTimeAsync();
        await b.SubscribeAsync("x", static (scoped in RoutedMessage _) => throw new InvalidOperationException("A defect in a handler."))
            .InTimeAsync();
        await b.SubscribeAsync("", Note("all")).InTimeAsync();
        await b.SubscribeAsync("x/ü", Note("x/ü")).InTimeAsync();
        await Assert.ThrowsAsync<InvalidOperationException>(() => b.SubscribeAsync("x", Note("again")));

        Assert.Equal(1, await a.PublishAsync("x/ü/7", 3, new byte[] { 1 }).InTimeAsync());
        await a.PublishOneWayAsync("z", 4, new SequenceBody(new([2])));

        await Patience.UntilAsync(() => got.Count == 4, "all handlers were called");
        Assert.Equal(["all: x/ü/7 3 from a", "x/: x/ü/7 3 from a", "x/ü: x/ü/7 3 from a", "all: z 4 from a"], got);
        Assert.Equal(1, b.Counters.Snapshot().OneWayFailuresWith((uint)ErrorCode.Internal));

        RoutedHandler Note(string name) => (scoped in RoutedMessage m) => got.Enqueue($"{name}: {m.Address} {m.Type} from {m.From}");
    }

    [Fact]
    public async Task After_Unsubscribe_the_handler_is_called_no_more_and_the_prefix_is_free()
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a");
        int first = 0, second = 0;
        await a.SubscribeAsync("x", (scoped in RoutedMessage _) => Interlocked.Increment(ref first)).InTimeAsync();
        await a.PublishAsync("x", 1, new byte[1]).InTimeAsync();
        await Patience.UntilAsync(() => Volatile.Read(ref first) == 1, "the message came");

        await a.UnsubscribeAsync("x").InTimeAsync();
        await a.UnsubscribeAsync("x").InTimeAsync();

        Assert.Equal(0, await a.PublishAsync("x", 1, new byte[1]).InTimeAsync());
        Assert.Equal(0, server.Counts.SubscriptionsOpen);
        await a.SubscribeAsync("x", (scoped in RoutedMessage _) => Interlocked.Increment(ref second)).InTimeAsync();
        Assert.Equal(1, await a.PublishAsync("x", 1, new byte[1]).InTimeAsync());
        await Patience.UntilAsync(() => Volatile.Read(ref second) == 1, "the message came");
        Assert.Equal(1, first);
    }

    [Fact]
    public async Task A_subscription_outlives_the_connection_and_stands_before_the_next_request()
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = Create(server, "a");
        int got = 0;
        Task connecting = a.ConnectAsync();
        Task subscribing = a.SubscribeAsync("kept", (scoped in RoutedMessage _) => Interlocked.Increment(ref got));
        await connecting.InTimeAsync();
        await subscribing.InTimeAsync();
        await a.SubscribeAsync("ended", static (scoped in RoutedMessage _) => { }).InTimeAsync();
        await a.UnsubscribeAsync("ended").InTimeAsync();

        for (int round = 1; round <= 5; round++)
        {
            // Not by counting the server's sessions: a client that is back while its last session still holds the id is refused, and tries
            // again.
            Session lost = a.Session!;
            server.Server.Routing.Find("a")!.Abort();
            await Patience.UntilAsync(() => a.Session is { } next && next != lost, "the client has its next session");
            Assert.Equal(1, await a.PublishAsync("kept", 1, new byte[1]).InTimeAsync());
            await Patience.UntilAsync(() => Volatile.Read(ref got) == round, "the message came");
            Assert.Equal(0, await a.PublishAsync("ended", 1, new byte[1]).InTimeAsync());
        }
    }

    [Fact]
    public async Task Subscribing_while_the_connection_comes_and_goes_ends_well()
    {
        const int Prefixes = 60;
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(
            server, "", o => (o.ReconnectDelay, o.MaxReconnectDelay) = (TimeSpan.FromMilliseconds(1), TimeSpan.FromMilliseconds(5)));
        using var stop = new CancellationTokenSource();
        Task cutting = Task.Run(async () =>
        {
            for (int next = 0; !stop.IsCancellationRequested; next++)
            {
                await Patience.UntilAsync(() => server.Opened.Count > next || stop.IsCancellationRequested, "the client came back");
                await Task.Delay(Random.Shared.Next(1, 20));
                server.Opened[^1].Abort();
            }
        });

        for (int i = 0; i < Prefixes; i++)
        {
            await a.SubscribeAsync($"p{i}", static (scoped in RoutedMessage _) => { }).InTimeAsync();
            if (i % 2 == 1)
            {
                await a.UnsubscribeAsync($"p{i}").InTimeAsync();
            }
        }

        await stop.CancelAsync();
        await cutting;
        await Patience.UntilAsync(() => server.Counts.SubscriptionsOpen == Prefixes / 2, "the last session has exactly what was not ended");
    }

    [Fact]
    public async Task A_subscription_that_a_new_session_may_not_have_is_logged_and_asked_for_again_on_the_next()
    {
        bool forbid = false;
        await using TestServer server = await RoutingWire.StartAsync(components: h => h.Authorizer = (request, _) =>
            new ValueTask<bool>(request.Type != ControlType.Subscribe || !Volatile.Read(ref forbid)));
        var log = new RecordingLog();
        await using FastPortClient a = Create(server, "", log: log);
        await a.ConnectAsync();
        await a.SubscribeAsync("x", static (scoped in RoutedMessage _) => { }).InTimeAsync();
        Volatile.Write(ref forbid, true);

        server.Opened[^1].Abort();
        await Patience.UntilAsync(() => log.WithId(4004).Count == 1, "the refusal was logged");
        await Patience.UntilAsync(() => a.Session is not null, "the client is connected");
        Volatile.Write(ref forbid, false);
        server.Opened[^1].Abort();

        await Patience.UntilAsync(() => server.Counts.SubscriptionsOpen == 1, "the next session is subscribed");
        Assert.Equal(3, server.Opened.Count);
        Assert.Contains("'x'", log.WithId(4004)[0].Text, StringComparison.Ordinal);
        Assert.Contains("next session", log.WithId(4004)[0].Text, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_subscription_that_a_new_session_is_refused_for_now_is_asked_for_again()
    {
        await using TestServer server = await RoutingWire.StartAsync(static o => o.Routing.MaxTopicsPerSession = 2);
        var log = new RecordingLog();
        await using FastPortClient a = Create(server, "", log: log);
        await a.ConnectAsync();
        await a.SubscribeAsync("x", static (scoped in RoutedMessage _) => { }).InTimeAsync();
        await a.SubscribeAsync("y", static (scoped in RoutedMessage _) => { }).InTimeAsync();
        server.Server.SessionOpened += session =>
        {
            server.Server.Routing.Subscribe(session, "full 1");
            server.Server.Routing.Subscribe(session, "full 2");
        };

        server.Opened[0].Abort();
        await Patience.UntilAsync(() => a.Session is not null && log.WithId(4004).Count > 4, "the connected client has asked again");
        await a.UnsubscribeAsync("y").InTimeAsync();
        Session session = server.Opened[1];
        server.Server.Routing.Unsubscribe(session, "full 1");
        server.Server.Routing.Unsubscribe(session, "full 2");

        await Patience.UntilAsync(() => server.Counts.SubscriptionsOpen == 1, "the session is subscribed");
        Assert.Equal(1, await a.PublishAsync("x", 1, new byte[1]).InTimeAsync());
        Assert.Equal(0, await a.PublishAsync("y", 1, new byte[1]).InTimeAsync());
        Assert.Equal(2, server.Opened.Count);
    }

    [Fact]
    public async Task A_subscription_that_is_being_ended_does_not_come_back_at_the_next_session()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer first = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        Task subscribing = client.SubscribeAsync("p", static (scoped in RoutedMessage _) => { });
        await first.ReplyAsync(await first.ReadAsync());
        await subscribing.InTimeAsync();
        Task unsubscribing = client.UnsubscribeAsync("p");
        ScriptedFrame unsubscribe = await first.ReadAsync();

        // The first session lives on for the reply.
        await first.WriteAsync(
            ControlType.Goodbye, FrameFlags.OneWay, 0, ScriptedPeer.Encode(new CodeBody(ErrorCode.ShuttingDown, "Stopping.")));
        using ScriptedPeer second = await server.WelcomeAsync();
        Task<byte[]> request = client.RequestAsync(0x2000, new byte[1]);
        ScriptedFrame next = await second.ReadAsync();
        await first.ReplyAsync(unsubscribe);
        await unsubscribing.InTimeAsync();

        Assert.Equal(0x2000, next.Header.Type);
        await second.ReplyAsync(next, 1);
        await request.InTimeAsync();
    }

    [Fact]
    public async Task A_subscription_given_up_is_none()
    {
        var welcome = new TaskCompletionSource<AuthenticationResult>();
        await using TestServer server = await RoutingWire.StartAsync(
            components: components => components.Authenticator = async (_, _) => await welcome.Task);
        await using FastPortClient a = Create(server, "a");
        using var giveUp = new CancellationTokenSource();
        Task connecting = a.ConnectAsync();
        Task subscribing = a.SubscribeAsync("x", static (scoped in RoutedMessage _) => { }, cancellationToken: giveUp.Token);

        await giveUp.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => subscribing);
        welcome.SetResult(AuthenticationResult.Accept());
        await connecting.InTimeAsync();
        Assert.Equal(0, await a.PublishAsync("x", 1, new byte[1]).InTimeAsync());
    }

    [Fact]
    public async Task Lists_peers_by_prefix_and_after_an_id()
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a");
        await using FastPortClient b = await ConnectAsync(server, "b/1");
        await using FastPortClient c = await ConnectAsync(server, "b/2");

        Assert.Equal(["a", "b/1", "b/2"], await IdsAsync(a.ListPeersAsync()));
        Assert.Equal(["b/1"], await IdsAsync(a.ListPeersAsync("b/").Take(1)));
        Assert.Equal(["b/2"], await IdsAsync(a.ListPeersAsync("b/", "b/1")));
        Assert.Empty(await IdsAsync(a.ListPeersAsync("b/", "b/2")));
        PeerInfo peer = await a.ListPeersAsync("b/2").FirstAsync().AsTask().InTimeAsync();
        Session session = server.Server.Routing.Find("b/2")!;
        Assert.Equal(PeerInfo.Of(session), peer);

        static Task<string[]> IdsAsync(IAsyncEnumerable<PeerInfo> peers) =>
            peers.Select(static p => p.RoutingId).ToArrayAsync().AsTask().InTimeAsync();
    }

    private static FastPortClient Create(
        TestServer server, string routingId, Action<FastPortClientOptions>? configure = null, RecordingLog? log = null)
    {
        var options = new FastPortClientOptions
        {
            Endpoint = server.Endpoint.ToString(),
            RoutingId = routingId,
            ReconnectDelay = TimeSpan.FromMilliseconds(5),
        };
        configure?.Invoke(options);
        return new FastPortClient(options, loggerFactory: log);
    }

    private static async Task<FastPortClient> ConnectAsync(
        TestServer server, string routingId, Action<FastPortClientOptions>? configure = null)
    {
        FastPortClient client = Create(server, routingId, configure);
        await client.ConnectAsync();
        return client;
    }

    private static async Task FailsAsync(ErrorCode code, Func<Task> request) =>
        Assert.Equal(code, (await Assert.ThrowsAsync<RequestFailedException>(request)).Code);
}
