using System.Runtime.CompilerServices;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using FastPortPeer;

namespace OpcUaPeer.Loads;

/// <summary>
/// Reads neighboring tags, each worker others. Every value must be its tag's, of a generation that is not older than the one seen before,
/// and not too old when it was asked for: no stale answer passes.
/// </summary>
internal sealed class ReadLoad(int count, int workers, TimeSpan maxAge) : ILoad
{
    private readonly NodeId[][] _blocks = new NodeId[TagValues.Count / count][];
    private readonly DataValue[][] _values = [.. Enumerable.Range(0, workers).Select(_ => new DataValue[count])];
    private readonly int[] _next = [.. Enumerable.Range(0, workers)];
    private int _generation;
    private int _generations;

    public async Task PrepareAsync(OpcUaClient client)
    {
        ushort index = await Namespaces.FindAsync(client);
        for (int block = 0; block < _blocks.Length; block++)
        {
            _blocks[block] = [.. Enumerable.Range(block * count, count).Select(tag => new NodeId(index, TagValues.Id(tag)))];
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public async ValueTask RequestAsync(OpcUaClient client, int worker)
    {
        int block = _next[worker]++ % _blocks.Length;
        DateTime oldest = DateTime.UtcNow - maxAge;

        // A generation is told to all tags one after the other, so one before the newest is not stale yet.
        int least = Volatile.Read(ref _generation) - 1;
        DataValue[] values = _values[worker];
        await client.ReadAsync(_blocks[block], values);
        for (int i = 0; i < values.Length; i++)
        {
            Check((block * count) + i, values[i], oldest, least);
        }
    }

    public Task CheckAsync(OpcUaClient client)
    {
        // A run is longer than a period of changes only where it measures.
        return _generations > 0 ? Task.CompletedTask : throw new PeerException("No value has ever changed.");
    }

    private void Check(int tag, in DataValue value, DateTime oldest, int least)
    {
        int generation = value.Status.IsGood ? TagValues.GenerationOf(tag, value.Value) : -1;
        if (generation < 0)
        {
            throw new PeerException($"Tag {tag} has the value {value}, which is none of its values.");
        }

        if (value.SourceTimestamp < oldest)
        {
            throw new PeerException(
                $"The value of tag {tag} was set at {value.SourceTimestamp:O}, {maxAge.TotalSeconds} s or more before it was read.");
        }

        if (tag >= TagValues.Int32Count + TagValues.DoubleCount)
        {
            return;
        }

        if (generation < least)
        {
            throw new PeerException($"Tag {tag} has generation {generation} after {least + 1} was seen.");
        }

        int seen = Volatile.Read(ref _generation);
        if (generation > seen && Interlocked.CompareExchange(ref _generation, generation, seen) == seen)
        {
            Interlocked.Increment(ref _generations);
        }
    }
}
