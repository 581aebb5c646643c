using System.Buffers.Binary;
using System.Diagnostics;
using StackExchange.Redis;

namespace FastPortPeer.Nodes;

/// <summary>
/// The reference: one publication a message to one subscriber, so many on their way. What the subscriber has received begins the next.
/// </summary>
internal sealed class PublicationLoad : NodeLoad, IAsyncDisposable
{
    private static readonly RedisChannel Channel = RedisChannel.Literal("publications");

    private readonly Queue<Publication> _sent = new();
    private ConnectionMultiplexer? _publishing;
    private ConnectionMultiplexer? _subscribed;
    private ISubscriber? _publisher;
    private string? _failed;
    private long _number;
    private int _size;
    private int _count;

    protected override int Count => _count;

    public async Task StartAsync(string redis, int inFlight, int size)
    {
        _publishing = await ConnectionMultiplexer.ConnectAsync(redis);
        _subscribed = await ConnectionMultiplexer.ConnectAsync(redis);
        _publisher = _publishing.GetSubscriber();
        (_size, _count) = (Math.Max(sizeof(long), size), inFlight);
        ChannelMessageQueue received = await _subscribed.GetSubscriber().SubscribeAsync(Channel);
        received.OnMessage(message =>
        {
            Publication sent;
            lock (_sent)
            {
                sent = _sent.Dequeue();
            }

            if (!((ReadOnlyMemory<byte>)message.Message).Span.SequenceEqual(sent.Body))
            {
                _failed = "A publication has come that is not the next one.";
            }

            if (Confirmed(sent.At))
            {
                Publish(sent.Body);
            }
        });
    }

    public async ValueTask DisposeAsync()
    {
        await (_publishing?.DisposeAsync() ?? default);
        await (_subscribed?.DisposeAsync() ?? default);
    }

    protected override void Begin()
    {
        for (int i = 0; i < _count; i++)
        {
            Publish(new byte[_size]);
        }
    }

    protected override void Throw()
    {
        // What is lost is missed at the end of the run, or the one after it comes instead.
        if (_failed is not null)
        {
            throw new PeerException(_failed);
        }
    }

    // The body is free for the next number: what has come was written.
    private void Publish(byte[] body)
    {
        lock (_sent)
        {
            BinaryPrimitives.WriteInt64LittleEndian(body, ++_number);
            _sent.Enqueue(new Publication(Stopwatch.GetTimestamp(), body));
            _publisher!.Publish(Channel, body, CommandFlags.FireAndForget);
        }
    }

    private readonly record struct Publication(long At, byte[] Body);
}
