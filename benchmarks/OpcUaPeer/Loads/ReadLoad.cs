using System.Runtime.CompilerServices;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace OpcUaPeer.Loads;

/// <summary>Reads neighboring tags, each worker others. Every value must be its tag's and pass the <see cref="GenerationCheck"/>.</summary>
internal sealed class ReadLoad(IReadOnlyList<OpcUaClient> clients, LoadSettings settings) : OpcUaLoad(clients)
{
    // By client: registered ids are a session's own.
    private readonly NodeId[][][] _blocks = new NodeId[settings.Clients][][];
    private readonly DataValue[][] _values = [.. Enumerable.Range(0, settings.Workers).Select(_ => new DataValue[settings.Count])];
    private readonly int[] _next = [.. Enumerable.Range(0, settings.Workers)];
    private readonly GenerationCheck _check = new(settings.MaxAge, behind: 1);

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public override async ValueTask RequestAsync(int worker)
    {
        NodeId[][] blocks = _blocks[worker % _blocks.Length];
        int block = _next[worker]++ % blocks.Length;
        GenerationCheck.Asked asked = _check.Ask();
        DataValue[] values = _values[worker];
        await ClientOf(worker).ReadAsync(blocks[block], values);
        int first = block * values.Length;
        for (int i = 0; i < values.Length; i++)
        {
            ref DataValue value = ref values[i];
            int generation = value.Status.IsGood ? TagValues.GenerationOf(first + i, value.Value) : -1;
            if (generation < 0)
            {
                throw GenerationCheck.NoValueOf(first + i, $"{value}");
            }

            _check.Check(first + i, generation, value.SourceTimestamp, asked);
        }
    }

    public override Task CheckAsync()
    {
        _check.RequireChanges();
        return Task.CompletedTask;
    }

    protected override async Task PrepareAsync(ushort index)
    {
        NodeId[] ids = [.. Enumerable.Range(0, TagValues.Count).Select(tag => new NodeId(index, TagValues.Id(tag)))];
        for (int i = 0; i < _blocks.Length; i++)
        {
            NodeId[] own = settings.RegistersNodes ? await Clients[i].RegisterNodesAsync(ids) : ids;
            _blocks[i] = [.. own.Chunk(settings.Count).Where(block => block.Length == settings.Count)];
        }
    }
}
