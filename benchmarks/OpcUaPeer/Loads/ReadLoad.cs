using System.Runtime.CompilerServices;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace OpcUaPeer.Loads;

/// <summary>Reads neighboring tags, each worker others. Every value must be its tag's and pass the <see cref="GenerationCheck"/>.</summary>
internal sealed class ReadLoad(OpcUaClient client, int count, int workers, TimeSpan maxAge) : ILoad
{
    private readonly NodeId[][] _blocks = new NodeId[TagValues.Count / count][];
    private readonly DataValue[][] _values = [.. Enumerable.Range(0, workers).Select(_ => new DataValue[count])];
    private readonly int[] _next = [.. Enumerable.Range(0, workers)];
    private readonly GenerationCheck _check = new(maxAge, behind: 1);

    public async Task PrepareAsync()
    {
        ushort index = await Namespaces.FindAsync(client);
        for (int block = 0; block < _blocks.Length; block++)
        {
            _blocks[block] = [.. Enumerable.Range(block * count, count).Select(tag => new NodeId(index, TagValues.Id(tag)))];
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public async ValueTask RequestAsync(int worker)
    {
        int block = _next[worker]++ % _blocks.Length;
        GenerationCheck.Asked asked = _check.Ask();
        DataValue[] values = _values[worker];
        await client.ReadAsync(_blocks[block], values);
        for (int i = 0; i < values.Length; i++)
        {
            Check((block * count) + i, values[i], asked);
        }
    }

    public Task CheckAsync()
    {
        _check.RequireChanges();
        return Task.CompletedTask;
    }

    private void Check(int tag, in DataValue value, in GenerationCheck.Asked asked)
    {
        int generation = value.Status.IsGood ? TagValues.GenerationOf(tag, value.Value) : -1;
        if (generation < 0)
        {
            throw GenerationCheck.NoValueOf(tag, $"{value}");
        }

        _check.Check(tag, generation, value.SourceTimestamp, asked);
    }
}
