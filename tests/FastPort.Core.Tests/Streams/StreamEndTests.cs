using System.Runtime.CompilerServices;
using FastPort.Core.Tests.Support;
using FastPort.Sessions.Streams;
using Xunit;
using static FastPort.Core.Tests.Streams.RawStreams;

namespace FastPort.Core.Tests.Streams;

/// <summary>Both ends of a stream, over sockets and within the process: what is sent arrives, and each end ends both once.</summary>
public sealed partial class StreamEndTests
{
    private readonly Ends _handler = new();
    private readonly Ends _producer = new();

    public static TheoryData<bool> Links => [false, true];

    [Theory]
    [MemberData(nameof(Links))]
    public async Task Items_arrive_in_order_in_both_directions(bool inProcess)
    {
        await using StreamPair pair = await StreamPair.StartAsync(inProcess, static h => h
            .MapReplies(static (request, _, _) => Numbers(Number(request)))
            .MapRequests(static async (requests, _, _) => BitConverter.GetBytes(await CountInOrderAsync(requests)))
            .MapExchange(Echo));
        const int Count = 20_000;

        Assert.Equal(Count, await CountInOrderAsync(Stream(pair.Client, BitConverter.GetBytes(Count))));
        Assert.Equal(Count, Number(await SendAsync(pair.Client, Numbers(Count))));
        Assert.Equal(Count, await CountInOrderAsync(ExchangeAsync(pair.Client, Numbers(Count))));
        Assert.Equal(0, await CountInOrderAsync(ExchangeAsync(pair.Client, Numbers(0))));
        await pair.ExpectNothingLeftAsync(streams: 4);
    }

    [Theory]
    [MemberData(nameof(Links))]
    public async Task A_server_calls_its_client(bool inProcess)
    {
        MessageHandlers handlers = new MessageHandlers().MapExchange(Echo);
        await using StreamPair pair = await StreamPair.StartAsync(inProcess, static _ => { }, clientHandlers: handlers);
        Session session = pair.Server.Server.Sessions.Single();

        Assert.Equal(3_000, await CountInOrderAsync(ExchangeAsync(session, Numbers(3_000))));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Consumers_on_the_loop_read_as_those_on_the_pool(bool onLoop)
    {
        await using StreamPair pair = await StreamPair.StartAsync(
            inProcess: false, static h => h.MapExchange(Echo), client: options => options.RunContinuationsOnLoop = onLoop);

        int[] counts = await Task.WhenAll(
            Enumerable.Range(0, 20).Select(_ => CountInOrderAsync(ExchangeAsync(pair.Client, Numbers(2_000)))));

        Assert.All(counts, static count => Assert.Equal(2_000, count));
        await pair.ExpectNothingLeftAsync(streams: 20);
    }

    [Theory]
    [InlineData("break")]
    [InlineData("throw")]
    [InlineData("cancel")]
    [InlineData("cancel by enumerator")]
    public async Task A_consumer_that_leaves_ends_both_sides_once(string how)
    {
        await using StreamPair pair = await StreamPair.StartAsync(inProcess: false, h => h.MapExchange(_handler.ExchangeForever));
        using var canceling = new CancellationTokenSource();

        Exception? failure = await Record.ExceptionAsync(async () =>
        {
            IAsyncEnumerable<byte[]> replies = how == "cancel by enumerator"
                ? ExchangeAsync(pair.Client, _producer.Forever())
                : ExchangeAsync(pair.Client, _producer.Forever(), cancellationToken: canceling.Token);
            int read = 0;
            await foreach (byte[] item in replies.WithCancellation(how == "cancel by enumerator" ? canceling.Token : default))
            {
                if (++read == 1_000)
                {
                    if (how == "break")
                    {
                        break;
                    }

                    if (how == "throw")
                    {
                        throw new FormatException("Enough.");
                    }

                    canceling.Cancel();
                }
            }
        });

        Assert.Equal(
            how switch { "break" => null, "throw" => typeof(FormatException), _ => typeof(OperationCanceledException) },
            failure?.GetType());
        await pair.ExpectNothingLeftAsync(streams: 1);
        await _handler.ExpectAsync(begun: 1, ended: 1);
        await _producer.ExpectAsync(begun: 1, ended: 1);
    }

    [Fact]
    public async Task A_producer_that_throws_ends_both_sides_and_the_caller_gets_its_exception()
    {
        await using StreamPair pair = await StreamPair.StartAsync(
            inProcess: false, h => h.MapExchange(_handler.ExchangeForever).MapRequests(_handler.ReadAsync));

        await Assert.ThrowsAsync<FormatException>(() => CountInOrderAsync(ExchangeAsync(pair.Client, Failing())).InTimeAsync());
        await Assert.ThrowsAsync<FormatException>(() => SendAsync(pair.Client, Failing()).InTimeAsync());

        await pair.ExpectNothingLeftAsync(streams: 2);
        await _handler.ExpectAsync(begun: 2, ended: 2);

        // A call that is canceled before its handler begins is not run.
        async IAsyncEnumerable<byte[]> Failing()
        {
            int read = _handler.Read;
            yield return BitConverter.GetBytes(0);
            await Patience.UntilAsync(() => _handler.Read > read, "the handler has read the item");
            throw new FormatException("Out of items.");
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_handler_that_throws_ends_both_sides(bool refuses)
    {
        await using StreamPair pair = await StreamPair.StartAsync(inProcess: false, h => h.MapExchange((_, _, _) => Failing()));

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => CountInOrderAsync(ExchangeAsync(pair.Client, _producer.Forever())).InTimeAsync());

        Assert.Equal(refuses ? ErrorCode.Forbidden : ErrorCode.Internal, failure.Code);
        await pair.ExpectNothingLeftAsync(streams: 1);
        await _producer.ExpectAsync(begun: 1, ended: 1);

        async IAsyncEnumerable<byte[]> Failing()
        {
            yield return BitConverter.GetBytes(0);
            await Task.Yield();
            throw refuses ? new RequestRefusedException(ErrorCode.Forbidden, "No.") : new FormatException("Broken.");
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_killed_peer_ends_the_streams_of_the_other(bool killsClient)
    {
        await using StreamPair pair = await StreamPair.StartAsync(inProcess: false, h => h.MapExchange(_handler.ExchangeForever));
        Task<int> reading = CountInOrderAsync(ExchangeAsync(pair.Client, _producer.Forever()));
        await Patience.UntilAsync(() => _handler.Read > 1_000, "items are under way");

        Session killed = killsClient ? pair.Client.Session! : pair.Server.Server.Sessions.Single();
        killed.Abort();

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(() => reading.InTimeAsync());
        Assert.Equal(RequestFailure.ConnectionLost, failure.Failure);
        await _handler.ExpectAsync(begun: 1, ended: 1);
        await _producer.ExpectAsync(begun: 1, ended: 1);
        await Patience.UntilAsync(
            () => (pair.Server.Counts.StreamsOpen, pair.Client.Counters.Snapshot().StreamsOpen) == (0, 0), "no stream is open");
    }

    [Fact]
    public async Task An_item_above_the_frame_limit_ends_the_call()
    {
        await using StreamPair pair = await StreamPair.StartAsync(
            inProcess: false,
            static h => h.MapReplies(static (_, _, _) => Large()).MapRequests(static async (requests, _, _) =>
            {
                await foreach (byte[] _ in requests)
                {
                }

                return [];
            }));

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => CountInOrderAsync(Stream(pair.Client)).InTimeAsync());
        Assert.Equal(ErrorCode.ReplyTooLarge, failure.Code);
        await Assert.ThrowsAsync<ArgumentException>(() => SendAsync(pair.Client, Large()).InTimeAsync());
        await pair.ExpectNothingLeftAsync(streams: 2);

        static async IAsyncEnumerable<byte[]> Large()
        {
            await Task.Yield();
            yield return new byte[2 * 1024 * 1024];
        }
    }

    [Fact]
    public async Task One_more_stream_than_may_be_open_is_Overloaded_and_requests_are_not_held_up()
    {
        await using StreamPair pair = await StreamPair.StartAsync(
            inProcess: false, h => h.MapExchange(_handler.ExchangeForever), server: static options =>
            {
                options.Session.MaxStreams = 3;
                options.Session.MaxInFlightRequests = 1;
            });
        using var canceling = new CancellationTokenSource();
        Task[] open =
        [
            .. Enumerable.Range(0, 3).Select(_ => CountInOrderAsync(
                ExchangeAsync(pair.Client, _producer.Forever(), cancellationToken: canceling.Token))),
        ];
        await Patience.UntilAsync(() => _handler.Begun == 3, "three are open");

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(
            () => CountInOrderAsync(ExchangeAsync(pair.Client, Numbers(1))).InTimeAsync());

        Assert.Equal(ErrorCode.Overloaded, failure.Code);
        Assert.Equal([1], await pair.Client.RequestAsync(TestServer.Echo, new byte[] { 1 }).InTimeAsync());
        canceling.Cancel();
        await Task.WhenAll(open).InTimeAsync().ContinueWith(static _ => { }, TaskScheduler.Default);
        await pair.ExpectNothingLeftAsync(streams: 3, refused: 1);
        await _handler.ExpectAsync(begun: 3, ended: 3);
    }

    [Fact]
    public async Task A_stream_without_a_session_waits_for_one_and_a_closed_client_refuses()
    {
        await using StreamPair pair = await StreamPair.StartAsync(
            inProcess: false, static h => h.MapReplies(static (_, _, _) => Numbers(3)));
        var fresh = new FastPortClient(new FastPortClientOptions { Endpoint = pair.Server.Endpoint.ToString() });

        Assert.Equal(
            RequestFailure.NotConnected,
            (await Assert.ThrowsAsync<RequestFailedException>(() => CountInOrderAsync(Stream(fresh)))).Failure);
        Task connecting = fresh.ConnectAsync();
        Assert.Equal(3, await CountInOrderAsync(Stream(fresh)).InTimeAsync());
        await connecting;
        Session session = fresh.Session!;
        await fresh.CloseAsync();

        foreach (IStreamTarget closed in new IStreamTarget[] { fresh, session })
        {
            Assert.Equal(
                RequestFailure.Closed,
                (await Assert.ThrowsAsync<RequestFailedException>(() => CountInOrderAsync(Stream(closed)))).Failure);
        }
    }

    private static async Task<int> CountInOrderAsync(IAsyncEnumerable<byte[]> items)
    {
        int count = 0;
        await foreach (byte[] item in items)
        {
            Assert.Equal(count++, Number(item));
        }

        return count;
    }

    /// <summary>Counts how often a handler or producer begins and ends.</summary>
    private sealed class Ends
    {
        private int _begun;
        private int _ended;
        private int _read;

        public int Begun => Volatile.Read(ref _begun);

        public int Read => Volatile.Read(ref _read);

        public async IAsyncEnumerable<byte[]> ExchangeForever(
            IAsyncEnumerable<byte[]> requests, StreamContext context, [EnumeratorCancellation] CancellationToken token)
        {
            Interlocked.Increment(ref _begun);
            try
            {
                await foreach (byte[] request in requests.WithCancellation(token))
                {
                    Interlocked.Increment(ref _read);
                    yield return request;
                }
            }
            finally
            {
                Interlocked.Increment(ref _ended);
            }
        }

        public async ValueTask<byte[]> ReadAsync(IAsyncEnumerable<byte[]> requests, StreamContext context, CancellationToken token)
        {
            int read = 0;
            await foreach (byte[] _ in ExchangeForever(requests, context, token))
            {
                read++;
            }

            return BitConverter.GetBytes(read);
        }

        public async IAsyncEnumerable<byte[]> Forever([EnumeratorCancellation] CancellationToken token = default)
        {
            Interlocked.Increment(ref _begun);
            try
            {
                for (int i = 0; ; i++)
                {
                    if (i % 100 == 0)
                    {
                        await Task.Yield();
                        token.ThrowIfCancellationRequested();
                    }

                    yield return BitConverter.GetBytes(i);
                }
            }
            finally
            {
                Interlocked.Increment(ref _ended);
            }
        }

        public async Task ExpectAsync(int begun, int ended)
        {
            await Patience.UntilAsync(() => Volatile.Read(ref _ended) >= ended, "it has ended");
            Assert.Equal((begun, ended), (Begun, Volatile.Read(ref _ended)));
        }
    }
}
