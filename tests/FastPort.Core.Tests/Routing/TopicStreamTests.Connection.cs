using System.Buffers;
using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using FastPort.Core.Tests.Clients;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Routing;

/// <content>Streams while the connection, the client or the subscription ends and begins again.</content>
public sealed partial class TopicStreamTests
{
    [Fact]
    public async Task A_stream_outlives_the_connection()
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a");
        await using Reader reader = await Reader.StartAsync(a, "x");

        for (ushort round = 1; round <= 3; round++)
        {
            Session lost = a.Session!;
            server.Server.Routing.Find("a")!.Abort();
            await Patience.UntilAsync(() => a.Session is { } next && next != lost, "the client has its next session");
            Assert.Equal(1, await a.PublishAsync("x", round, new byte[1]).InTimeAsync());
            Assert.Equal($"x {round} 00 from a, 0 dropped", await reader.NextAsync());
        }
    }

    [Fact]
    public async Task A_stream_ends_when_the_program_closes_the_client()
    {
        await using TestServer server = await RoutingWire.StartAsync();
        FastPortClient a = await ConnectAsync(server, "a");
        await using Reader reader = await Reader.StartAsync(a, "x");
        await a.PublishAsync("x", 1, new byte[1]).InTimeAsync();

        Assert.Equal("x 1 00 from a, 0 dropped", await reader.NextAsync());
        await a.DisposeAsync();

        Assert.Null(await reader.NextAsync());
        var closed = await Assert.ThrowsAsync<RequestFailedException>(() => a.ReadTopicAsync("x").FirstAsync().InTimeAsync());
        Assert.Equal(RequestFailure.Closed, closed.Failure);
    }

    [Fact]
    public async Task A_stream_fails_after_its_last_message_when_the_client_gives_up()
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a", static o => o.Reconnect = false);
        var passed = new SemaphoreSlim(0);
        await a.SubscribeAsync("pass", (scoped in RoutedMessage _) => passed.Release()).InTimeAsync();
        var subscribed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using IAsyncEnumerator<TopicMessage<ReadOnlyMemory<byte>>> stream =
            a.ReadTopicAsync("x", onSubscribed: subscribed.SetResult).GetAsyncEnumerator();
        ValueTask<bool> next = stream.MoveNextAsync();
        await subscribed.Task.InTimeAsync();
        await a.PublishAsync("x", 1, new byte[1]).InTimeAsync();
        await a.PublishAsync("x", 2, new byte[1]).InTimeAsync();
        await a.PublishAsync("pass", 1, new byte[1]).InTimeAsync();
        await passed.WaitAsync(Patience.Token);

        server.Server.Routing.Find("a")!.Abort();

        Assert.True(await next.InTimeAsync());
        Assert.True(await stream.MoveNextAsync().InTimeAsync());
        Assert.Equal(2, stream.Current.Type);
        var gaveUp = await Assert.ThrowsAsync<RequestFailedException>(() => stream.MoveNextAsync().InTimeAsync());
        Assert.Equal(RequestFailure.Closed, gaveUp.Failure);
        Assert.Contains("does not reconnect", gaveUp.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Nothing_of_a_stream_is_left_when_its_reader_has_left()
    {
        const int Streams = 50;
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a");
        ConcurrentBag<WeakReference> prefixes = [];
        ConcurrentBag<WeakReference> bodies = [];

        for (int i = 0; i < Streams; i++)
        {
            await ReadOneAsync(i);
        }

        Assert.Equal(0, await a.PublishAsync("x0", 1, new byte[1]).InTimeAsync());
        Assert.Equal(0, server.Counts.SubscriptionsOpen);
        Assert.True(bodies.Count >= Streams);
        await Patience.UntilAsync(
            () =>
            {
                GC.Collect();
                return !prefixes.Concat(bodies).Any(static one => one.IsAlive);
            },
            "no subscription and no message is left in memory");

        [MethodImpl(MethodImplOptions.NoInlining)]
        async Task ReadOneAsync(int number)
        {
            string prefix = $"x{number}";
            prefixes.Add(new WeakReference(prefix));
            Task publishing = Task.CompletedTask;
            IAsyncEnumerable<TopicMessage<object>> stream = a.ReadTopicAsync(
                prefix,
                (scoped in RoutedMessage message) =>
                {
                    object body = message.Body.ToArray();
                    bodies.Add(new WeakReference(body));
                    return body;
                },
                onSubscribed: () => publishing = PublishAsync());
            await foreach (TopicMessage<object> message in stream)
            {
                // The buffer has messages left when the loop is left.
                await publishing.InTimeAsync();
                break;
            }

            async Task PublishAsync()
            {
                for (int i = 0; i < 5; i++)
                {
                    await a.PublishAsync($"x{number}", 1, new byte[1000]);
                }
            }
        }
    }

    [Fact]
    public async Task A_new_subscription_is_requested_when_the_last_one_was_ended()
    {
        using var server = new ScriptedServer();
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = server.Endpoint });
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.WelcomeAsync();
        await connecting.InTimeAsync();
        var subscribed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        IAsyncEnumerator<TopicMessage<ReadOnlyMemory<byte>>> stream =
            client.ReadTopicAsync("p", onSubscribed: subscribed.SetResult).GetAsyncEnumerator();
        using var cancel = new CancellationTokenSource();
        Task<bool> reading = stream.MoveNextAsync().AsTask();
        ScriptedFrame subscribe = await peer.ReadAsync();
        Assert.False(subscribed.Task.IsCompleted);

        // A message may come before the reply.
        await peer.WriteAsync(
            ControlType.Publish, FrameFlags.OneWay, 0, RoutingWire.Envelope("p/1", 7, [1]));
        await peer.ReplyAsync(subscribe);
        await subscribed.Task.InTimeAsync();
        Assert.True(await reading.InTimeAsync());
        Assert.Equal("p/1", stream.Current.Topic);
        await stream.DisposeAsync();
        ScriptedFrame unsubscribe = await peer.ReadAsync();
        Assert.Equal((ControlType.Unsubscribe, FrameFlags.None), (unsubscribe.Header.Type, unsubscribe.Header.Flags));

        Task again = client.SubscribeAsync("p", Ignore);
        Task givenUp = client.ReadTopicAsync("p", cancellationToken: cancel.Token).FirstAsync(cancel.Token).AsTask();
        var late = await Assert.ThrowsAsync<RequestFailedException>(
            () => client.ReadTopicAsync("p", timeout: TimeSpan.FromMilliseconds(1)).FirstAsync().InTimeAsync());
        Assert.Equal(RequestFailure.TimedOut, late.Failure);
        Task request = client.RequestAsync(0x2000, new byte[1]);
        ScriptedFrame next = await peer.ReadAsync();
        Assert.Equal(0x2000, next.Header.Type);
        await cancel.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => givenUp.InTimeAsync());
        await peer.ReplyAsync(unsubscribe);
        subscribe = await peer.ReadAsync();
        Assert.Equal(ControlType.Subscribe, subscribe.Header.Type);
        await peer.ReplyAsync(subscribe);
        await again.InTimeAsync();
        await peer.ReplyAsync(next);
        await request.InTimeAsync();
    }

    [Fact]
    public async Task An_Unsubscribe_that_a_server_refuses_for_now_is_sent_again()
    {
        var time = new FakeTimeProvider();
        await using TestServer server = await RoutingWire.StartAsync(
            static o => o.Routing.MaxTopicsPerSession = o.Routing.MaxTopicChangesPerSecond = 1, components: c => c.Time = time);
        await using FastPortClient a = await ConnectAsync(server, "a");
        Reader reader = await Reader.StartAsync(a, "x");

        await reader.DisposeAsync();
        await Patience.UntilAsync(() => server.Counts.ErrorsSentWith((uint)ErrorCode.Overloaded) > 0, "the server has refused it");
        Assert.Equal(1, server.Counts.SubscriptionsOpen);
        time.Advance(TimeSpan.FromSeconds(2));

        await Patience.UntilAsync(() => server.Counts.SubscriptionsOpen == 0, "the subscription has ended");
    }

    [Fact]
    public async Task Streams_come_and_go_while_the_connection_does()
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(
            server, "", o => (o.ReconnectDelay, o.MaxReconnectDelay) = (TimeSpan.FromMilliseconds(1), TimeSpan.FromMilliseconds(5)));
        await using Reader kept = await Reader.StartAsync(a, "p1");
        using var stop = new CancellationTokenSource();
        Task cutting = Task.Run(async () =>
        {
            for (int next = 0; !stop.IsCancellationRequested; next++)
            {
                await Patience.UntilAsync(() => server.Opened.Count > next || stop.IsCancellationRequested, "the client came back");
                await Task.Delay(Random.Shared.Next(1, 20));
                Session cut = server.Opened[^1];
                cut.Abort();
                await cut.Closed.InTimeAsync();
            }
        });

        await Task.WhenAll(Enumerable.Range(0, 4).Select(static number => number % 2).Select(async number =>
        {
            for (int i = 0; i < 40; i++)
            {
                await using Reader reader = await Reader.StartAsync(a, $"p{number}");
            }
        }));

        await stop.CancelAsync();
        await cutting;
        await Patience.UntilAsync(
            () => server.Closed.Count == server.Opened.Count - 1 && server.Counts.SubscriptionsOpen == 1,
            "the last session has exactly what was not left");
        Assert.Equal(1, await a.PublishAsync("p1", 9, new byte[1]).InTimeAsync());
        Assert.Equal(0, await a.PublishAsync("p0", 9, new byte[1]).InTimeAsync());
        Assert.Equal("p1 9 00 from , 0 dropped", await kept.NextAsync());
    }
}
