using Google.Protobuf;
using Xunit;

namespace FastPort.Protocol.Tests.Handlers;

/// <summary>Null in the place of a message.</summary>
public sealed class MissingMessageTests
{
    private const ushort Inline = 0x1000, Queued = 0x1001, Sum = 0x1002, Watch = 0x1003;

    [Fact]
    public async Task A_call_with_null_is_refused_at_once()
    {
        await using Loopback loop = await Loopback.StartAsync(new MessageHandlers());
        IMessage none = null!;

        await RefusedAsync(() => loop.Client.RequestAsync(Inline, none, Echo.Parser));
        await RefusedAsync(() => loop.Client.SendAsync(Inline, none).AsTask());
        await RefusedAsync(() => loop.Client.Session!.RequestAsync(Inline, none, Echo.Parser));
        await RefusedAsync(() => loop.Client.Session!.SendAsync(Inline, none).AsTask());
        Assert.Throws<ArgumentNullException>(() => new SessionGroup().Broadcast(Inline, none));

        static Task RefusedAsync(Func<Task> call) => Assert.ThrowsAsync<ArgumentNullException>(call);
    }

    [Theory]
    [InlineData(Inline, "a message")]
    [InlineData(Queued, "a message")]
    [InlineData(Sum, "a message")]
    [InlineData(Watch, "a stream")]
    public async Task The_log_says_that_a_handler_has_returned_null(ushort type, string instead)
    {
        var log = new RecordingLog();
        await using var server = new FastPortServer(
            new FastPortServerOptions { Endpoints = { "tcp://127.0.0.1:0" } }, Handlers(), loggerFactory: log);
        await server.StartAsync();
        await using FastPortClient client = await Loopback.ConnectAsync(server);

        RequestFailedException failure = await Assert.ThrowsAsync<RequestFailedException>(async () => await (type switch
        {
            Sum => client.SendStreamAsync(type, AsyncEnumerable.Empty<Echo>(), Echo.Parser),
            Watch => client.StreamAsync(type, new Echo(), Echo.Parser).FirstAsync().AsTask(),
            _ => client.RequestAsync(type, new Echo(), Echo.Parser),
        }));

        Assert.Equal(ErrorCode.Internal, failure.Code);
        Exception? logged = Assert.Single(log.Lines, static line => line.Exception is not null).Exception;
        Assert.Contains($"null instead of {instead}", logged!.Message, StringComparison.Ordinal);
    }

    private static MessageHandlers Handlers() => new MessageHandlers()
        .MapInline(Inline, Echo.Parser, static (Echo _, Session _) => (Echo)null!)
        .MapQueued(Queued, Echo.Parser, static (Echo _, RequestContext _) => ValueTask.FromResult<Echo>(null!))
        .MapStream(Sum, Echo.Parser, static (IAsyncEnumerable<Echo> _, StreamContext _, CancellationToken _) =>
            ValueTask.FromResult<Echo>(null!))
        .MapStream(Watch, Echo.Parser, static (Echo _, StreamContext _, CancellationToken _) => (IAsyncEnumerable<Echo>)null!);
}
