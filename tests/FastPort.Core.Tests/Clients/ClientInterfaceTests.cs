using System.Reflection;
using System.Threading.Channels;
using FastPort.Framing;
using Xunit;

namespace FastPort.Core.Tests.Clients;

/// <summary>The client's interface: the client implements all of it, a test's substitute as much as it needs.</summary>
public sealed class ClientInterfaceTests
{
    private static readonly ReplyReader<byte> Last = static (scoped in InboundReply reply) => reply.Body.FirstSpan[^1];

    [Fact]
    public void The_client_implements_every_member()
    {
        InterfaceMapping map = typeof(FastPortClient).GetInterfaceMap(typeof(IFastPortClient));

        Assert.All(map.TargetMethods, static method => Assert.Equal(typeof(FastPortClient), method.DeclaringType));
    }

    [Fact]
    public async Task A_substitute_gets_typed_bodies_as_bytes()
    {
        var substitute = new ByteClient();
        IFastPortClient client = substitute;

        Assert.Equal(7, await client.RequestAsync(1, new Three(), Last));
        await client.SendAsync(2, new Three());
        Assert.Equal(SendStatus.Queued, await client.TrySendAsync(3, new Three()));
        await client.RelayAsync("to", 4, new Three());
        await client.RelayOneWayAsync("to", 5, new Three());
        Assert.Equal(9, await client.PublishAsync("topic", 6, new Three()));
        await client.PublishOneWayAsync("topic", 7, new Three());

        Assert.Equal(
            [
                "request 1 010203", "send 2 010203", "send 3 010203", "relay to 4 010203", "relay to 5 010203", "publish topic 6 010203",
                "publish topic 7 010203",
            ],
            substitute.Calls);
    }

    [Fact]
    public async Task What_a_substitute_does_not_implement_is_not_supported()
    {
        IFastPortClient client = new NoClient();
        client.Connected += static _ => { };
        client.Disconnected += static (_, _) => { };

        Assert.Null(client.Session);
        await Assert.ThrowsAsync<NotSupportedException>(() => client.RequestAsync(1, new Three(), Last));
        await Assert.ThrowsAsync<NotSupportedException>(() => client.SendAsync(1, new Three()).AsTask());
        await Assert.ThrowsAsync<NotSupportedException>(() => client.RelayAsync("to", 1, new Three()));
        await Assert.ThrowsAsync<NotSupportedException>(() => client.RelayOneWayAsync("to", 1, new Three()).AsTask());
        await Assert.ThrowsAsync<NotSupportedException>(() => client.PublishAsync("topic", 1, new Three()));
        await Assert.ThrowsAsync<NotSupportedException>(() => client.PublishOneWayAsync("topic", 1, new Three()).AsTask());
        await Assert.ThrowsAsync<NotSupportedException>(
            () => client.SubscribeAsync("topic", static (scoped in RoutedMessage _) => { }));
        await Assert.ThrowsAsync<NotSupportedException>(() => client.UnsubscribeAsync("topic"));
        Assert.Throws<NotSupportedException>(() => client.OnRelayed(1, static (scoped in RoutedMessage _) => { }));
        Assert.Throws<NotSupportedException>(() => client.ListPeersAsync());
        Assert.Throws<NotSupportedException>(() => client.ReadTopicAsync("topic"));
        Assert.Throws<NotSupportedException>(() => client.ReadTopicAsync("topic", static (scoped in RoutedMessage m) => m.Type));
    }

    [Fact]
    public async Task A_substitute_yields_the_messages_of_a_topic_as_bytes()
    {
        IFastPortClient client = new OneTopic();

        TopicMessage<int>[] messages = await client
            .ReadTopicAsync("x/", static (scoped in RoutedMessage m) => m.Body.FirstSpan[0] + m.Type, capacity: 2).ToArrayAsync();

        Assert.Equal([new TopicMessage<int>("x/ü", 7, 12, "ann", 3), new TopicMessage<int>("x/2", 1, 3)], messages);
    }

    [Fact]
    public async Task A_substitute_calls_the_handler_of_a_subscription()
    {
        var substitute = new OneTopic();
        IFastPortClient client = substitute;
        string got = "";
        await client.SubscribeAsync(
            "x/", (scoped in RoutedMessage m) => got = $"{m.Address} {m.Type} {m.Body.FirstSpan[0]} from {m.From}");

        substitute.Publish(new RoutedMessage("x/ü", 7, new byte[] { 5 }, "ann"));

        Assert.Equal("x/ü 7 5 from ann", got);
        Assert.Throws<InvalidOperationException>(static () => new RoutedMessage("x", 7, default).Session);
    }

    private readonly struct Three : IFrameBody
    {
        public int Size => 3;

        public void Write(Span<byte> destination) => new byte[] { 1, 2, 3 }.CopyTo(destination);
    }

    private sealed class NoClient : IFastPortClient;

    private sealed class OneTopic : IFastPortClient
    {
        private RoutedHandler? _handler;

        public Task SubscribeAsync(
            string prefix, RoutedHandler handler, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        {
            _handler = handler;
            return Task.CompletedTask;
        }

        public void Publish(in RoutedMessage message) => _handler!(in message);

        public IAsyncEnumerable<TopicMessage<ReadOnlyMemory<byte>>> ReadTopicAsync(
            string prefix,
            int capacity = 256,
            BoundedChannelFullMode whenFull = BoundedChannelFullMode.DropOldest,
            Action? onSubscribed = null,
            TimeSpan? timeout = null,
            CancellationToken cancellationToken = default)
        {
            Assert.Equal(("x/", 2, BoundedChannelFullMode.DropOldest), (prefix, capacity, whenFull));
            TopicMessage<ReadOnlyMemory<byte>>[] messages =
                [new("x/ü", 7, new byte[] { 5 }, "ann", 3), new("x/2", 1, new byte[] { 2 })];
            return messages.ToAsyncEnumerable();
        }
    }

    private sealed class ByteClient : IFastPortClient
    {
        public List<string> Calls { get; } = [];

        public Task<byte[]> RequestAsync(
            ushort type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        {
            Calls.Add($"request {type} {Convert.ToHexString(body.Span)}");
            return Task.FromResult<byte[]>([5, 6, 7]);
        }

        public ValueTask<SendStatus> TrySendAsync(
            ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default)
        {
            Calls.Add($"send {type} {Convert.ToHexString(body.Span)}");
            return new(SendStatus.Queued);
        }

        public Task RelayAsync(
            string to, ushort type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        {
            Calls.Add($"relay {to} {type} {Convert.ToHexString(body.Span)}");
            return Task.CompletedTask;
        }

        public ValueTask RelayOneWayAsync(
            string to, ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
            new(RelayAsync(to, type, body, null, cancellationToken));

        public Task<int> PublishAsync(
            string topic, ushort type, ReadOnlyMemory<byte> body, TimeSpan? timeout = null, CancellationToken cancellationToken = default)
        {
            Calls.Add($"publish {topic} {type} {Convert.ToHexString(body.Span)}");
            return Task.FromResult(9);
        }

        public ValueTask PublishOneWayAsync(
            string topic, ushort type, ReadOnlyMemory<byte> body, CancellationToken cancellationToken = default) =>
            new(PublishAsync(topic, type, body, null, cancellationToken));
    }
}
