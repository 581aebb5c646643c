using FastPort.Protocol.Tests.Hosting;
using Google.Protobuf;
using Xunit;

namespace FastPort.Protocol.Tests.Handlers;

/// <summary>
/// Bytes fields that lie in the receive buffer: right while the handler runs, gone and said to be gone afterwards. Over every kind of link.
/// </summary>
/// <param name="endpoint">Where the server of a test listens.</param>
/// <param name="transport">What carries it.</param>
public abstract class BorrowedBytesTests(string endpoint, TransportKind transport)
{
    private protected const ushort Inline = 0x1000;
    private const ushort Queued = 0x1001;
    private const ushort InlinePost = 0x1002;
    private const ushort QueuedPost = 0x1003;

    public static TheoryData<ushort> Requests => [Inline, Queued];

    public static TheoryData<ushort> All => [Inline, Queued, InlinePost, QueuedPost];

    // Each kind of typed handler, over the same function.
    private static MessageHandlers Map<T>(MessageParser<T> parser, Func<T, T> handle, BytesFields bytesFields = BytesFields.Borrowed)
        where T : IMessage<T> => new MessageHandlers()
        .MapInline(Inline, parser, (message, _) => handle(message), bytesFields)
        .MapQueued(
            Queued,
            parser,
            async (message, _) =>
            {
                await Task.Yield();
                return handle(message);
            },
            bytesFields)
        .MapInline(InlinePost, parser, (message, _) => { handle(message); }, bytesFields)
        .MapQueued(
            QueuedPost,
            parser,
            async (message, _) =>
            {
                await Task.Yield();
                handle(message);
            },
            bytesFields);

    [Theory]
    [MemberData(nameof(Requests))]
    public async Task Carries_bodies_of_any_size_also_across_the_wrap_of_the_ring(ushort type)
    {
        await using Loopback loop = await StartAsync(Map(Echo.Parser, static echo => new Echo { Payload = echo.Payload }));
        var random = new Random(17);
        int[] sizes = [
            0, 1, 127, 128, 4_096, 65_537, loop.Client.Session!.MaxBodyBytes - 4, .. Enumerable.Range(0, 400)
                .Select(_ => random.Next(20_000))];
        byte[][] payloads = [.. sizes.Select(size =>
        {
            byte[] payload = new byte[size];
            random.NextBytes(payload);
            return payload;
        })];

        Echo[] replies = await Task.WhenAll(
            payloads.Select(p => loop.Client.RequestAsync(type, new Echo { Payload = ByteString.CopyFrom(p) }, Echo.Parser)));

        Assert.All(payloads.Zip(replies), static pair => Assert.Equal(pair.First, pair.Second.Payload.ToByteArray()));
    }

    [Theory]
    [MemberData(nameof(Requests))]
    public async Task Replies_of_any_shape_around_large_fields_are_those_of_the_messages_own_encoder(ushort type)
    {
        static ByteString Large(int size, int seed)
        {
            byte[] bytes = new byte[size];
            new Random(seed).NextBytes(bytes);
            return UnsafeByteOperations.UnsafeWrap(bytes);
        }

        // A field of its own after the large ones, of a number that the type does not know.
        byte[] unknown = [.. new Mixed { First = Large(50_000, 1) }.ToByteArray(), 0xB8, 0x3E, 1];
        Mixed[] messages =
        [
            new() { First = Large(50_000, 2) },
            new() { Far = Large(50_000, 3) },
            new() { Maybe = Large(4_096, 4) },
            new() { Sixteenth = Large(4_095, 5) },
            new() { First = Large(50_000, 6), Second = Large(50_000, 7) },
            new() { Name = "named", Second = Large(50_000, 8) },
            new() { Chosen = Large(50_000, 9) },
            new() { Many = { Large(50_000, 10), Large(1, 11) } },
            new() { Inner = new Mixed { First = Large(50_000, 12) } },
            new() { First = Large(50_000, 13), Maybe = ByteString.Empty },
            Mixed.Parser.ParseFrom(unknown),
        ];
        await AnswersAsync(static mixed => mixed);
        await AnswersAsync(static mixed => new Mixed { First = Large(mixed.CalculateSize(), 14) });

        async Task AnswersAsync(Func<Mixed, Mixed> handle)
        {
            await using Loopback loop = await StartAsync(Map(Mixed.Parser, handle));

            // Several on the way, so that bursts are large.
            for (int round = 0; round < 5; round++)
            {
                byte[][] replies = await Task.WhenAll(messages.Select(message => loop.Client.RequestAsync(type, message.ToByteArray())));
                Assert.All(messages.Zip(replies), pair => Assert.Equal(handle(pair.First).ToByteArray(), pair.Second));
            }
        }
    }

    [Theory]
    [MemberData(nameof(All))]
    public async Task A_field_read_after_its_handler_throws_and_says_what_to_do(ushort type)
    {
        Echo? kept = null;
        await using Loopback loop = await StartAsync(Map(Echo.Parser, echo =>
        {
            Assert.Equal("mine", echo.Payload.ToStringUtf8());
            return kept = echo;
        }));

        await loop.Client.RequestAsync(type, Loopback.Message("mine").ToByteArray());

        ObjectDisposedException gone = await GoneAsync(() => kept!.Payload.ToByteArray());
        Assert.Contains("Echo", gone.Message, StringComparison.Ordinal);
        Assert.Contains("ByteString.CopyFrom", gone.Message, StringComparison.Ordinal);
        Assert.Contains("BytesFields.Copied", gone.Message, StringComparison.Ordinal);
        Assert.Empty(loop.Log.Errors);
    }

    [Theory]
    [MemberData(nameof(All))]
    public async Task A_field_is_gone_as_well_where_the_handler_threw(ushort type)
    {
        Echo? kept = null;
        await using Loopback loop = await StartAsync(Map<Echo>(Echo.Parser, echo =>
        {
            kept = echo;
            throw new RequestRefusedException(ErrorCode.NotFound, "No.");
        }));

        RequestFailedException failure = await Loopback.FailureAsync(loop.Client, type, Loopback.Message("mine").ToByteArray());

        Assert.Equal(ErrorCode.NotFound, failure.Code);
        await GoneAsync(() => kept!.Payload.ToByteArray());
    }

    [Theory]
    [MemberData(nameof(All))]
    public async Task What_was_kept_is_never_another_messages(ushort type)
    {
        var kept = new List<Echo>();
        await using Loopback loop = await StartAsync(Map(Echo.Parser, echo =>
        {
            kept.Add(echo);
            return new Echo { Payload = echo.Payload };
        }));

        for (int i = 0; i < 20; i++)
        {
            await loop.Client.RequestAsync(type, Loopback.Message($"{i}").ToByteArray());
        }

        Assert.Equal(20, kept.Count);
        foreach (Echo echo in kept)
        {
            await GoneAsync(() => echo.Payload.ToByteArray());
        }
    }

    [Theory]
    [MemberData(nameof(Requests))]
    public async Task A_reply_made_of_an_earlier_requests_field_is_Internal_and_logged(ushort type)
    {
        ByteString? first = null;
        await using Loopback loop = await StartAsync(Map(Echo.Parser, echo => new Echo { Payload = first ??= echo.Payload }));
        await loop.Client.RequestAsync(type, Loopback.Message("first"), Echo.Parser);
        await GoneAsync(() => first!.ToByteArray());

        RequestFailedException failure = await Loopback.FailureAsync(loop.Client, type, Loopback.Message("second").ToByteArray());

        Assert.Equal(ErrorCode.Internal, failure.Code);
        Assert.Single(loop.Log.Errors);
    }

    [Theory]
    [MemberData(nameof(All))]
    public async Task Fields_that_are_not_lent_may_be_kept(ushort type)
    {
        Mixed? kept = null;
        Mixed sent = MixedBodies.Full();
        await using Loopback loop = await StartAsync(Map(Mixed.Parser, mixed =>
        {
            Assert.Equal(sent, mixed);
            return kept = mixed;
        }));

        await loop.Client.RequestAsync(type, sent.ToByteArray());

        await GoneAsync(() => kept!.First.ToByteArray());
        foreach (ByteString lent in new[] { kept!.Second, kept.Maybe, kept.Far })
        {
            Assert.Throws<ObjectDisposedException>(() => lent.ToByteArray());
        }

        Assert.Equal(sent.Name, kept.Name);
        Assert.Equal(sent.Chosen, kept.Chosen);
        Assert.Equal(sent.Many, kept.Many);
        Assert.Equal(sent.Inner, kept.Inner);
        Assert.Equal(sent.Named, kept.Named);
        Assert.Empty(loop.Log.Errors);
    }

    [Theory]
    [MemberData(nameof(All))]
    public async Task Repeated_and_required_fields_are_the_handlers_own(ushort type)
    {
        Plain? plain = null;
        await using (Loopback loop = await StartAsync(Map(Plain.Parser, message => plain = message)))
        {
            await loop.Client.RequestAsync(type, new Plain { Name = "n", Many = { ByteString.CopyFromUtf8("many") } }.ToByteArray());
        }

        Strict? strict = null;
        await using (Loopback loop = await StartAsync(Map(Strict.Parser, message => strict = message)))
        {
            await loop.Client.RequestAsync(
                type, new Strict { Key = ByteString.CopyFromUtf8("key"), Value = ByteString.CopyFromUtf8("value") }.ToByteArray());
        }

        Assert.Equal("many", Assert.Single(plain!.Many).ToStringUtf8());
        Assert.Equal("key", strict!.Key.ToStringUtf8());
    }

    [Fact]
    public async Task A_queued_handler_has_its_fields_until_its_task_ends()
    {
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using Loopback loop = await StartAsync(new MessageHandlers().MapQueued(
            Queued,
            Echo.Parser,
            async (echo, _) =>
            {
                await release.Task;
                return new Echo { Payload = echo.Payload };
            },
            BytesFields.Borrowed));
        Task<Echo>[] waiting = [
            .. Enumerable.Range(0, 50).Select(i => loop.Client.RequestAsync(Queued, Loopback.Message($"{i}"), Echo.Parser))];

        await loop.PassAsync();
        release.SetResult();

        Assert.Equal(
            Enumerable.Range(0, 50).Select(static i => $"{i}"), (await Task.WhenAll(waiting)).Select(static e => e.Payload.ToStringUtf8()));
    }

    [Fact]
    public async Task An_inline_handler_that_waited_behind_queued_ones_has_its_fields_too()
    {
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        Echo? kept = null;
        await using Loopback loop = await StartAsync(
            new MessageHandlers()
                .MapQueued(Queued, static async _ => await Task.Yield())
                .MapQueued(QueuedPost, async _ => await release.Task)
                .MapInline(Inline, Echo.Parser, (echo, _) => new Echo { Payload = (kept = echo).Payload }, BytesFields.Borrowed));
        Task first = loop.Client.RequestAsync(QueuedPost, ReadOnlyMemory<byte>.Empty);
        Task second = loop.Client.RequestAsync(Queued, ReadOnlyMemory<byte>.Empty);
        Task<Echo> third = loop.Client.RequestAsync(Inline, Loopback.Message("third"), Echo.Parser);
        await loop.PassAsync();
        Assert.Null(kept);

        release.SetResult();

        Assert.Equal("third", (await third).Payload.ToStringUtf8());
        await GoneAsync(() => kept!.Payload.ToByteArray());
        await Task.WhenAll(first, second);
    }

    [Theory]
    [MemberData(nameof(Requests))]
    public async Task A_field_cannot_be_pinned(ushort type)
    {
        Exception? refused = null;
        await using Loopback loop = await StartAsync(Map(Echo.Parser, echo =>
        {
            refused = Record.Exception(() => echo.Payload.Memory.Pin().Dispose());
            return echo;
        }));

        await loop.Client.RequestAsync(type, Loopback.Message("x"), Echo.Parser);

        Assert.Contains("ByteString.CopyFrom", Assert.IsType<NotSupportedException>(refused).Message, StringComparison.Ordinal);
    }

    private Task<Loopback> StartAsync(MessageHandlers handlers) => Loopback.StartAsync(
        handlers,
        configure: o =>
        {
            o.Endpoints = [endpoint];
            o.Transport = transport;
        },
        configureClient: o => o.Transport = transport);

    // A reply may arrive before its handler has returned to the framework.
    private protected static async Task<ObjectDisposedException> GoneAsync(Func<byte[]> read)
    {
        using var soon = new CancellationTokenSource(Loopback.Soon);
        while (true)
        {
            if (Record.Exception(() => { read(); }) is ObjectDisposedException gone)
            {
                return gone;
            }

            soon.Token.ThrowIfCancellationRequested();
            await Task.Yield();
        }
    }
}

public sealed class BorrowedBytesTcpTests() : BorrowedBytesTests("tcp://127.0.0.1:0", TransportKind.Auto)
{
    [Fact]
    public async Task A_handler_class_can_have_its_fields_lent()
    {
        await using TestHost host = await TestHost.StartAsync(
            static builder => builder.AddHandler<Keeper, Echo, Echo>(Inline, Echo.Parser, bytesFields: BytesFields.Borrowed));
        await using FastPortClient client = await Loopback.ConnectAsync(host.Server);

        Assert.Equal("abc", (await client.RequestAsync(Inline, Loopback.Message("abc"), Echo.Parser)).Payload.ToStringUtf8());

        await GoneAsync(() => Keeper.Kept!.Payload.ToByteArray());
    }

    private sealed class Keeper : IMessageHandler<Echo, Echo>
    {
        public static Echo? Kept { get; private set; }

        public ValueTask<Echo> HandleAsync(Echo request, RequestContext context) => new(new Echo { Payload = (Kept = request).Payload });
    }
}

public sealed class BorrowedBytesSocketsTests() : BorrowedBytesTests("tcp://127.0.0.1:0", TransportKind.Sockets);

public sealed class BorrowedBytesInProcessTests() : BorrowedBytesTests("inproc://lent-bytes", TransportKind.Auto);
