using System.Threading.Channels;
using FastPort.Core.Tests.Support;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Routing;

/// <summary>Topics as streams: what a reader gets, when the subscription begins and ends, and what a slow reader misses.</summary>
public sealed partial class TopicStreamTests
{
    private static readonly RoutedHandler Ignore = static (scoped in RoutedMessage _) => { };

    [Fact]
    public async Task A_stream_begins_when_it_is_read_and_has_the_messages_in_order()
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a");
        await using FastPortClient b = await ConnectAsync(server, "b");
        var subscribed = new SemaphoreSlim(0);
        IAsyncEnumerable<TopicMessage<ReadOnlyMemory<byte>>> stream = b.ReadTopicAsync("x/", onSubscribed: () => subscribed.Release());

        // Each enumeration has its own subscription.
        for (int round = 0; round < 2; round++)
        {
            // From b, whose request follows the end of its subscription; one of a's would race with it.
            Assert.Equal(0, await b.PublishAsync("x/early", 1, new byte[1]).InTimeAsync());
            await using IAsyncEnumerator<TopicMessage<ReadOnlyMemory<byte>>> messages = stream.GetAsyncEnumerator();
            Assert.Equal(0, await a.PublishAsync("x/early", 1, new byte[1]).InTimeAsync());
            ValueTask<bool> next = messages.MoveNextAsync();
            await subscribed.WaitAsync(Patience.Token);

            Assert.Equal(1, await a.PublishAsync("x/ü", 3, new byte[] { 5, 6 }).InTimeAsync());
            await a.PublishOneWayAsync("y", 1, new byte[1]);
            await a.PublishOneWayAsync("x/", 65_535, ReadOnlyMemory<byte>.Empty);

            Assert.True(await next.InTimeAsync());
            TopicMessage<ReadOnlyMemory<byte>> first = messages.Current;
            Assert.True(await messages.MoveNextAsync().InTimeAsync());
            Assert.Equal(("x/", 65_535, "a", 0), Described(messages.Current));
            Assert.True(messages.Current.Body.IsEmpty);

            // It is the reader's.
            Assert.Equal(("x/ü", 3, "a", 0), Described(first));
            Assert.Equal([5, 6], first.Body.ToArray());
        }

        static (string Topic, int Type, string From, long Dropped) Described(in TopicMessage<ReadOnlyMemory<byte>> message) =>
            (message.Topic, message.Type, message.From, message.Dropped);
    }

    [Theory]
    [InlineData("break")]
    [InlineData("exception")]
    [InlineData("cancellation while it waits")]
    [InlineData("cancellation with messages left")]
    [InlineData("dispose")]
    public async Task Leaving_a_stream_ends_the_subscription_before_the_next_request(string how)
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a");
        using var cancel = new CancellationTokenSource();
        int read = 0;
        Task reading = ReadAsync();

        await Patience.UntilAsync(() => server.Counts.SubscriptionsOpen == 1, "the client is subscribed");
        await a.PublishAsync("x", 1, new byte[1]).InTimeAsync();
        await a.PublishAsync("x", 2, new byte[1]).InTimeAsync();
        switch (how)
        {
            case "exception":
                await Assert.ThrowsAsync<InvalidOperationException>(() => reading.InTimeAsync());
                break;
            case "cancellation while it waits":
                await Patience.UntilAsync(() => Volatile.Read(ref read) == 2, "both messages were read");
                await cancel.CancelAsync();
                await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reading.InTimeAsync());
                break;
            case "cancellation with messages left":
                await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reading.InTimeAsync());
                Assert.Equal(1, read);
                break;
            default:
                await reading.InTimeAsync();
                break;
        }

        Assert.Equal(0, await a.PublishAsync("x", 1, new byte[1]).InTimeAsync());
        Assert.Equal(0, server.Counts.SubscriptionsOpen);

        async Task ReadAsync()
        {
            if (how == "dispose")
            {
                IAsyncEnumerator<TopicMessage<ReadOnlyMemory<byte>>> enumerator = a.ReadTopicAsync("x").GetAsyncEnumerator();
                Assert.True(await enumerator.MoveNextAsync());
                await enumerator.DisposeAsync();
                return;
            }

            await foreach (TopicMessage<ReadOnlyMemory<byte>> message in a.ReadTopicAsync("x", cancellationToken: cancel.Token))
            {
                Interlocked.Increment(ref read);
                switch (how)
                {
                    case "break":
                        return;
                    case "exception":
                        throw new InvalidOperationException("The reader's own.");
                    case "cancellation with messages left":
                        await cancel.CancelAsync();
                        break;
                }
            }
        }
    }

    [Fact]
    public async Task A_prefix_has_one_subscription_until_its_last_receiver_leaves()
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a");
        var handled = Channel.CreateUnbounded<string>();
        await using Reader first = await Reader.StartAsync(a, "x");
        await a.SubscribeAsync("x", (scoped in RoutedMessage m) => handled.Writer.TryWrite($"{m.Type}")).InTimeAsync();
        await Assert.ThrowsAsync<InvalidOperationException>(() => a.SubscribeAsync("x", Ignore));
        await using Reader second = await Reader.StartAsync(a, "x");
        Assert.Equal(1, server.Counts.SubscriptionsOpen);

        Assert.Equal(1, await a.PublishAsync("x", 1, new byte[1]).InTimeAsync());
        Assert.Equal("x 1 00 from a, 0 dropped", await first.NextAsync());
        Assert.Equal("x 1 00 from a, 0 dropped", await second.NextAsync());
        Assert.Equal("1", await handled.Reader.ReadAsync().InTimeAsync());

        await first.DisposeAsync();
        Assert.Equal(1, await a.PublishAsync("x", 2, new byte[1]).InTimeAsync());
        Assert.Equal("x 2 00 from a, 0 dropped", await second.NextAsync());
        Assert.Equal("2", await handled.Reader.ReadAsync().InTimeAsync());

        await a.UnsubscribeAsync("x").InTimeAsync();
        Assert.Equal(1, await a.PublishAsync("x", 3, new byte[1]).InTimeAsync());
        Assert.Equal("x 3 00 from a, 0 dropped", await second.NextAsync());

        await a.SubscribeAsync("x", (scoped in RoutedMessage m) => handled.Writer.TryWrite($"{m.Type}")).InTimeAsync();
        await second.DisposeAsync();
        Assert.Equal(1, await a.PublishAsync("x", 4, new byte[1]).InTimeAsync());
        Assert.Equal("4", await handled.Reader.ReadAsync().InTimeAsync());

        await a.UnsubscribeAsync("x").InTimeAsync();
        Assert.Equal(0, await a.PublishAsync("x", 5, new byte[1]).InTimeAsync());
        Assert.Equal(0, server.Counts.SubscriptionsOpen);
    }

    [Fact]
    public async Task A_refused_subscription_is_thrown_to_the_reader_and_harms_no_other()
    {
        bool forbid = false;
        await using TestServer server = await RoutingWire.StartAsync(components: h => h.Authorizer = (request, _) =>
            new ValueTask<bool>(request.Type != ControlType.Subscribe || !Volatile.Read(ref forbid)));
        await using FastPortClient a = await ConnectAsync(server, "a");
        await using Reader stands = await Reader.StartAsync(a, "x");
        Volatile.Write(ref forbid, true);
        bool confirmed = false;

        foreach (string prefix in new[] { "x", "y" })
        {
            var refused = await Assert.ThrowsAsync<RequestFailedException>(
                () => a.ReadTopicAsync(prefix, onSubscribed: () => confirmed = true).FirstAsync().InTimeAsync());
            Assert.Equal(ErrorCode.Forbidden, refused.Code);
        }

        Assert.False(confirmed);
        Assert.Equal(1, await a.PublishAsync("x", 1, new byte[1]).InTimeAsync());
        Assert.Equal("x 1 00 from a, 0 dropped", await stands.NextAsync());
        Assert.Equal(1, server.Counts.SubscriptionsOpen);
    }

    [Theory]
    [InlineData(BoundedChannelFullMode.DropOldest, "8+7 9+0 10+0 11+0")]
    [InlineData(BoundedChannelFullMode.DropNewest, "1+0 2+0 10+7 11+0")]
    [InlineData(BoundedChannelFullMode.DropWrite, "1+0 2+0 3+0 11+7")]
    public async Task When_the_buffer_is_full_messages_are_dropped_and_the_reader_sees_how_many_and_where(
        BoundedChannelFullMode whenFull, string expected)
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a");
        var passed = new SemaphoreSlim(0);
        await a.SubscribeAsync("pass", (scoped in RoutedMessage _) => passed.Release()).InTimeAsync();
        var subscribed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using IAsyncEnumerator<TopicMessage<ReadOnlyMemory<byte>>> stream =
            a.ReadTopicAsync("x", capacity: 3, whenFull, subscribed.SetResult).GetAsyncEnumerator();
        ValueTask<bool> next = stream.MoveNextAsync();
        await subscribed.Task.InTimeAsync();

        // The reader takes message 0, and no more before the tenth is in the buffer.
        await PublishAsync(0);
        Assert.True(await next.InTimeAsync());
        Assert.Equal(((ushort)0, 0L), (stream.Current.Type, stream.Current.Dropped));
        for (ushort i = 1; i <= 10; i++)
        {
            await PublishAsync(i);
        }

        List<string> read = [];
        while (read.Count < 3)
        {
            await ReadAsync();
        }

        Assert.Equal(7, a.Counters.Snapshot().PublicationsDropped);
        await PublishAsync(11);
        await ReadAsync();
        Assert.Equal(expected, string.Join(' ', read));
        Assert.Equal(7, a.Counters.Snapshot().PublicationsDropped);

        async Task ReadAsync()
        {
            Assert.True(await stream.MoveNextAsync().InTimeAsync());
            read.Add($"{stream.Current.Type}+{stream.Current.Dropped}");
        }

        // Frames come in order: behind the marker the message is in the buffer.
        async Task PublishAsync(ushort type)
        {
            await a.PublishAsync("x", type, new byte[1]).InTimeAsync();
            await a.PublishAsync("pass", 1, new byte[1]).InTimeAsync();
            await passed.WaitAsync(Patience.Token);
        }
    }

    [Fact]
    public async Task A_reader_that_has_stopped_holds_up_nothing_else_of_the_session()
    {
        const int Messages = 20_000;
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a");
        int handled = 0;
        await a.SubscribeAsync("", (scoped in RoutedMessage _) => Interlocked.Increment(ref handled)).InTimeAsync();
        var subscribed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using IAsyncEnumerator<TopicMessage<ReadOnlyMemory<byte>>> stopped =
            a.ReadTopicAsync("x", capacity: 10, onSubscribed: subscribed.SetResult).GetAsyncEnumerator();
        ValueTask<bool> first = stopped.MoveNextAsync();
        await subscribed.Task.InTimeAsync();
        await using Reader reader = await Reader.StartAsync(a, "x", capacity: Messages);

        for (int i = 0; i < Messages; i++)
        {
            await a.PublishOneWayAsync("x", (ushort)i, new byte[100]);
        }

        Assert.Equal([1], await a.RequestAsync(TestServer.Echo, new byte[] { 1 }).InTimeAsync());
        await Patience.UntilAsync(() => Volatile.Read(ref handled) == Messages, "the handler has got every message");
        for (int i = 0; i < Messages; i++)
        {
            Assert.StartsWith($"x {(ushort)i} ", await reader.NextAsync(), StringComparison.Ordinal);
        }

        // It has taken the first one, holds ten, and the others are counted.
        Assert.True(await first.InTimeAsync());
        Assert.Equal(Messages - 11, a.Counters.Snapshot().PublicationsDropped);
        long dropped = stopped.Current.Dropped;
        for (int i = 0; i < 10; i++)
        {
            Assert.True(await stopped.MoveNextAsync().InTimeAsync());
            dropped += stopped.Current.Dropped;
        }

        Assert.Equal(Messages - 11, dropped);
    }

    [Fact]
    public async Task A_message_that_cannot_be_read_is_counted_and_the_stream_goes_on()
    {
        await using TestServer server = await RoutingWire.StartAsync();
        await using FastPortClient a = await ConnectAsync(server, "a");
        var subscribed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using IAsyncEnumerator<TopicMessage<int>> stream = a.ReadTopicAsync<int>(
            "x",
            static (scoped in RoutedMessage m) =>
                m.Body.IsEmpty ? throw new RequestRefusedException(ErrorCode.MalformedBody, "Empty.") : m.Body.FirstSpan[0],
            onSubscribed: subscribed.SetResult).GetAsyncEnumerator();
        ValueTask<bool> next = stream.MoveNextAsync();
        await subscribed.Task.InTimeAsync();
        await using Reader other = await Reader.StartAsync(a, "x");

        await a.PublishAsync("x", 1, ReadOnlyMemory<byte>.Empty).InTimeAsync();
        await a.PublishAsync("x", 2, new byte[] { 7 }).InTimeAsync();

        Assert.True(await next.InTimeAsync());
        Assert.Equal(new TopicMessage<int>("x", 2, 7, "a"), stream.Current);
        Assert.Equal("x 1  from a, 0 dropped", await other.NextAsync());
        Assert.Equal(1, a.Counters.Snapshot().OneWayFailuresWith((uint)ErrorCode.MalformedBody));
    }

    [Fact]
    public async Task Arguments_are_checked_before_anything_is_read()
    {
        await using var client = new FastPortClient(new FastPortClientOptions { Endpoint = "tcp://127.0.0.1:1" });

        Assert.Throws<ArgumentNullException>(() => client.ReadTopicAsync(null!));
        Assert.Throws<ArgumentNullException>(() => client.ReadTopicAsync<int>("x", null!));
        Assert.Throws<ArgumentOutOfRangeException>(() => client.ReadTopicAsync("x", capacity: 0));
        Assert.Throws<ArgumentOutOfRangeException>(() => client.ReadTopicAsync("x", whenFull: BoundedChannelFullMode.Wait));
        Assert.Throws<ArgumentOutOfRangeException>(() => client.ReadTopicAsync("x", whenFull: (BoundedChannelFullMode)9));
        var early = await Assert.ThrowsAsync<RequestFailedException>(() => client.ReadTopicAsync("x").FirstAsync().InTimeAsync());
        Assert.Equal(RequestFailure.NotConnected, early.Failure);
    }

    private static async Task<FastPortClient> ConnectAsync(
        TestServer server, string routingId, Action<FastPortClientOptions>? configure = null)
    {
        var options = new FastPortClientOptions
        {
            Endpoint = server.Endpoint.ToString(),
            RoutingId = routingId,
            ReconnectDelay = TimeSpan.FromMilliseconds(5),
        };
        configure?.Invoke(options);
        var client = new FastPortClient(options);
        await client.ConnectAsync();
        return client;
    }

    /// <summary>A task that reads a stream to its end, or until it is disposed.</summary>
    private sealed class Reader : IAsyncDisposable
    {
        private readonly Channel<string> _read = Channel.CreateUnbounded<string>();
        private readonly TaskCompletionSource _subscribed = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private readonly CancellationTokenSource _leave = new();
        private readonly Task _reading;

        private Reader(FastPortClient client, string prefix, int capacity) => _reading = ReadAsync(client, prefix, capacity);

        /// <summary>Begins, and returns when the subscription stands.</summary>
        public static async Task<Reader> StartAsync(FastPortClient client, string prefix, int capacity = 256)
        {
            var reader = new Reader(client, prefix, capacity);
            await Task.WhenAny(reader._subscribed.Task, reader._reading).InTimeAsync();
            Assert.True(reader._subscribed.Task.IsCompleted, $"The stream has failed: {reader._reading.Exception}");
            return reader;
        }

        /// <summary>The next message; null at the end.</summary>
        public async Task<string?> NextAsync() =>
            await _read.Reader.WaitToReadAsync().InTimeAsync() && _read.Reader.TryRead(out string? text) ? text : null;

        public async ValueTask DisposeAsync()
        {
            await _leave.CancelAsync();
            await _reading.InTimeAsync().ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            Assert.True(_reading.IsCompleted);
        }

        private async Task ReadAsync(FastPortClient client, string prefix, int capacity)
        {
            try
            {
                await foreach (TopicMessage<ReadOnlyMemory<byte>> m in client.ReadTopicAsync(
                    prefix, capacity, onSubscribed: _subscribed.SetResult).WithCancellation(_leave.Token))
                {
                    _read.Writer.TryWrite(
                        $"{m.Topic} {m.Type} {Convert.ToHexString(m.Body.Span)} from {m.From}, {m.Dropped} dropped");
                }

                _read.Writer.TryComplete();
            }
            catch (Exception e)
            {
                _read.Writer.TryComplete(e);
                throw;
            }
        }
    }
}
