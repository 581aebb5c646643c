using System.Runtime.CompilerServices;
using FastPort.Tags;

namespace OpcUaPeer.Loads;

/// <summary><see cref="ReadLoad"/> through a bridge.</summary>
internal sealed class BridgeReadLoad(TagClient client, LoadSettings settings) : BridgeLoad(client)
{
    private readonly TagList[] _blocks = new TagList[TagValues.Count / settings.Count];
    private readonly TagSamples[] _samples = [.. Enumerable.Range(0, settings.Workers).Select(_ => new TagSamples())];
    private readonly int[] _next = [.. Enumerable.Range(0, settings.Workers)];

    // A value that may be old may have changed meanwhile.
    private readonly GenerationCheck _check = new(
        settings.MaxAge, behind: 1 + (int)Math.Ceiling(settings.BridgeMaxAge / TagServer.Period));

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public override async ValueTask RequestAsync(int worker)
    {
        int block = _next[worker]++ % _blocks.Length;
        GenerationCheck.Asked asked = _check.Ask();
        TagSamples samples = _samples[worker];
        await Client.ReadAsync(_blocks[block], samples, settings.BridgeMaxAge);
        for (int row = 0; row < samples.Count; row++)
        {
            int tag = (block * settings.Count) + row;
            int generation = samples.GetStatus(row).IsGood ? TagValues.GenerationOf(tag, samples, row) : -1;
            if (generation < 0)
            {
                throw GenerationCheck.NoValueOf(tag, $"{samples[row]}");
            }

            _check.Check(tag, generation, samples.GetSourceTime(row), asked);
        }
    }

    public override Task CheckAsync()
    {
        _check.RequireChanges();
        return Task.CompletedTask;
    }

    protected override async Task PrepareAsync()
    {
        for (int block = 0; block < _blocks.Length; block++)
        {
            _blocks[block] = await BridgeTags.FindAsync(
                Client, Enumerable.Range(block * settings.Count, settings.Count).Select(TagValues.Name));
        }
    }
}
