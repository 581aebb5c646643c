using System.Diagnostics;
using StackExchange.Redis;

namespace FastPortPeer.Nodes;

/// <summary>
/// The reference: one publication a message to one subscriber, so many on their way. What the subscriber has received begins the next.
/// </summary>
internal sealed class PublicationLoad : NodeLoad, IAsyncDisposable
{
    private static readonly RedisChannel Channel = RedisChannel.Literal("publications");

    private ConnectionMultiplexer? _publishing;
    private ConnectionMultiplexer? _subscribed;

    public async Task StartAsync(string redis, int inFlight, int size)
    {
        _publishing = await ConnectionMultiplexer.ConnectAsync(redis);
        _subscribed = await ConnectionMultiplexer.ConnectAsync(redis);
        ISubscriber publisher = _publishing.GetSubscriber();
        byte[] message = new byte[size];
        var sent = new Queue<long>();
        ChannelMessageQueue received = await _subscribed.GetSubscriber().SubscribeAsync(Channel);
        received.OnMessage(_ =>
        {
            long sentAt;
            lock (sent)
            {
                sentAt = sent.Dequeue();
            }

            Confirmed(sentAt);
            Publish();
        });
        for (int i = 0; i < inFlight; i++)
        {
            Publish();
        }

        void Publish()
        {
            lock (sent)
            {
                sent.Enqueue(Stopwatch.GetTimestamp());
                publisher.Publish(Channel, message, CommandFlags.FireAndForget);
            }
        }
    }

    public async ValueTask DisposeAsync()
    {
        await (_publishing?.DisposeAsync() ?? default);
        await (_subscribed?.DisposeAsync() ?? default);
    }

    protected override void Throw()
    {
    }
}
