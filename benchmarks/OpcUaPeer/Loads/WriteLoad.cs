using System.Runtime.CompilerServices;
using FastPort.OpcUa;
using FastPort.OpcUa.Client;

namespace OpcUaPeer.Loads;

/// <summary>
/// Writes tags of type Int32: of one tag, each worker another one; of more, all workers the same. Afterwards every tag must hold what its
/// last writer has written, who is one of the workers.
/// </summary>
internal sealed class WriteLoad(IReadOnlyList<OpcUaClient> clients, int count, int workers) : OpcUaLoad(clients)
{
    private readonly KeyValuePair<NodeId, Variant>[][] _writes = new KeyValuePair<NodeId, Variant>[workers][];
    private readonly StatusCode[][] _statuses = [.. Enumerable.Range(0, workers).Select(_ => new StatusCode[count])];
    private readonly int[] _last = new int[workers];

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public override async ValueTask RequestAsync(int worker)
    {
        // No two workers ever write the same number.
        int number = _last[worker] = _last[worker] == 0 ? worker + 1 : _last[worker] + workers;
        KeyValuePair<NodeId, Variant>[] writes = _writes[worker];
        for (int i = 0; i < writes.Length; i++)
        {
            writes[i] = KeyValuePair.Create(writes[i].Key, (Variant)(number + i));
        }

        StatusCode[] statuses = _statuses[worker];
        await ClientOf(worker).WriteAsync(writes, statuses);
        foreach (StatusCode status in statuses)
        {
            if (!status.IsGood)
            {
                throw new PeerException($"A write has failed: {status}.");
            }
        }
    }

    public override async Task CheckAsync()
    {
        for (int worker = 0; worker < workers; worker++)
        {
            DataValue[] values = await Clients[0].ReadAsync([.. _writes[worker].Select(static write => write.Key)]);
            for (int i = 0; i < values.Length; i++)
            {
                if (!values[i].Value.TryGet(out int number)
                    || (count == 1 ? number != _last[worker] : !_last.Contains(number - i)))
                {
                    throw new PeerException($"A tag has the value {values[i]}, which was not the last one to be written.");
                }
            }
        }
    }

    protected override Task PrepareAsync(ushort index)
    {
        for (int worker = 0; worker < workers; worker++)
        {
            int first = count == 1 ? worker : 0;
            _writes[worker] =
            [
                .. Enumerable.Range(first, count)
                    .Select(tag => KeyValuePair.Create(new NodeId(index, TagValues.Id(tag)), default(Variant))),
            ];
        }

        return Task.CompletedTask;
    }
}
