using System.Runtime.CompilerServices;
using Xunit;

namespace FastPort.Protocol.Tests.Streams;

public sealed class TypedStreamTests
{
    private const ushort Count = 0x1000, Join = 0x1001, Shout = 0x1002, Unary = 0x1003;
    private const ushort Credit = 10;
    private const byte More = 32;

    private static MessageHandlers Handlers() => new MessageHandlers()
        .MapStream(Count, Echo.Parser, CountAsync)
        .MapStream(Join, Echo.Parser, JoinAsync)
        .MapStream(Shout, Echo.Parser, ShoutAsync)
        .MapInline(Unary, Echo.Parser, static (echo, _) => echo);

    [Fact]
    public async Task A_client_calls_all_three_kinds()
    {
        await using Loopback loop = await Loopback.StartAsync(Handlers());

        Assert.Equal(["0", "1", "2"], await TextsAsync(loop.Client.StreamAsync(Count, Loopback.Message("3"), Echo.Parser)));
        Echo joined = await loop.Client.SendStreamAsync(Join, Messages("a", "", "b"), Echo.Parser);
        Assert.Equal("a,,b", joined.Payload.ToStringUtf8());
        Assert.Equal(["A", "", "B"], await TextsAsync(loop.Client.ExchangeAsync(Shout, Messages("a", "", "b"), Echo.Parser)));
    }

    [Fact]
    public async Task A_server_calls_its_client()
    {
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers(), Handlers());
        Session session = loop.Server.Sessions.Single();

        Assert.Equal(["0", "1", "2"], await TextsAsync(session.StreamAsync(Count, Loopback.Message("3"), Echo.Parser)));
        Echo joined = await session.SendStreamAsync(Join, Messages("a", "b"), Echo.Parser);
        Assert.Equal("a,b", joined.Payload.ToStringUtf8());
        Assert.Equal(["A", "B"], await TextsAsync(session.ExchangeAsync(Shout, Messages("a", "b"), Echo.Parser)));
    }

    [Fact]
    public async Task A_handler_sees_its_call()
    {
        var seen = new TaskCompletionSource<(Session Session, ushort Type, uint Correlation)>();
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers().MapStream(Join, Echo.Parser, SeeAsync));

        await loop.Client.SendStreamAsync(Join, Messages(), Echo.Parser);

        var (session, type, correlation) = await seen.Task.WaitAsync(Loopback.Soon);
        Assert.Same(loop.Server.Sessions.Single(), session);
        Assert.Equal((Join, true), (type, correlation != 0));

        ValueTask<Echo> SeeAsync(IAsyncEnumerable<Echo> requests, StreamContext context, CancellationToken token)
        {
            seen.SetResult((context.Session, context.Type, context.Correlation));
            return new(new Echo());
        }
    }

    [Fact]
    public async Task A_refusal_in_mid_stream_is_the_callers_exception()
    {
        await using Loopback loop = await Loopback.StartAsync(Handlers());
        List<string> texts = [];

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(async () =>
        {
            await foreach (Echo echo in loop.Client.StreamAsync(Count, Loopback.Message("-2"), Echo.Parser))
            {
                texts.Add(echo.Payload.ToStringUtf8());
            }
        });

        Assert.Equal((ErrorCode.NotFound, "NotFound: There is no more."), (failure.Code, failure.Message));
        Assert.Equal(["0", "1"], texts);
        Assert.Empty(loop.Log.Errors);
    }

    [Theory]
    [InlineData(Join)]
    [InlineData(Shout)]
    [InlineData(Count)]
    public async Task A_call_of_a_stream_as_unary_is_MalformedBody(ushort type)
    {
        await using Loopback loop = await Loopback.StartAsync(Handlers());

        RequestFailedException failure = await Loopback.FailureAsync(loop.Client, type, [0x0A, 1, 65]);

        Assert.Equal(ErrorCode.MalformedBody, failure.Code);
        Assert.Contains("stream", failure.Message, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_unary_type_called_as_a_stream_is_MalformedBody()
    {
        await using Loopback loop = await Loopback.StartAsync(Handlers());

        RequestFailedException one = await Assert.ThrowsAsync<RequestFailedException>(
            () => TextsAsync(loop.Client.StreamAsync(Unary, new Echo(), Echo.Parser)));
        RequestFailedException many = await Assert.ThrowsAsync<RequestFailedException>(
            () => loop.Client.SendStreamAsync(Unary, Messages("a"), Echo.Parser));

        Assert.Equal((ErrorCode.MalformedBody, ErrorCode.MalformedBody), (one.Code, many.Code));
    }

    [Fact]
    public async Task An_item_that_is_no_message_ends_the_call_with_a_sentence_and_no_line_in_the_log()
    {
        await using Loopback loop = await Loopback.StartAsync(Handlers());
        using RawPeer peer = await RawPeer.ConnectAsync(loop.Server.Endpoints[0]);
        await peer.CallAsync(Wire.Request(Wire.Hello, 1, Wire.Number(4, 2)));
        await peer.SendAsync(Wire.Post(Credit, [.. Wire.Number(1, 7), .. Wire.Number(4, 2)]), Wire.Frame(Join, More, 7, []));
        Assert.Equal(Credit, (await peer.ReadFrameAsync()).Type);

        await peer.SendAsync(Wire.Frame(Join, More, 7, [0x0A, 1, 65]), Wire.Frame(Join, More, 7, Loopback.NoMessage));

        WireFrame error = await peer.ReadFrameAsync();
        Assert.Equal((Join, 7u, (uint)ErrorCode.MalformedBody), (error.Type, error.Correlation, error.ErrorCode));
        Assert.Equal("The body of message 0x1001 is not a valid Echo message.", error.TextAt(2));
        Assert.Empty(loop.Log.Errors);
        await peer.PingAsync();
    }

    [Fact]
    public async Task A_null_item_ends_the_call_with_a_sentence()
    {
        await using Loopback loop = await Loopback.StartAsync(Handlers());

        ArgumentNullException sent = await Assert.ThrowsAsync<ArgumentNullException>(
            () => loop.Client.SendStreamAsync(Join, Nulls(), Echo.Parser));
        ArgumentNullException exchanged = await Assert.ThrowsAsync<ArgumentNullException>(
            () => TextsAsync(loop.Client.ExchangeAsync(Shout, Nulls(), Echo.Parser)));

        Assert.StartsWith("A body is null instead of a message", sent.Message, StringComparison.Ordinal);
        Assert.Equal(sent.Message, exchanged.Message);
        Assert.Equal(["0"], await TextsAsync(loop.Client.StreamAsync(Count, Loopback.Message("1"), Echo.Parser)));

        static async IAsyncEnumerable<Echo> Nulls()
        {
            await Task.Yield();
            yield return null!;
        }
    }

    [Fact]
    public async Task A_substitute_of_a_client_cannot_stream()
    {
        IFastPortClient substitute = new NoClient();

        await Assert.ThrowsAsync<NotSupportedException>(() => substitute.SendStreamAsync(Join, Messages("a"), Echo.Parser));
        Assert.Throws<NotSupportedException>(() => { _ = substitute.StreamAsync(Count, new Echo(), Echo.Parser); });
    }

    private static async IAsyncEnumerable<Echo> CountAsync(
        Echo request, StreamContext context, [EnumeratorCancellation] CancellationToken token)
    {
        int count = int.Parse(request.Payload.ToStringUtf8(), System.Globalization.CultureInfo.InvariantCulture);
        for (int i = 0; i < Math.Abs(count); i++)
        {
            yield return Loopback.Message($"{i}");
        }

        await Task.Yield();
        if (count < 0)
        {
            throw new RequestRefusedException(ErrorCode.NotFound, "There is no more.");
        }
    }

    private static async ValueTask<Echo> JoinAsync(IAsyncEnumerable<Echo> requests, StreamContext context, CancellationToken token) =>
        Loopback.Message(string.Join(',', await TextsAsync(requests)));

    private static async IAsyncEnumerable<Echo> ShoutAsync(
        IAsyncEnumerable<Echo> requests, StreamContext context, [EnumeratorCancellation] CancellationToken token)
    {
        await foreach (Echo request in requests.WithCancellation(token))
        {
            yield return Loopback.Message(request.Payload.ToStringUtf8().ToUpperInvariant());
        }
    }

    private static async IAsyncEnumerable<Echo> Messages(params string[] texts)
    {
        foreach (string text in texts)
        {
            await Task.Yield();
            yield return Loopback.Message(text);
        }
    }

    private static async Task<List<string>> TextsAsync(IAsyncEnumerable<Echo> messages)
    {
        List<string> texts = [];
        await foreach (Echo message in messages)
        {
            texts.Add(message.Payload.ToStringUtf8());
        }

        return texts;
    }

    private sealed class NoClient : IFastPortClient
    {
    }
}
