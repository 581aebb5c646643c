using System.Diagnostics;
using System.Runtime.CompilerServices;
using FastPort.Core.Tests.Support;
using FastPort.Telemetry;
using Xunit;
using static FastPort.Core.Tests.Streams.RawStreams;

namespace FastPort.Core.Tests.Streams;

/// <summary>Streams and what surrounds every message: the authorizer, rates, latencies, traces, transports.</summary>
[Collection<TraceCollection>]
public sealed class StreamSurroundingsTests
{
    private readonly TaskCompletionSource _release = new(TaskCreationOptions.RunContinuationsAsynchronously);

    [Fact]
    public async Task The_authorizer_is_asked_once_for_each_call_and_may_take_its_time()
    {
        int asked = 0;
        await using TestServer server = await TestServer.StartAsync(
            static h => h.MapReplies(static (request, _, _) => Numbers(Number(request))).MapExchange(Echo),
            components: c => c.Authorizer = async (request, _) =>
            {
                Interlocked.Increment(ref asked);
                await Task.Yield();
                return request.Type != Exchange;
            });
        using RawPeer peer = await server.ConnectStreamingAsync();

        await peer.SendAsync(StreamWire.Open(Replies, 7, [2, 0, 0, 0]), StreamWire.OpenRequests(Exchange, 8));

        // The handler of the first and the refusal of the second run at the same time.
        List<WireFrame> frames = [];
        for (int i = 0; i < 4; i++)
        {
            frames.Add(await peer.ReadFrameAsync());
        }

        Assert.Equal(
            [(byte)(Wire.Reply | StreamWire.More), (byte)(Wire.Reply | StreamWire.More), Wire.Reply],
            frames.Where(static f => f.Correlation == 7).Select(static f => f.Flags));
        WireFrame refused = Assert.Single(frames, static f => f.Correlation == 8);
        Assert.Equal((Wire.Reply | Wire.Error, (uint)ErrorCode.Forbidden), (refused.Flags, refused.ErrorCode));
        await peer.SendAsync(StreamWire.Item(Exchange, 8, 1), StreamWire.End(Exchange, 8));
        WireFrame stale = await peer.ReadFrameAsync();
        Assert.Equal((8u, StreamWire.MalformedBody), (stale.Correlation, stale.ErrorCode));
        await peer.PingAsync();
        Assert.Equal(2, asked);
    }

    [Fact]
    public async Task An_item_over_a_rate_that_refuses_ends_its_call()
    {
        await using TestServer server = await TestServer.StartAsync(
            static h => h.MapExchange(Echo),
            static options =>
            {
                options.Rates.PerAddress.MessagesPerSecond = 5;
                options.Rates.WhenExceeded = RateExceededPolicy.Refuse;
            });
        using RawPeer peer = await server.ConnectStreamingAsync();
        await peer.SendAsync(StreamWire.OpenRequests(Exchange, 7));
        await peer.ExpectGrantAsync(7);
        for (byte i = 0; i < 10; i++)
        {
            // Each in a burst of its own, after which it is charged.
            await peer.SendAsync(StreamWire.Item(Exchange, 7, i));
            WireFrame answer = await peer.ReadFrameAsync();
            if (answer.IsError)
            {
                Assert.Equal((7u, StreamWire.Overloaded), (answer.Correlation, answer.ErrorCode));
                await Patience.UntilAsync(() => server.Counts.StreamsOpen == 0, "the call has ended");
                return;
            }
        }

        Assert.Fail("The rate refused nothing.");
    }

    [Fact]
    public async Task The_latency_of_a_stream_is_that_of_its_first_item()
    {
        var stats = new LatencyStats(LatencyRole.Server);
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapReplies((_, _, token) => TwoAsync(token)), components: c => c.LatencyStats = stats);
        using RawPeer peer = await server.ConnectStreamingAsync();

        await peer.SendAsync(StreamWire.Open(Replies, 7));
        await peer.ExpectItemAsync(Replies, 7, 1);
        await Patience.UntilAsync(() => Recorded() == 1, "the first item was recorded");
        _release.SetResult();
        await peer.ExpectItemAsync(Replies, 7, 2);
        await peer.ExpectEndAsync(Replies, 7);
        await Patience.UntilAsync(() => server.Counts.StreamsOpen == 0, "the call has ended");
        await peer.PingAsync();

        Assert.Equal(1, Recorded());

        long Recorded() => stats.Read().Types.SingleOrDefault(static type => type.Key == Replies)?.Metrics[0].Lifetime.Count ?? 0;
    }

    [Fact]
    public async Task A_call_is_one_activity_on_each_side_and_the_handlers_is_the_callers_child()
    {
        using var activities = new RecordedActivities();
        await using StreamPair pair = await StreamPair.StartAsync(inProcess: false, h => h.MapReplies((_, _, token) => TwoAsync(token)));
        using Activity test = RecordedActivities.Begin();
        int items = 0;

        await foreach (byte[] _ in Stream(pair.Client))
        {
            Assert.Same(test, Activity.Current);
            items++;
            _release.TrySetResult();
        }

        Assert.Equal(2, items);
        Activity sent = await activities.OneAsync(ActivityKind.Client, "0x2000");
        Activity handled = await activities.OneAsync(ActivityKind.Server, "Replies");
        Assert.Equal((test.SpanId, sent.SpanId), (sent.ParentSpanId, handled.ParentSpanId));
        Assert.Equal((ActivityStatusCode.Unset, ActivityStatusCode.Unset), (sent.Status, handled.Status));
    }

    [Fact]
    public async Task The_activities_of_a_call_that_its_reader_leaves_have_failed()
    {
        using var activities = new RecordedActivities();
        await using StreamPair pair = await StreamPair.StartAsync(inProcess: false, h => h.MapReplies((_, _, token) => TwoAsync(token)));

        await foreach (byte[] _ in Stream(pair.Client))
        {
            break;
        }

        Activity sent = await activities.OneAsync(ActivityKind.Client, "0x2000");
        Activity handled = await activities.OneAsync(ActivityKind.Server, "Replies");
        Assert.Equal(("Canceled", "Canceled"), (sent.GetTagItem("error.type"), handled.GetTagItem("error.type")));
    }

    [Fact]
    public async Task A_listener_that_throws_at_the_end_of_a_call_keeps_no_caller_waiting()
    {
        using var activities = new RecordedActivities();
        activities.Stopped = static activity =>
        {
            if (activity.Kind == ActivityKind.Client)
            {
                throw new InvalidOperationException("A defect in a listener.");
            }
        };
        await using StreamPair pair = await StreamPair.StartAsync(inProcess: false, static h => h
            .MapReplies(static (request, _, _) => Numbers(Number(request)))
            .MapRequests(static async (requests, _, token) => BitConverter.GetBytes(await requests.CountAsync(token))));

        Assert.Equal(3, await Stream(pair.Client, BitConverter.GetBytes(3)).CountAsync().InTimeAsync());
        Assert.Equal(4, Number(await SendAsync(pair.Client, Numbers(4)).InTimeAsync()));
        activities.Stopped = null;
        await pair.ExpectNothingLeftAsync(streams: 2);
    }

    [Theory]
    [InlineData(TransportKind.Auto)]
    [InlineData(TransportKind.Sockets)]
    public async Task Streams_pass_every_transport(TransportKind transport)
    {
        await using StreamPair pair = await StreamPair.StartAsync(
            inProcess: false, static h => h.MapExchange(Echo), options => options.Transport = transport,
            options => options.Transport = transport);

        int[] counts = await Task.WhenAll(Enumerable.Range(0, 20).Select(async _ =>
        {
            int count = 0;
            await foreach (byte[] item in ExchangeAsync(pair.Client, Numbers(3_000)))
            {
                Assert.Equal(count++, Number(item));
            }

            return count;
        }));

        Assert.All(counts, static count => Assert.Equal(3_000, count));
        await pair.ExpectNothingLeftAsync(streams: 20);
    }

    private async IAsyncEnumerable<byte[]> TwoAsync([EnumeratorCancellation] CancellationToken token)
    {
        yield return [1];
        await _release.Task.WaitAsync(token);
        yield return [2];
    }
}
