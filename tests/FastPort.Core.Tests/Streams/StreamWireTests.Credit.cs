using System.Threading.Channels;
using FastPort.Core.Tests.Support;
using FastPort.Dispatch;
using Xunit;
using static FastPort.Core.Tests.Streams.RawStreams;

namespace FastPort.Core.Tests.Streams;

/// <content>Credit: what may be sent, and when it is granted again.</content>
public sealed partial class StreamWireTests
{
    [Fact]
    public async Task Replies_wait_for_credit_in_messages_and_in_bytes()
    {
        await using TestServer server = await TestServer.StartAsync(static h => h.MapReplies(static (_, _, _) => Numbers(5)));
        using RawPeer peer = await server.ConnectStreamingAsync();

        // 4 bytes an item: with 2 messages, then with 5 bytes, which fall below 0 once.
        await peer.SendAsync(StreamWire.Open(Replies, 7, messages: 2, bytes: 1000));
        await peer.ExpectItemAsync(Replies, 7, 0, 0, 0, 0);
        await peer.ExpectItemAsync(Replies, 7, 1, 0, 0, 0);
        await peer.PingAsync();
        await peer.SendAsync(StreamWire.CreditPost(7, 1, 0, StreamWire.OfReplies));
        await peer.ExpectItemAsync(Replies, 7, 2, 0, 0, 0);

        // 988 bytes are left, then none after the next item.
        await peer.SendAsync(StreamWire.CreditPost(7, 2, 0, StreamWire.OfReplies));
        await peer.ExpectItemAsync(Replies, 7, 3, 0, 0, 0);
        await peer.ExpectItemAsync(Replies, 7, 4, 0, 0, 0);
        await peer.ExpectEndAsync(Replies, 7);
    }

    [Fact]
    public async Task An_item_larger_than_the_bytes_left_is_sent_once_and_its_debt_is_paid_first()
    {
        await using TestServer server = await TestServer.StartAsync(static h => h.MapReplies(static (_, _, _) => Numbers(3)));
        using RawPeer peer = await server.ConnectStreamingAsync();

        await peer.SendAsync(StreamWire.Open(Replies, 7, messages: 10, bytes: 1));

        await peer.ExpectItemAsync(Replies, 7, 0, 0, 0, 0);
        await peer.SendAsync(StreamWire.CreditPost(7, 0, 3, StreamWire.OfReplies));
        await peer.PingAsync();
        await peer.SendAsync(StreamWire.CreditPost(7, 0, 1, StreamWire.OfReplies));
        await peer.ExpectItemAsync(Replies, 7, 1, 0, 0, 0);
        await peer.PingAsync();
    }

    [Fact]
    public async Task Credit_is_granted_again_when_half_of_the_window_was_consumed_and_not_before()
    {
        var takes = Channel.CreateUnbounded<int>();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapRequests((requests, _, token) => TakeAsync(requests, takes.Reader, token)),
            static options => options.Session.StreamWindowMessages = 10);
        using RawPeer peer = await server.ConnectStreamingAsync();
        await peer.SendAsync(StreamWire.OpenRequests(Requests, 7, 0, 0));
        Assert.Equal((10u, StreamWire.WindowBytes), await peer.ExpectGrantAsync(7));
        for (int i = 0; i < 10; i++)
        {
            await peer.SendAsync(StreamWire.Item(Requests, 7, 1, 2, 3));
        }

        takes.Writer.TryWrite(4);
        await Patience.UntilAsync(() => takes.Reader.Count == 0, "four were taken");
        await peer.PingAsync();
        takes.Writer.TryWrite(1);

        Assert.Equal((5u, 15u), await peer.ExpectGrantAsync(7));
        await peer.SendAsync(Wire.CancelPost(7));
        await peer.PingAsync();
    }

    [Fact]
    public async Task An_item_without_credit_ends_its_stream_alone()
    {
        var takes = Channel.CreateUnbounded<int>();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapRequests((requests, _, token) => TakeAsync(requests, takes.Reader, token)),
            static options => options.Session.StreamWindowMessages = 2);
        using RawPeer peer = await server.ConnectStreamingAsync();
        await peer.SendAsync(StreamWire.OpenRequests(Requests, 7, 0, 0), StreamWire.OpenRequests(Requests, 8, 0, 0));
        await peer.ExpectGrantAsync(7);
        await peer.ExpectGrantAsync(8);

        await peer.SendAsync(
            StreamWire.Item(Requests, 7), StreamWire.Item(Requests, 7), StreamWire.Item(Requests, 7), StreamWire.Item(Requests, 7));

        await peer.ExpectErrorAsync(Requests, 7, StreamWire.Overloaded);
        var dispatcher = (RequestDispatcher)server.Opened[0].Protocol.Dispatcher;
        await Patience.UntilAsync(() => dispatcher.Streams!.Places == 1, "the handler has ended, and takes nothing of the other's");
        await peer.SendAsync(StreamWire.Item(Requests, 8), StreamWire.End(Requests, 8));
        takes.Writer.TryWrite(2);
        await peer.ExpectEndAsync(Requests, 8, 1);
        await peer.PingAsync();
    }

    [Fact]
    public async Task Empty_items_as_fast_as_possible_are_bounded_by_messages()
    {
        var takes = Channel.CreateUnbounded<int>();
        await using TestServer server = await TestServer.StartAsync(
            h => h.MapRequests((requests, _, token) => TakeAsync(requests, takes.Reader, token)));
        using RawPeer peer = await server.ConnectStreamingAsync();
        await peer.SendAsync(StreamWire.OpenRequests(Requests, 7, 0, 0));
        await peer.ExpectGrantAsync(7);

        await peer.SendAsync([.. Enumerable.Repeat(StreamWire.Item(Requests, 7), 100_000)]);

        await peer.ExpectErrorAsync(Requests, 7, StreamWire.Overloaded);
        await peer.PingAsync();
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_grant_that_is_no_Credit_message_is_counted_or_refused(bool isOneWay)
    {
        await using TestServer server = await TestServer.StartAsync();
        using RawPeer peer = await server.ConnectStreamingAsync();
        byte[] body = [0x0A, 100];

        await peer.SendAsync(isOneWay ? Wire.Post(StreamWire.Credit, body) : Wire.Request(StreamWire.Credit, 3, body));

        if (!isOneWay)
        {
            await peer.ExpectErrorAsync(StreamWire.Credit, 3, StreamWire.MalformedBody);
        }

        await peer.PingAsync();
        Assert.Equal(isOneWay ? 1 : 0, server.Counts.OneWayFailuresWith(StreamWire.MalformedBody));
    }
}
