using System.Diagnostics;
using StackExchange.Redis;

namespace FastPortPeer.Nodes;

/// <summary>
/// The reference: one publication a message to one subscriber, so many on their way. What the subscriber has received begins the next.
/// </summary>
internal sealed class PublicationLoad : NodeLoad, IAsyncDisposable
{
    private static readonly RedisChannel Channel = RedisChannel.Literal("publications");

    private readonly Queue<long> _sent = new();
    private ConnectionMultiplexer? _publishing;
    private ConnectionMultiplexer? _subscribed;
    private ISubscriber? _publisher;
    private byte[] _message = [];
    private int _count;

    protected override int Count => _count;

    public async Task StartAsync(string redis, int inFlight, int size)
    {
        _publishing = await ConnectionMultiplexer.ConnectAsync(redis);
        _subscribed = await ConnectionMultiplexer.ConnectAsync(redis);
        _publisher = _publishing.GetSubscriber();
        _message = new byte[size];
        _count = inFlight;
        ChannelMessageQueue received = await _subscribed.GetSubscriber().SubscribeAsync(Channel);
        received.OnMessage(_ =>
        {
            long sentAt;
            lock (_sent)
            {
                sentAt = _sent.Dequeue();
            }

            if (Confirmed(sentAt))
            {
                Publish();
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
            Publish();
        }
    }

    protected override void Throw()
    {
        // What is lost is missed at the end of the run.
    }

    private void Publish()
    {
        lock (_sent)
        {
            _sent.Enqueue(Stopwatch.GetTimestamp());
            _publisher!.Publish(Channel, _message, CommandFlags.FireAndForget);
        }
    }
}
