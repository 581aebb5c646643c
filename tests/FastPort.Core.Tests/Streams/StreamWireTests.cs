using System.Runtime.CompilerServices;
using System.Threading.Channels;
using FastPort.Core.Tests.Support;
using Xunit;
using static FastPort.Core.Tests.Streams.RawStreams;

namespace FastPort.Core.Tests.Streams;

/// <summary>A server's streams, with peers that are bytes written by hand.</summary>
public sealed partial class StreamWireTests
{
    private const byte Reply = Wire.Reply;

    [Theory]
    [InlineData(2u, 2u)]
    [InlineData(3u, 3u)]
    [InlineData(0xFFFF_FFFFu, 11u)]
    [InlineData(1u, 1u)]
    public async Task A_server_agrees_if_the_client_offers(uint offered, uint agreed)
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();

        Assert.Equal(agreed, await peer.AgreeAsync(offered));
    }

    [Theory]
    [InlineData(StreamWire.More, 1u)]
    [InlineData(StreamWire.More | Wire.Reply, 1u)]
    [InlineData(StreamWire.More | Wire.OneWay, 2u)]
    [InlineData(StreamWire.More | Wire.Reply | Wire.Error, 2u)]
    [InlineData(64, 2u)]
    [InlineData(128, 2u)]
    public async Task More_is_malformed_without_agreement_and_on_one_way_and_error_frames(byte flags, uint extensions)
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectAsync();
        await peer.AgreeAsync(extensions);

        await peer.SendAsync(Wire.Frame(Replies, flags, 7, []));

        await peer.ExpectErrorAsync(Replies, 0, StreamWire.MalformedFrame);
        await peer.ExpectEndAsync();
    }

    [Fact]
    public async Task Without_agreement_Credit_is_an_unknown_type_and_a_stream_is_refused()
    {
        await using TestServer server = await TestServer.StartAsync(static h => h.MapReplies(static (_, _, _) => Numbers(1)));
        using RawPeer peer = await server.ConnectKnownAsync();

        await peer.SendAsync(Wire.Request(StreamWire.Credit, 1), Wire.Request(Replies, 2));

        await peer.ExpectErrorAsync(StreamWire.Credit, 1, StreamWire.UnknownType);
        await peer.ExpectErrorAsync(Replies, 2, StreamWire.MalformedBody);
        await peer.PingAsync();
    }

    [Fact]
    public async Task One_request_is_answered_with_items_and_an_end()
    {
        await using TestServer server = await TestServer.StartAsync(static h => h.MapReplies(static (request, _, _) => Twice(request)));
        using RawPeer peer = await server.ConnectStreamingAsync();

        await peer.SendAsync(StreamWire.Open(Replies, 7, [5]));

        await peer.ExpectItemAsync(Replies, 7, 5);
        await peer.ExpectItemAsync(Replies, 7, 5);
        await peer.ExpectEndAsync(Replies, 7);
        await peer.PingAsync();

        static async IAsyncEnumerable<byte[]> Twice(byte[] request)
        {
            yield return request;
            await Task.Yield();
            yield return request;
        }
    }

    [Fact]
    public async Task Requests_are_granted_then_read_and_answered_with_one_reply()
    {
        await using TestServer server = await TestServer.StartAsync(static h => h.MapRequests(SumAsync));
        using RawPeer peer = await server.ConnectStreamingAsync();

        await peer.SendAsync(StreamWire.OpenRequests(Requests, 7, 0, 0));

        Assert.Equal((StreamWire.Window, StreamWire.WindowBytes), await peer.ExpectGrantAsync(7));
        await peer.SendAsync(
            StreamWire.Item(Requests, 7, 1), StreamWire.Item(Requests, 7), StreamWire.Item(Requests, 7, 2, 3),
            StreamWire.End(Requests, 7));
        await peer.ExpectEndAsync(Requests, 7, 6, 3);
        await peer.PingAsync();
    }

    [Fact]
    public async Task The_two_directions_of_an_exchange_are_independent()
    {
        await using TestServer server = await TestServer.StartAsync(static h => h.MapExchange(Late));
        using RawPeer peer = await server.ConnectStreamingAsync();

        await peer.SendAsync(StreamWire.OpenRequests(Exchange, 7));

        await peer.ExpectGrantAsync(7);
        await peer.SendAsync(StreamWire.Item(Exchange, 7, 1), StreamWire.End(Exchange, 7));
        await peer.ExpectItemAsync(Exchange, 7, 1);
        await peer.ExpectItemAsync(Exchange, 7, 9);
        await peer.ExpectEndAsync(Exchange, 7);

        static async IAsyncEnumerable<byte[]> Late(
            IAsyncEnumerable<byte[]> requests, StreamContext context, [EnumeratorCancellation] CancellationToken token)
        {
            await foreach (byte[] request in requests.WithCancellation(token))
            {
                yield return request;
            }

            yield return [9];
        }
    }

    [Fact]
    public async Task A_handler_may_end_before_the_requests_and_what_is_under_way_is_ignored()
    {
        await using TestServer server = await TestServer.StartAsync(static h => h.MapRequests(static (_, _, _) => new([1])));
        using RawPeer peer = await server.ConnectStreamingAsync();
        await peer.SendAsync(StreamWire.OpenRequests(Requests, 7, 0, 0));
        await peer.ExpectGrantAsync(7);
        await peer.ExpectEndAsync(Requests, 7, 1);

        await peer.SendAsync(
            StreamWire.Item(Requests, 7, 1), StreamWire.End(Requests, 7), StreamWire.CreditPost(7, 1, 1, StreamWire.OfReplies),
            Wire.CancelPost(7));

        await peer.PingAsync();
        Assert.Equal(0, server.Counts.RepliesToNothing);
    }

    [Fact]
    public async Task Cancel_ends_the_call_at_once_and_no_frame_follows()
    {
        var waiting = new Waiting();
        await using TestServer server = await TestServer.StartAsync(h => h.MapExchange((_, _, token) => waiting.WaitAsync(token)));
        using RawPeer peer = await server.ConnectStreamingAsync();
        await peer.SendAsync(StreamWire.OpenRequests(Exchange, 7));
        await peer.ExpectGrantAsync(7);
        await waiting.Begun.Task.InTimeAsync();

        await peer.SendAsync(Wire.CancelPost(7));

        await waiting.Canceled.Task.InTimeAsync();
        await peer.PingAsync();
        Assert.Equal((1, 1), (server.Counts.StreamsOpened, server.Counts.StreamsEnded));
    }

    [Fact]
    public async Task A_handlers_failure_ends_the_call_behind_its_items()
    {
        await using TestServer server = await TestServer.StartAsync(static h => h
            .MapReplies(static (_, _, _) => FailAsync(new RequestRefusedException(ErrorCode.NotFound, "There is no more.")))
            .MapReplies(static (_, _, _) => FailAsync(new InvalidOperationException("secret")), type: 0x2010));
        using RawPeer peer = await server.ConnectStreamingAsync();

        await peer.SendAsync(StreamWire.Open(Replies, 7));
        await peer.ExpectItemAsync(Replies, 7, 1);
        Assert.Equal("There is no more.", await peer.ExpectErrorAsync(Replies, 7, 12));
        await peer.SendAsync(StreamWire.Open(0x2010, 8));
        await peer.ExpectItemAsync(0x2010, 8, 1);
        Assert.DoesNotContain("secret", await peer.ExpectErrorAsync(0x2010, 8, StreamWire.Internal), StringComparison.Ordinal);
        await peer.PingAsync();
    }

    [Fact]
    public async Task A_thousand_half_open_streams_meet_the_limit_and_the_session_is_still_read()
    {
        await using TestServer server = await TestServer.StartAsync(static h => h.MapExchange(Echo));
        using RawPeer peer = await server.ConnectStreamingAsync();

        for (uint call = 1; call <= 1000; call++)
        {
            await peer.SendAsync(StreamWire.OpenRequests(Exchange, call));
            if (call <= 128)
            {
                await peer.ExpectGrantAsync(call);
            }
            else
            {
                await peer.ExpectErrorAsync(Exchange, call, StreamWire.Overloaded);
            }
        }

        await peer.PingAsync();
        await peer.SendAsync(StreamWire.Item(Exchange, 77, 7), StreamWire.End(Exchange, 77));
        await peer.ExpectItemAsync(Exchange, 77, 7);
        await peer.ExpectEndAsync(Exchange, 77);
        await peer.SendAsync(StreamWire.OpenRequests(Exchange, 2000));
        await peer.ExpectGrantAsync(2000);
    }

    [Fact]
    public async Task The_end_of_the_peers_output_ends_its_streams()
    {
        var waiting = new Waiting();
        await using TestServer server = await TestServer.StartAsync(h => h.MapExchange((_, _, token) => waiting.WaitAsync(token)));
        using RawPeer peer = await server.ConnectStreamingAsync();
        await peer.SendAsync(StreamWire.OpenRequests(Exchange, 7));
        await peer.ExpectGrantAsync(7);
        await waiting.Begun.Task.InTimeAsync();

        peer.ShutdownSend();

        await waiting.Canceled.Task.InTimeAsync();
        await peer.ExpectEndAsync();
        Assert.Equal(CloseKind.PeerClosed, (await server.CloseReasonAsync()).Kind);
    }

    private static async ValueTask<byte[]> SumAsync(IAsyncEnumerable<byte[]> requests, StreamContext context, CancellationToken token)
    {
        byte sum = 0, count = 0;
        await foreach (byte[] request in requests)
        {
            sum += (byte)request.Sum(static b => b);
            count++;
        }

        return [sum, count];
    }

    // Reads the number of items that the test releases, and replies with their number.
    private static async ValueTask<byte[]> TakeAsync(IAsyncEnumerable<byte[]> requests, ChannelReader<int> takes, CancellationToken token)
    {
        await using IAsyncEnumerator<byte[]> items = requests.GetAsyncEnumerator(token);
        byte taken = 0;
        while (true)
        {
            int count = await takes.ReadAsync(token);
            for (int i = 0; i < count; i++)
            {
                if (!await items.MoveNextAsync())
                {
                    return [taken];
                }

                taken++;
            }
        }
    }

    private static async IAsyncEnumerable<byte[]> ForeverAsync(
        byte[] request, StreamContext context, [EnumeratorCancellation] CancellationToken token)
    {
        await Task.Delay(Timeout.Infinite, token);
        yield return request;
    }

    private static async IAsyncEnumerable<byte[]> FailAsync(Exception failure)
    {
        yield return [1];
        await Task.Yield();
        throw failure;
    }

    /// <summary>A handler that waits for its end.</summary>
    private sealed class Waiting
    {
        public TaskCompletionSource Begun { get; } = new();

        public TaskCompletionSource Canceled { get; } = new();

        public async IAsyncEnumerable<byte[]> WaitAsync([EnumeratorCancellation] CancellationToken token)
        {
            Begun.SetResult();
            try
            {
                await Task.Delay(Timeout.Infinite, token);
            }
            finally
            {
                Canceled.SetResult();
            }

            yield return [];
        }
    }
}
