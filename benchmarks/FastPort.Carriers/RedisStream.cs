using StackExchange.Redis;

namespace FastPort.Carriers;

/// <summary>An entry a batch in the stream of the node, which reads with XREAD BLOCK on a connection of its own.</summary>
internal sealed class RedisStream(string engine) : ICarrier
{
    private readonly CancellationTokenSource _stop = new();
    private ConnectionMultiplexer _writing = null!;
    private ConnectionMultiplexer _reading = null!;
    private IDatabase _writer = null!;

    public async Task StartAsync(string node, Action<ReadOnlyMemory<byte>> received)
    {
        _writing = await ConnectionMultiplexer.ConnectAsync(engine);
        _reading = await ConnectionMultiplexer.ConnectAsync(engine);
        _writer = _writing.GetDatabase();
        await _writer.KeyDeleteAsync(node);
        _ = Task.Run(() => ReadAsync(node, received));
    }

    public ValueTask SendAsync(string node, byte[] batch)
    {
        _writer.StreamAdd(node, "b", batch, maxLength: 10_000, useApproximateMaxLength: true, flags: CommandFlags.FireAndForget);
        return default;
    }

    public async ValueTask DisposeAsync()
    {
        await _stop.CancelAsync();
        await _writing.DisposeAsync();
        await _reading.DisposeAsync();
        _stop.Dispose();
    }

    private async Task ReadAsync(string node, Action<ReadOnlyMemory<byte>> received)
    {
        IDatabase reader = _reading.GetDatabase();
        string last = "0";
        while (!_stop.IsCancellationRequested)
        {
            RedisResult result = await reader.ExecuteAsync("XREAD", "COUNT", 100, "BLOCK", 1000, "STREAMS", node, last);
            if (result.IsNull)
            {
                continue;
            }

            // RESP3 answers with a map of streams, RESP2 with an array of pairs.
            var streams = (RedisResult[])result!;
            RedisResult entries = streams.Length == 2 ? streams[1] : ((RedisResult[])streams[0]!)[1];
            foreach (RedisResult entry in (RedisResult[])entries!)
            {
                var parts = (RedisResult[])entry!;
                last = (string)parts[0]!;
                received((byte[])((RedisResult[])parts[1]!)[1]!);
            }
        }
    }
}
