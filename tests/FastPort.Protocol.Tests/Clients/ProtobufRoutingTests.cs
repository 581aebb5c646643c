using System.Threading.Channels;
using Xunit;

namespace FastPort.Protocol.Tests.Clients;

/// <summary>Typed messages by routing id and topic.</summary>
public sealed class ProtobufRoutingTests
{
    private readonly Channel<string> _got = Channel.CreateUnbounded<string>();

    [Fact]
    public async Task Typed_messages_are_relayed_published_and_sent_by_the_server()
    {
        await using Loopback loopback = await StartAsync();
        await using FastPortClient b = await ConnectAsync(loopback, "b");

        await loopback.Client.RelayAsync("b", 1, Loopback.Message("relayed"));
        Assert.Equal("relayed from a to b", await NextAsync());
        Assert.Equal(1, await loopback.Client.PublishAsync("news/x", 1, Loopback.Message("published")));
        Assert.Equal("published from a to news/x", await NextAsync());
        Assert.Equal(1, loopback.Server.Routing.Publish("news/y", 1, Loopback.Message("by the server")));
        Assert.Equal("by the server from $server to news/y", await NextAsync());
        Assert.Equal(SendStatus.Queued, loopback.Server.Routing.TrySendTo("b", 0x1000, Loopback.Message("x")));
        Assert.Equal(SendStatus.NotFound, loopback.Server.Routing.TrySendTo("c", 0x1000, Loopback.Message("x")));
    }

    [Fact]
    public async Task A_body_that_is_no_such_message_is_counted_and_fills_no_log()
    {
        await using Loopback loopback = await StartAsync();
        var log = new LoopbackLog();
        await using FastPortClient b = await ConnectAsync(loopback, "b", log);

        await loopback.Client.RelayAsync("b", 1, Loopback.NoMessage);
        await loopback.Client.PublishAsync("news/x", 1, Loopback.NoMessage);
        await loopback.Client.RelayAsync("b", 1, Loopback.Message("behind"));

        Assert.Equal("behind from a to b", await NextAsync());
        Assert.Equal(2, b.Counters.Snapshot().OneWayFailuresWith((uint)ErrorCode.MalformedBody));
        Assert.Empty(log.Errors);
    }

    [Fact]
    public async Task A_typed_stream_has_the_messages_and_leaves_out_what_is_none()
    {
        await using Loopback loopback = await StartAsync();
        var log = new LoopbackLog();
        await using FastPortClient b = await ConnectAsync(loopback, "b", log);
        await b.UnsubscribeAsync("news/");
        var subscribed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        await using IAsyncEnumerator<TopicMessage<Echo>> stream =
            b.ReadTopicAsync("news/", Echo.Parser, onSubscribed: subscribed.SetResult).GetAsyncEnumerator();
        Task<bool> next = stream.MoveNextAsync().AsTask();
        await subscribed.Task.WaitAsync(Loopback.Soon);

        await loopback.Client.PublishAsync("news/x", 1, Loopback.NoMessage);
        await loopback.Client.PublishAsync("news/x", 2, Loopback.Message("published"));
        loopback.Server.Routing.Publish("news/y", 3, Loopback.Message("by the server"));

        Assert.True(await next.WaitAsync(Loopback.Soon));
        Assert.Equal(new TopicMessage<Echo>("news/x", 2, Loopback.Message("published"), "a"), stream.Current);
        Assert.True(await stream.MoveNextAsync().AsTask().WaitAsync(Loopback.Soon));
        Assert.Equal(new TopicMessage<Echo>("news/y", 3, Loopback.Message("by the server"), "$server"), stream.Current);
        Assert.Equal(1, b.Counters.Snapshot().OneWayFailuresWith((uint)ErrorCode.MalformedBody));
        Assert.Empty(log.Errors);
    }

    private static Task<Loopback> StartAsync() => Loopback.StartAsync(
        new MessageHandlers(),
        configure: static o =>
        {
            o.Routing.Relay = o.Routing.Topics = true;
            o.Routing.SharedTopics = ["news/"];
        },
        configureClient: static o => o.RoutingId = "a");

    private async Task<FastPortClient> ConnectAsync(Loopback loopback, string routingId, LoopbackLog? log = null)
    {
        var client = new FastPortClient(
            new FastPortClientOptions { Endpoint = loopback.Server.Endpoints[0].ToString(), RoutingId = routingId }, loggerFactory: log);
        client.OnRelayed(1, Echo.Parser, (echo, scoped in message) => Note(echo, message.From, message.Address));
        await client.ConnectAsync();
        await client.SubscribeAsync("news/", Echo.Parser, (echo, scoped in message) => Note(echo, message.From, message.Address));
        return client;
    }

    private void Note(Echo echo, string from, string address) =>
        _got.Writer.TryWrite($"{echo.Payload.ToStringUtf8()} from {from} to {address}");

    private Task<string> NextAsync() => _got.Reader.ReadAsync().AsTask().WaitAsync(Loopback.Soon);
}
