using FastPort.Core.Tests.Clients;
using FastPort.Framing;
using Xunit;
using static FastPort.Core.Tests.Streams.RawStreams;

namespace FastPort.Core.Tests.Streams;

/// <summary>A client's streams, with servers that are bytes written by hand.</summary>
public sealed class StreamCallerTests
{
    private const FrameFlags Item = FrameFlags.Reply | FrameFlags.More;

    [Fact]
    public async Task A_call_is_announced_in_the_same_write_and_reads_items_until_the_end()
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateClient(server);
        using ScriptedPeer peer = await WelcomeAsync(server, client);
        IAsyncEnumerator<byte[]> items = Stream(client, [1, 2]).GetAsyncEnumerator();

        ValueTask<bool> first = items.MoveNextAsync();

        uint call = await ExpectOpeningAsync(peer, Replies, FrameFlags.None, [1, 2], 256, 128 * 1024);
        await peer.WriteAsync(Replies, Item, call, 3);
        Assert.True(await first.InTimeAsync());
        Assert.Equal([3], items.Current);
        await peer.WriteAsync(Replies, Item, call);
        Assert.True(await items.MoveNextAsync().InTimeAsync());
        Assert.Empty(items.Current);
        await peer.WriteAsync(Replies, FrameFlags.Reply, call);
        Assert.False(await items.MoveNextAsync().InTimeAsync());
        await items.DisposeAsync();
        await PassAsync(client, peer);
        Assert.Equal(0, client.Session!.OutstandingRequests);
    }

    [Fact]
    public async Task Requests_wait_for_the_first_grant_and_end_with_an_empty_request()
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateClient(server);
        using ScriptedPeer peer = await WelcomeAsync(server, client);

        Task<byte[]> reply = SendAsync(client, Numbers(3));

        uint call = await ExpectOpeningAsync(peer, Requests, FrameFlags.More, [], 0, 0);
        await PassAsync(client, peer);
        await peer.WriteRawAsync(StreamWire.CreditPost(call, 2, 100, StreamWire.OfRequests));
        await ExpectAsync(peer, Requests, FrameFlags.More, call, 0, 0, 0, 0);
        await ExpectAsync(peer, Requests, FrameFlags.More, call, 1, 0, 0, 0);
        await PassAsync(client, peer);
        await peer.WriteRawAsync(StreamWire.CreditPost(call, 1, 0, StreamWire.OfRequests));
        await ExpectAsync(peer, Requests, FrameFlags.More, call, 2, 0, 0, 0);
        await ExpectAsync(peer, Requests, FrameFlags.None, call);
        await peer.WriteAsync(Requests, FrameFlags.Reply, call, 8);
        Assert.Equal([8], await reply.InTimeAsync());
    }

    [Theory]
    [InlineData(0u)]
    [InlineData(1u)]
    public async Task A_peer_without_the_extension_sees_no_new_byte_and_the_call_fails_at_once(uint extensions)
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateClient(server);
        using ScriptedPeer peer = await WelcomeAsync(server, client, extensions);

        RequestFailedException replies = await Assert.ThrowsAsync<RequestFailedException>(() => CountAsync(Stream(client)));
        RequestFailedException sent = await Assert.ThrowsAsync<RequestFailedException>(() => SendAsync(client, Numbers(1)));
        RequestFailedException exchanged = await Assert.ThrowsAsync<RequestFailedException>(
            () => CountAsync(ExchangeAsync(client, Numbers(1))));

        Assert.All(
            [replies, sent, exchanged],
            static e => Assert.Equal((RequestFailure.NotSupported, ErrorCode.None), (e.Failure, e.Code)));
        Task<byte[]> unary = client.RequestAsync(0x3000, new byte[] { 1, 2 });
        ScriptedFrame frame = await peer.ReadAsync();
        Assert.Equal(
            Wire.Request(0x3000, frame.Header.Correlation, [1, 2]),
            Wire.Frame(frame.Header.Type, (byte)frame.Header.Flags, frame.Header.Correlation, frame.Body));
        await peer.ReplyAsync(frame);
        await unary.InTimeAsync();
    }

    [Fact]
    public async Task A_unary_call_that_is_answered_with_an_item_fails_and_is_canceled()
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateClient(server);
        using ScriptedPeer peer = await WelcomeAsync(server, client);
        Task<byte[]> unary = client.RequestAsync(0x3000, Array.Empty<byte>());
        ScriptedFrame request = await peer.ReadAsync();

        await peer.WriteAsync(0x3000, Item, request.Header.Correlation, 1);

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(() => unary.InTimeAsync());
        Assert.Equal(ErrorCode.MalformedBody, failure.Code);
        await ExpectCancelAsync(peer, request.Header.Correlation);
        await PassAsync(client, peer);
    }

    [Fact]
    public async Task An_item_without_credit_cancels_the_call_with_Overloaded()
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateClient(server, static options => options.Session.StreamWindowMessages = 2);
        using ScriptedPeer peer = await WelcomeAsync(server, client);
        IAsyncEnumerator<byte[]> items = Stream(client).GetAsyncEnumerator();
        ValueTask<bool> first = items.MoveNextAsync();
        uint call = await ExpectOpeningAsync(peer, Replies, FrameFlags.None, [], 2, 128 * 1024);
        byte[] item = Wire.Frame(Replies, (byte)Item, call, [1]);

        await peer.WriteRawAsync([.. item, .. item, .. item]);

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(async () =>
        {
            await first.InTimeAsync();
            while (await items.MoveNextAsync().InTimeAsync())
            {
            }
        });
        Assert.Equal((ErrorCode.Overloaded, null), (failure.Code, failure.Failure));
        await ExpectCancelAmongCreditAsync(peer, call);
    }

    [Fact]
    public async Task Too_much_credit_cancels_the_call_with_MalformedBody()
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateClient(server);
        using ScriptedPeer peer = await WelcomeAsync(server, client);
        Task<byte[]> reply = SendAsync(client, Numbers(1));
        uint call = await ExpectOpeningAsync(peer, Requests, FrameFlags.More, [], 0, 0);

        await peer.WriteRawAsync(StreamWire.CreditPost(call, 1, 0x8000_0000, StreamWire.OfRequests));

        Assert.Equal(
            ErrorCode.MalformedBody, (await Assert.ThrowsAsync<RequestFailedException>(() => reply.InTimeAsync())).Code);
        await ExpectCancelAsync(peer, call);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_reply_that_does_not_fit_the_stream_fails_the_call(bool isEnd)
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateClient(server);
        using ScriptedPeer peer = await WelcomeAsync(server, client);
        Task<int> count = CountAsync(Stream(client));
        uint call = await ExpectOpeningAsync(peer, Replies, FrameFlags.None, [], 256, 128 * 1024);

        await peer.WriteAsync(Replies, isEnd ? FrameFlags.Reply : Item, call, isEnd ? [1] : NoItem);

        if (isEnd)
        {
            Assert.Equal(ErrorCode.MalformedBody, (await Assert.ThrowsAsync<RequestFailedException>(() => count.InTimeAsync())).Code);
        }
        else
        {
            // What the reader of the items threw, as for one reply.
            await Assert.ThrowsAsync<FormatException>(() => count.InTimeAsync());
            await ExpectCancelAsync(peer, call);
        }

        await PassAsync(client, peer);
    }

    [Fact]
    public async Task An_item_for_one_reply_cancels_the_call()
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateClient(server);
        using ScriptedPeer peer = await WelcomeAsync(server, client);
        Task<byte[]> reply = SendAsync(client, Numbers(1));
        uint call = await ExpectOpeningAsync(peer, Requests, FrameFlags.More, [], 0, 0);

        await peer.WriteAsync(Requests, Item, call, 1);

        Assert.Equal(ErrorCode.Overloaded, (await Assert.ThrowsAsync<RequestFailedException>(() => reply.InTimeAsync())).Code);
        await ExpectCancelAsync(peer, call);
    }

    [Fact]
    public async Task Items_come_before_the_error_that_follows_them_and_what_follows_that_is_ignored()
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateClient(server);
        using ScriptedPeer peer = await WelcomeAsync(server, client);
        IAsyncEnumerator<byte[]> items = Stream(client).GetAsyncEnumerator();
        ValueTask<bool> first = items.MoveNextAsync();
        uint call = await ExpectOpeningAsync(peer, Replies, FrameFlags.None, [], 256, 128 * 1024);

        await peer.WriteRawAsync(
        [
            .. Wire.Frame(Replies, (byte)Item, call, [1]), .. Wire.Frame(Replies, (byte)Item, call, [2]),
            .. Wire.Frame(Replies, Wire.Reply | Wire.Error, call, [.. Wire.Number(1, 12), .. Wire.Text(2, "No more.")]),
            .. Wire.Frame(Replies, (byte)Item, call, [3]), .. StreamWire.CreditPost(call, 1, 1, StreamWire.OfRequests),
        ]);

        Assert.True(await first.InTimeAsync());
        Assert.True(await items.MoveNextAsync().InTimeAsync());
        Assert.Equal([2], items.Current);
        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(() => items.MoveNextAsync().AsTask());
        Assert.Equal(ErrorCode.NotFound, failure.Code);
        await items.DisposeAsync();
        await PassAsync(client, peer);
        Assert.Equal(0, client.Counters.Snapshot().RepliesToNothing);
    }

    [Fact]
    public async Task The_timeout_is_for_the_first_item_and_the_whole_timeout_for_the_call()
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateClient(server);
        using ScriptedPeer peer = await WelcomeAsync(server, client);

        Task<int> never = CountAsync(Stream(client, timeout: TimeSpan.FromMilliseconds(50)));
        uint call = await ExpectOpeningAsync(peer, Replies, FrameFlags.None, [], 256, 128 * 1024);
        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(() => never.InTimeAsync());
        Assert.Equal(RequestFailure.TimedOut, failure.Failure);
        await ExpectCancelAsync(peer, call);

        Task<int> whole = CountAsync(Stream(client, timeout: TimeSpan.FromSeconds(20), whole: TimeSpan.FromMilliseconds(400)));
        call = await ExpectOpeningAsync(peer, Replies, FrameFlags.None, [], 256, 128 * 1024);
        await peer.WriteAsync(Replies, Item, call);
        Assert.Equal(
            RequestFailure.TimedOut, (await Assert.ThrowsAsync<RequestFailedException>(() => whole.InTimeAsync())).Failure);
        await ExpectCancelAsync(peer, call);

        Task<int> first = CountAsync(Stream(client, timeout: TimeSpan.FromSeconds(20)));
        call = await ExpectOpeningAsync(peer, Replies, FrameFlags.None, [], 256, 128 * 1024);
        Assert.NotEqual(0, Deadline());
        await peer.WriteAsync(Replies, Item, call);
        await Patience.UntilAsync(() => Deadline() == 0, "the call has no deadline");
        await peer.WriteAsync(Replies, FrameFlags.Reply, call);
        Assert.Equal(1, await first.InTimeAsync());

        long Deadline() => client.Session!.Protocol.Requests.Outstanding.TryFind(call, Replies, out PendingReply? pending)
            ? pending!.DeadlineMilliseconds
            : -1;
    }

    [Fact]
    public async Task A_lost_connection_fails_the_call_and_it_is_not_made_again()
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateClient(server);
        ScriptedPeer peer = await WelcomeAsync(server, client);
        Task<int> count = CountAsync(Stream(client));
        await ExpectOpeningAsync(peer, Replies, FrameFlags.None, [], 256, 128 * 1024);

        peer.Dispose();

        Assert.Equal(
            RequestFailure.ConnectionLost, (await Assert.ThrowsAsync<RequestFailedException>(() => count.InTimeAsync())).Failure);
        using ScriptedPeer next = await server.AcceptAsync();
        await next.ReplyAsync(await next.ReadAsync(), ScriptedPeer.Encode(new WelcomeBody(2, "again", 0, 0, 2)));
        await PassAsync(client, next);
    }

    [Fact]
    public async Task A_stream_is_enumerated_once_and_not_opened_before()
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateClient(server);
        using ScriptedPeer peer = await WelcomeAsync(server, client);
        IAsyncEnumerable<byte[]> stream = Stream(client);
        await using (stream.GetAsyncEnumerator())
        {
            await PassAsync(client, peer);
        }

        Assert.Throws<InvalidOperationException>(() => stream.GetAsyncEnumerator());
    }

    [Fact]
    public async Task A_call_whose_reader_left_before_there_was_a_connection_is_not_made()
    {
        using var server = new ScriptedServer();
        await using FastPortClient client = CreateClient(server);
        Task connecting = client.ConnectAsync();
        using ScriptedPeer peer = await server.AcceptAsync();
        IAsyncEnumerator<byte[]> items = Stream(client).GetAsyncEnumerator();
        Task<bool> first = items.MoveNextAsync().AsTask();

        await items.DisposeAsync();
        await peer.ReplyAsync(await peer.ReadAsync(), ScriptedPeer.Encode(new WelcomeBody(1, "scripted", 0, 0, 2)));
        await connecting.InTimeAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => first.InTimeAsync());
        await PassAsync(client, peer);
        Assert.Equal(0, client.Session!.OutstandingRequests);
    }

    private static FastPortClient CreateClient(ScriptedServer server, Action<FastPortClientOptions>? configure = null)
    {
        var options = new FastPortClientOptions { Endpoint = server.Endpoint };
        configure?.Invoke(options);
        return new FastPortClient(options);
    }

    private static async Task<ScriptedPeer> WelcomeAsync(ScriptedServer server, FastPortClient client, uint extensions = 2)
    {
        Task connecting = client.ConnectAsync();
        ScriptedPeer peer = await server.AcceptAsync();
        await peer.ReplyAsync(await peer.ReadAsync(), ScriptedPeer.Encode(new WelcomeBody(1, "scripted", 0, 0, extensions)));
        await connecting.InTimeAsync();
        return peer;
    }

    private static async Task<uint> ExpectOpeningAsync(
        ScriptedPeer peer, ushort type, FrameFlags flags, byte[] body, uint messages, uint bytes)
    {
        ScriptedFrame credit = await peer.ReadAsync();
        ScriptedFrame request = await peer.ReadAsync();
        Assert.True(CreditBody.TryRead(credit.Body, out CreditBody grant));
        Assert.Equal((StreamWire.Credit, FrameFlags.OneWay), (credit.Header.Type, credit.Header.Flags));
        Assert.Equal(new CreditBody(request.Header.Correlation, messages, bytes, StreamWire.Opening), grant);
        Assert.Equal((type, flags), (request.Header.Type, request.Header.Flags));
        Assert.Equal(body, request.Body);
        return request.Header.Correlation;
    }

    private static async Task ExpectAsync(ScriptedPeer peer, ushort type, FrameFlags flags, uint call, params byte[] body)
    {
        ScriptedFrame frame = await peer.ReadAsync();
        Assert.Equal((type, flags, call), (frame.Header.Type, frame.Header.Flags, frame.Header.Correlation));
        Assert.Equal(body, frame.Body);
    }

    private static async Task ExpectCancelAsync(ScriptedPeer peer, uint call) =>
        await ExpectAsync(peer, ControlType.Cancel, FrameFlags.OneWay, 0, Wire.Number(1, call));

    // The consumer may have taken items meanwhile.
    private static async Task ExpectCancelAmongCreditAsync(ScriptedPeer peer, uint call)
    {
        ScriptedFrame frame = await peer.ReadAsync();
        while (frame.Header.Type == StreamWire.Credit)
        {
            frame = await peer.ReadAsync();
        }

        Assert.Equal(ControlType.Cancel, frame.Header.Type);
        Assert.Equal(Wire.Number(1, call), frame.Body);
    }

    // All before it was read, and it is the next frame of the client.
    private static async Task PassAsync(FastPortClient client, ScriptedPeer peer)
    {
        Task<byte[]> unary = client.RequestAsync(0x3001, Array.Empty<byte>());
        ScriptedFrame frame = await peer.ReadAsync();
        Assert.Equal((0x3001, FrameFlags.None), (frame.Header.Type, frame.Header.Flags));
        await peer.ReplyAsync(frame);
        await unary.InTimeAsync();
    }

    private static async Task<int> CountAsync(IAsyncEnumerable<byte[]> items)
    {
        int count = 0;
        await foreach (byte[] _ in items)
        {
            count++;
        }

        return count;
    }
}
