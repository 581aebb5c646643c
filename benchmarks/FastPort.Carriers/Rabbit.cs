using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace FastPort.Carriers;

/// <summary>A message a batch through a queue of the node that is gone when the node is.</summary>
internal sealed class Rabbit(string engine) : ICarrier
{
    private IConnection _connection = null!;
    private IChannel _publishing = null!;

    public async Task StartAsync(string node, Action<ReadOnlyMemory<byte>> received)
    {
        _connection = await new ConnectionFactory { Uri = new Uri(engine) }.CreateConnectionAsync();
        _publishing = await _connection.CreateChannelAsync();
        IChannel consuming = await _connection.CreateChannelAsync();
        await consuming.QueueDeclareAsync(node, durable: false, exclusive: false, autoDelete: true);
        var consumer = new AsyncEventingBasicConsumer(consuming);
        consumer.ReceivedAsync += (_, delivery) =>
        {
            received(delivery.Body);
            return Task.CompletedTask;
        };
        await consuming.BasicConsumeAsync(node, autoAck: true, consumer);
    }

    public ValueTask SendAsync(string node, byte[] batch) => _publishing.BasicPublishAsync(string.Empty, node, batch);

    public ValueTask DisposeAsync() => _connection.DisposeAsync();
}
