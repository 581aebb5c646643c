using System.Buffers.Binary;
using FastPort.Redis.Wire;
using StackExchange.Redis;
using Xunit;

namespace FastPort.Redis.Tests.Support;

/// <summary>Writes batches of its own to a node's channel, in the name of another.</summary>
internal sealed class Stranger : IAsyncDisposable
{
    private readonly ConnectionMultiplexer _redis;
    private readonly RedisChannel _channel;
    private readonly ulong _sender;

    private Stranger(ConnectionMultiplexer redis, Node from, Node to)
    {
        _redis = redis;
        _sender = from.Backplane.Running!.Members.Self.Instance;
        _channel = to.Backplane.Running!.Transport.ChannelOf(to.Backplane.Running!.Members.Self.Instance);
    }

    public static async Task<Stranger> ConnectAsync(RedisProcess redis, Node from, Node to) =>
        new(await ConnectionMultiplexer.ConnectAsync(redis.Connection), from, to);

    /// <summary>Sends bytes as they are.</summary>
    public Task SendAsync(byte[] bytes) => _redis.GetDatabase().PublishAsync(_channel, bytes);

    /// <summary>Sends a batch with these entries.</summary>
    public Task SendAsync(ulong number, params (byte Kind, byte[] Payload)[] entries) => SendAsync(Batch(number, entries));

    /// <summary>Sends a batch with these entries twice, with nothing of the node itself in between.</summary>
    public async Task SendTwiceAsync(ulong number, params (byte Kind, byte[] Payload)[] entries)
    {
        byte[] batch = Batch(number, entries);
        ITransaction both = _redis.GetDatabase().CreateTransaction();
        Task<long> first = both.PublishAsync(_channel, batch);
        Task<long> second = both.PublishAsync(_channel, batch);
        Assert.True(await both.ExecuteAsync());
        Assert.Equal((1, 1), (await first, await second));
    }

    /// <summary>A batch that ends with an entry whose length is a lie.</summary>
    public Task SendTruncatedAsync(ulong number)
    {
        var batch = new BatchBuffer();
        batch.Add(EntryKind.Wanted, 4).Clear();
        batch.Seal(_sender, number);
        byte[] bytes = batch.Memory.ToArray();
        BinaryPrimitives.WriteInt32LittleEndian(bytes.AsSpan(BatchBuffer.HeaderSize + 1), 1000);
        return SendAsync(bytes);
    }

    public ValueTask DisposeAsync() => _redis.DisposeAsync();

    private byte[] Batch(ulong number, (byte Kind, byte[] Payload)[] entries)
    {
        var batch = new BatchBuffer();
        foreach ((byte kind, byte[] payload) in entries)
        {
            payload.CopyTo(batch.Add((EntryKind)kind, payload.Length));
        }

        batch.Seal(_sender, number);
        return batch.Memory.ToArray();
    }
}
