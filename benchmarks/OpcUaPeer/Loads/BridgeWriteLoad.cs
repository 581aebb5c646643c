using System.Runtime.CompilerServices;
using FastPort.Tags;

namespace OpcUaPeer.Loads;

/// <summary><see cref="WriteLoad"/> through a bridge.</summary>
internal sealed class BridgeWriteLoad(TagClient client, int count, int workers) : BridgeLoad(client)
{
    private readonly TagList[] _tags = new TagList[workers];
    private readonly TagSamples[] _values = [.. Enumerable.Range(0, workers).Select(_ => new TagSamples())];
    private readonly int[] _last = new int[workers];

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public override async ValueTask RequestAsync(int worker)
    {
        // No two workers ever write the same number.
        int number = _last[worker] = _last[worker] == 0 ? worker + 1 : _last[worker] + workers;
        TagSamples values = _values[worker];
        values.Clear();
        for (int i = 0; i < count; i++)
        {
            values.Add(number + i);
        }

        foreach (TagStatus status in await Client.WriteAsync(_tags[worker], values))
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
            TagSamples samples = await Client.ReadAsync(_tags[worker]);
            for (int i = 0; i < samples.Count; i++)
            {
                if (!samples.TryGet(i, out int number)
                    || (count == 1 ? number != _last[worker] : !_last.Contains(number - i)))
                {
                    throw new PeerException($"A tag has the value {samples[i]}, which was not the last one to be written.");
                }
            }
        }
    }

    protected override async Task PrepareAsync()
    {
        for (int worker = 0; worker < workers; worker++)
        {
            int first = count == 1 ? worker : 0;
            _tags[worker] = await BridgeTags.FindAsync(Client, Enumerable.Range(first, count).Select(TagValues.Name));
        }
    }
}
