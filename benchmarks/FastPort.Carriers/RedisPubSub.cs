using StackExchange.Redis;

namespace FastPort.Carriers;

/// <summary>A publication a batch; each node subscribes to a channel of its own.</summary>
internal sealed class RedisPubSub(string engine) : ICarrier
{
    private ConnectionMultiplexer _redis = null!;
    private ISubscriber _publisher = null!;

    public async Task StartAsync(string node, Action<ReadOnlyMemory<byte>> received)
    {
        _redis = await ConnectionMultiplexer.ConnectAsync(engine);
        _publisher = _redis.GetSubscriber();
        ChannelMessageQueue queue = await _publisher.SubscribeAsync(RedisChannel.Literal(node));
        queue.OnMessage(message => received((ReadOnlyMemory<byte>)message.Message));
    }

    public ValueTask SendAsync(string node, byte[] batch)
    {
        _publisher.Publish(RedisChannel.Literal(node), batch, CommandFlags.FireAndForget);
        return default;
    }

    public ValueTask DisposeAsync() => _redis.DisposeAsync();
}
