using System.Text;
using System.Threading.Channels;
using FastPort.Framing;
using Google.Protobuf;
using Xunit;

namespace FastPort.Protocol.Tests.Handlers;

public sealed class TypedHandlerTests
{
    private const ushort Inline = 0x1000;
    private const ushort Queued = 0x1001;

    public static TheoryData<ushort> Both => [Inline, Queued];

    private static MessageHandlers Map(Func<Echo, Echo> handle) => new MessageHandlers()
        .MapInline(Inline, Echo.Parser, (echo, _) => handle(echo))
        .MapQueued(Queued, Echo.Parser, async (echo, _) =>
        {
            await Task.Yield();
            return handle(echo);
        });

    [Theory]
    [MemberData(nameof(Both))]
    public async Task Returns_the_handlers_reply(ushort type)
    {
        await using Loopback loop = await Loopback.StartAsync(
            Map(echo => Loopback.Message(echo.Payload.ToStringUtf8().ToUpperInvariant())));

        Echo reply = await loop.Client.RequestAsync(type, Loopback.Message("abc"), Echo.Parser);

        Assert.Equal("ABC", reply.Payload.ToStringUtf8());
    }

    [Theory]
    [MemberData(nameof(Both))]
    public async Task Answers_each_of_many_requests_in_flight_with_its_own_reply(ushort type)
    {
        await using Loopback loop = await Loopback.StartAsync(Map(echo => echo));

        Echo[] replies = await Task.WhenAll(
            Enumerable.Range(0, 300).Select(i => loop.Client.RequestAsync(type, Loopback.Message($"{i}"), Echo.Parser)));

        Assert.Equal(Enumerable.Range(0, 300).Select(i => $"{i}"), replies.Select(r => r.Payload.ToStringUtf8()));
    }

    [Theory]
    [MemberData(nameof(Both))]
    public async Task Carries_bodies_of_any_size_up_to_the_limit(ushort type)
    {
        await using Loopback loop = await Loopback.StartAsync(Map(echo => echo));
        var random = new Random(17);
        int[] sizes = [0, 1, 127, 128, 4_096, 65_537, loop.Client.Session!.MaxBodyBytes - 4];
        foreach (int size in sizes)
        {
            byte[] payload = new byte[size];
            random.NextBytes(payload);

            Echo reply = await loop.Client.RequestAsync(type, new Echo { Payload = ByteString.CopyFrom(payload) }, Echo.Parser);

            Assert.Equal(payload, reply.Payload.ToByteArray());
        }
    }

    [Theory]
    [MemberData(nameof(Both))]
    public async Task Answers_MalformedBody_and_calls_no_handler_when_the_body_does_not_parse(ushort type)
    {
        int calls = 0;
        await using Loopback loop = await Loopback.StartAsync(Map(echo =>
        {
            Interlocked.Increment(ref calls);
            return echo;
        }));

        RequestFailedException failure = await Loopback.FailureAsync(loop.Client, type, Loopback.NoMessage);

        Assert.Equal(ErrorCode.MalformedBody, failure.Code);
        Assert.Contains($"0x{type:X4}", failure.Message, StringComparison.Ordinal);
        Assert.Contains("Echo", failure.Message, StringComparison.Ordinal);
        Assert.Equal(0, calls);

        // The session lives.
        await loop.Client.RequestAsync(type, Loopback.Message("still here"), Echo.Parser);
        Assert.Equal(1, calls);
    }

    [Theory]
    [MemberData(nameof(Both))]
    public async Task Answers_Internal_without_internals_and_logs_when_the_handler_throws(ushort type)
    {
        await using Loopback loop = await Loopback.StartAsync(Map(_ => throw new InvalidOperationException("the password is 1234")));

        RequestFailedException failure = await Loopback.FailureAsync(loop.Client, type, []);

        Assert.Equal(ErrorCode.Internal, failure.Code);
        Assert.DoesNotContain("1234", failure.Message, StringComparison.Ordinal);
        Assert.Contains("Echo", Assert.Single(loop.Log.Errors), StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(Both))]
    public async Task Answers_with_the_code_and_sentence_of_a_refusal_and_logs_nothing(ushort type)
    {
        await using Loopback loop = await Loopback.StartAsync(
            Map(_ => throw new RequestRefusedException(ErrorCode.NotFound, "There is no door.")));

        RequestFailedException failure = await Loopback.FailureAsync(loop.Client, type, []);

        Assert.Equal(ErrorCode.NotFound, failure.Code);
        Assert.Contains("There is no door.", failure.Message, StringComparison.Ordinal);
        Assert.Empty(loop.Log.Errors);
        Assert.Equal(1, loop.Server.Counters.Snapshot().ErrorsSentWith((uint)ErrorCode.NotFound));
    }

    [Theory]
    [MemberData(nameof(Both))]
    public async Task Counts_a_refused_one_way_message_by_its_code(ushort type)
    {
        await using Loopback loop = await Loopback.StartAsync(
            Map(_ => throw new RequestRefusedException(ErrorCode.Overloaded, "No more.")));

        await loop.Client.SendAsync(type, Loopback.Message("x"));

        // A refused request behind it on the same session tells that it has been handled.
        await Loopback.FailureAsync(loop.Client, type, []);
        Assert.Equal(1, loop.Server.Counters.Snapshot().OneWayFailuresWith((uint)ErrorCode.Overloaded));
        Assert.Equal(1, loop.Server.Counters.Snapshot().ErrorsSent);
    }

    [Theory]
    [MemberData(nameof(Both))]
    public async Task Counts_a_one_way_body_that_does_not_parse(ushort type)
    {
        await using Loopback loop = await Loopback.StartAsync(Map(echo => echo));

        await loop.Client.SendAsync(type, new SequenceBody(new(Loopback.NoMessage)));

        await loop.Client.RequestAsync(type, Loopback.Message("behind it"), Echo.Parser);
        Assert.Equal(1, loop.Server.Counters.Snapshot().OneWayFailuresWith((uint)ErrorCode.MalformedBody));
    }

    // Such a lambda is async void: its exception would end the process.
    [Fact]
    public void An_async_lambda_is_no_inline_handler()
    {
        ArgumentException refused = Assert.Throws<ArgumentException>(() => new MessageHandlers().MapInline(
            Inline, Echo.Parser, static async (_, session) => await session.SendAsync(Queued, new Echo())));

        Assert.Contains("map it with MapQueued", refused.Message, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(BytesFields.Copied, false)]
    [InlineData(BytesFields.Borrowed, false)]
    [InlineData(BytesFields.Copied, true)]
    public async Task A_body_that_is_nested_too_deep_is_refused_with_that_reason(BytesFields bytesFields, bool isQueued)
    {
        var handlers = new MessageHandlers();
        _ = isQueued
            ? handlers.MapQueued(Queued, Mixed.Parser, static (mixed, _) => new ValueTask<Mixed>(mixed), bytesFields)
            : handlers.MapInline(Queued, Mixed.Parser, static (mixed, _) => mixed, bytesFields);
        await using Loopback loop = await Loopback.StartAsync(handlers);
        var message = new Mixed { First = ByteString.CopyFromUtf8("x") };
        for (int i = 0; i < 150; i++)
        {
            message = new Mixed { Inner = message, First = message.First };
        }

        RequestFailedException failure = await Loopback.FailureAsync(loop.Client, Queued, message.ToByteArray());

        Assert.Equal(ErrorCode.MalformedBody, failure.Code);
        Assert.Contains(
            $"The body of message 0x{Queued:X4} is nested more than 100 levels deep, which Protobuf parsers refuse; send a flatter Mixed "
                + "message.",
            failure.Message,
            StringComparison.Ordinal);
    }

    [Fact]
    public async Task Drops_the_reply_where_the_handler_has_failed_the_request_through_its_context()
    {
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers().MapQueued(Queued, Echo.Parser, (echo, context) =>
        {
            context.Fail(ErrorCode.Forbidden, "Not you.");
            return new ValueTask<Echo>(echo);
        }));

        RequestFailedException failure = await Loopback.FailureAsync(loop.Client, Queued, []);

        Assert.Equal(ErrorCode.Forbidden, failure.Code);
        Assert.Empty(loop.Log.Errors);
    }

    [Fact]
    public async Task Hands_one_way_messages_of_a_type_over_in_order()
    {
        var seen = Channel.CreateUnbounded<string>();
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers()
            .MapInline(Inline, Echo.Parser, (echo, _) => Write("inline ", echo))
            .MapQueued(Queued, Echo.Parser, (echo, context) =>
            {
                Assert.True(context.IsOneWay);
                Write("queued ", echo);
                return ValueTask.CompletedTask;
            }));

        for (int i = 0; i < 50; i++)
        {
            Assert.Equal(SendStatus.Queued, await loop.Client.TrySendAsync(Inline, Loopback.Message($"{i}")));
            Assert.Equal(SendStatus.Queued, await loop.Client.TrySendAsync(Queued, Loopback.Message($"{i}")));
        }

        var all = new List<string>();
        for (int i = 0; i < 100; i++)
        {
            all.Add(await seen.Reader.ReadAsync().AsTask().WaitAsync(Loopback.Soon));
        }

        foreach (string kind in new[] { "inline ", "queued " })
        {
            Assert.Equal(Enumerable.Range(0, 50).Select(i => $"{kind}{i}"), all.Where(m => m.StartsWith(kind, StringComparison.Ordinal)));
        }

        void Write(string kind, Echo echo) => seen.Writer.TryWrite(kind + echo.Payload.ToStringUtf8());
    }

    [Fact]
    public async Task Answers_a_request_to_a_handler_without_reply_with_an_empty_body_when_it_has_ended()
    {
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers()
            .MapInline(Inline, Echo.Parser, static (_, _) => { })
            .MapQueued(Queued, Echo.Parser, async (_, _) => await release.Task));

        Task<byte[]> queued = loop.Client.RequestAsync(Queued, Encoding.UTF8.GetBytes(string.Empty));

        // An inline message runs at once, though an earlier queued one has not ended.
        Assert.Empty(await loop.Client.RequestAsync(Inline, ReadOnlyMemory<byte>.Empty));
        Assert.False(queued.IsCompleted);
        release.SetResult();
        Assert.Empty(await queued.WaitAsync(Loopback.Soon));
    }

    [Fact]
    public async Task Starts_queued_requests_of_a_session_one_after_the_other_by_default()
    {
        int running = 0;
        int most = 0;
        var order = new List<string>();
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers().MapQueued(Queued, Echo.Parser, async (echo, _) =>
        {
            most = Math.Max(most, Interlocked.Increment(ref running));
            await Task.Yield();
            order.Add(echo.Payload.ToStringUtf8());
            Interlocked.Decrement(ref running);
            return echo;
        }));

        await Task.WhenAll(Enumerable.Range(0, 100).Select(i => loop.Client.RequestAsync(Queued, Loopback.Message($"{i}"), Echo.Parser)));

        Assert.Equal(1, most);
        Assert.Equal(Enumerable.Range(0, 100).Select(i => $"{i}"), order);
    }

    [Fact]
    public async Task Cancels_the_handlers_token_when_the_client_gives_up()
    {
        var started = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var cancelled = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers().MapQueued(Queued, Echo.Parser, async (echo, context) =>
        {
            using CancellationTokenRegistration _ = context.Aborted.Register(cancelled.SetResult);
            started.SetResult();
            await cancelled.Task;
            return echo;
        }));
        using var giveUp = new CancellationTokenSource();

        Task<Echo> request = loop.Client.RequestAsync(Queued, Loopback.Message("slow"), Echo.Parser, cancellationToken: giveUp.Token);
        await started.Task.WaitAsync(Loopback.Soon);
        await giveUp.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => request);
        await cancelled.Task.WaitAsync(Loopback.Soon);
    }

    [Fact]
    public async Task Pushes_typed_messages_to_the_clients_handlers()
    {
        var pushed = Channel.CreateUnbounded<string>();
        MessageHandlers pushes = new MessageHandlers()
            .MapInline(Queued, Echo.Parser, (echo, _) => { pushed.Writer.TryWrite(echo.Payload.ToStringUtf8()); });
        await using Loopback loop = await Loopback.StartAsync(
            new MessageHandlers().MapInline(Inline, Echo.Parser, (echo, session) =>
            {
                Assert.Equal(SendStatus.Queued, session.TrySend(Queued, Loopback.Message("push")));
                return echo;
            }),
            pushes);

        await loop.Client.RequestAsync(Inline, Loopback.Message("x"), Echo.Parser);

        Assert.Equal("push", await pushed.Reader.ReadAsync().AsTask().WaitAsync(Loopback.Soon));
    }

    [Fact]
    public async Task Broadcasts_typed_messages_to_every_member_of_a_group()
    {
        var group = new SessionGroup();
        var pushed = Channel.CreateUnbounded<string>();
        await using Loopback loop = await Loopback.StartAsync(
            new MessageHandlers().MapInline(Inline, Echo.Parser, (echo, session) =>
            {
                group.Add(session);
                return echo;
            }),
            Pushes("first"));
        await using FastPortClient second = await Loopback.ConnectAsync(loop.Server, Pushes("second"));
        await using FastPortClient outsider = await Loopback.ConnectAsync(loop.Server, Pushes("outsider"));
        await loop.Client.RequestAsync(Inline, Loopback.Message("x"), Echo.Parser);
        await second.RequestAsync(Inline, Loopback.Message("x"), Echo.Parser);

        Assert.Equal(2, group.Broadcast(Queued, Loopback.Message("hello")));

        string[] got = [await NextAsync(), await NextAsync()];
        Assert.Equal(["first hello", "second hello"], got.Order());

        Task<string> NextAsync() => pushed.Reader.ReadAsync().AsTask().WaitAsync(Loopback.Soon);

        MessageHandlers Pushes(string name) => new MessageHandlers()
            .MapInline(Queued, Echo.Parser, (echo, _) => { pushed.Writer.TryWrite($"{name} {echo.Payload.ToStringUtf8()}"); });
    }

    [Fact]
    public async Task Names_types_by_their_message_and_refuses_a_type_twice()
    {
        MessageHandlers handlers = Map(echo => echo);

        Assert.Equal("Echo", handlers.NameOf(Inline));
        Assert.Null(handlers.NameOf(0x1002));
        ArgumentException twice = Assert.Throws<ArgumentException>(() => handlers.MapInline(Inline, Echo.Parser, static (echo, _) => echo));
        Assert.Contains("0x1000", twice.Message, StringComparison.Ordinal);
        await using Loopback loop = await Loopback.StartAsync(handlers);
        Assert.Throws<InvalidOperationException>(() => handlers.MapInline(0x1002, Echo.Parser, static (echo, _) => echo));
    }
}
