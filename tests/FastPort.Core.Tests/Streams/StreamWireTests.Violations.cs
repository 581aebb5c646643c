using FastPort.Core.Tests.Support;
using Xunit;
using static FastPort.Core.Tests.Streams.RawStreams;

namespace FastPort.Core.Tests.Streams;

/// <content>What breaks the rules of streams: the stream ends, the session lives.</content>
public sealed partial class StreamWireTests
{
    [Theory]
    [InlineData(0x7FFF_FFFFu, 0u)]
    [InlineData(0u, 0x7FFF_FFFFu)]
    [InlineData(0xFFFF_FFFFu, 0xFFFF_FFFFu)]
    public async Task More_credit_than_2_to_the_31_ends_the_stream(uint messages, uint bytes)
    {
        await using TestServer server = await TestServer.StartAsync(static h => h.MapReplies(ForeverAsync));
        using RawPeer peer = await server.ConnectStreamingAsync();
        await peer.SendAsync(StreamWire.Open(Replies, 7, messages: 1, bytes: 1));

        await peer.SendAsync(StreamWire.CreditPost(7, messages, bytes, StreamWire.OfReplies));

        await peer.ExpectErrorAsync(Replies, 7, StreamWire.MalformedBody);
        await peer.PingAsync();
    }

    [Fact]
    public async Task A_first_grant_above_2_to_the_31_opens_nothing()
    {
        await using TestServer server = await TestServer.StartAsync(static h => h.MapReplies(ForeverAsync));
        using RawPeer peer = await server.ConnectStreamingAsync();

        await peer.SendAsync(StreamWire.Open(Replies, 7, messages: 0x8000_0000));

        await peer.ExpectErrorAsync(Replies, 7, StreamWire.MalformedBody);
        Assert.Equal(0, server.Counts.StreamsOpened);
    }

    // What the caller sends, and the error; null if nothing answers it.
    public static TheoryData<string, byte[], ushort, uint?> Openings => new()
    {
        { "one request without an announcement", Wire.Request(Replies, 7), Replies, StreamWire.MalformedBody },
        { "a stream of requests as one request", Wire.Request(Requests, 7, [1]), Requests, StreamWire.MalformedBody },
        { "the same with an empty body", Wire.Request(Requests, 7), Requests, StreamWire.MalformedBody },
        { "requests without an announcement", StreamWire.Item(Requests, 7), Requests, null },
        { "an item of nothing", StreamWire.Item(0x4000, 7, 1), 0x4000, null },
        { "a stream of a unary type", StreamWire.OpenRequests(TestServer.Echo, 7), TestServer.Echo, StreamWire.MalformedBody },
        { "an announced unary call", StreamWire.Open(TestServer.Echo, 7), TestServer.Echo, StreamWire.MalformedBody },
        { "an unknown type", StreamWire.Open(0x4000, 7), 0x4000, StreamWire.UnknownType },
        { "an unknown type with a stream", StreamWire.OpenRequests(0x4000, 7), 0x4000, StreamWire.UnknownType },
        { "Ping as a stream", StreamWire.OpenRequests(Wire.Ping, 7), Wire.Ping, StreamWire.MalformedBody },
        { "one request for a stream of requests", StreamWire.Open(Requests, 7), Requests, StreamWire.MalformedBody },
        { "a stream for one request", StreamWire.OpenRequests(Replies, 7), Replies, StreamWire.MalformedBody },
        {
            "a body in the opening", [.. StreamWire.Announce(7), .. StreamWire.Item(Requests, 7, 1)], Requests, StreamWire.MalformedBody
        },
        { "an announcement of another call", [.. StreamWire.Announce(8), .. Wire.Request(Replies, 7)], Replies, StreamWire.MalformedBody },
        {
            "an announcement that another request follows",
            [.. StreamWire.Announce(7), .. Wire.Post(TestServer.Echo), .. Wire.Request(Replies, 7)], Replies, StreamWire.MalformedBody
        },
        { "a request that is no item", StreamWire.Open(Replies, 7, NoItem), Replies, StreamWire.MalformedBody },
    };

    [Theory]
    [MemberData(nameof(Openings))]
    public async Task What_opens_no_call_is_refused_and_the_session_lives(string name, byte[] frames, ushort type, uint? error)
    {
        await using TestServer server = await TestServer.StartAsync(static h => h.MapReplies(ForeverAsync).MapRequests(SumAsync));
        using RawPeer peer = await server.ConnectStreamingAsync();

        await peer.SendAsync(frames);

        if (error is { } code)
        {
            Assert.NotEmpty(await peer.ExpectErrorAsync(type, 7, code));
        }

        await peer.PingAsync();
        Assert.NotEmpty(name);
        await Patience.UntilAsync(() => server.Counts.StreamsOpen == 0, "no stream is open");
    }

    // What follows the opening of a call 7 with requests.
    public static TheoryData<string, byte[], uint> Violations => new()
    {
        { "an item that does not parse", StreamWire.Item(Exchange, 7, NoItem), StreamWire.MalformedBody },
        { "an item after the end", [.. StreamWire.End(Exchange, 7), .. StreamWire.Item(Exchange, 7)], StreamWire.MalformedBody },
        { "two ends", [.. StreamWire.End(Exchange, 7), .. StreamWire.End(Exchange, 7)], StreamWire.MalformedBody },
        { "an end with a body", Wire.Request(Exchange, 7, [1]), StreamWire.MalformedBody },
        { "the same correlation again", StreamWire.OpenRequests(Exchange, 7), StreamWire.MalformedBody },
    };

    [Theory]
    [MemberData(nameof(Violations))]
    public async Task A_violation_ends_its_stream_and_cancels_its_handler(string name, byte[] frames, uint code)
    {
        var waiting = new Waiting();
        await using TestServer server = await TestServer.StartAsync(h => h.MapExchange((_, _, token) => waiting.WaitAsync(token)));
        using RawPeer peer = await server.ConnectStreamingAsync();
        await peer.SendAsync(StreamWire.OpenRequests(Exchange, 7));
        await peer.ExpectGrantAsync(7);
        await waiting.Begun.Task.InTimeAsync();

        await peer.SendAsync(frames);

        Assert.NotEmpty(await peer.ExpectErrorAsync(Exchange, 7, code));
        await waiting.Canceled.Task.InTimeAsync();
        await peer.PingAsync();
        Assert.NotEmpty(name);
        await Patience.UntilAsync(() => server.Counts.StreamsOpen == 0, "no stream is open");
    }
}
