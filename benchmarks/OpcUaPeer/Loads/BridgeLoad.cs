using System.Runtime.CompilerServices;
using FastPort.Protocol.Tags;
using FastPort.Protocol.Tags.Clients;
using FastPortPeer;

namespace OpcUaPeer.Loads;

/// <summary>As <see cref="ReadLoad"/>, of the same tags through a bridge, over FastPort; each value is read from the device.</summary>
internal sealed class BridgeLoad : ILoad
{
    private readonly TagClient _client;
    private readonly TagList[] _blocks;
    private readonly TagSamples[] _samples;
    private readonly int[] _next;
    private readonly Generations _generations;

    private BridgeLoad(TagClient client, TagList[] blocks, LoadSettings settings)
    {
        _client = client;
        _blocks = blocks;
        _samples = [.. Enumerable.Range(0, settings.Workers).Select(_ => new TagSamples())];
        _next = [.. Enumerable.Range(0, settings.Workers)];
        _generations = new Generations(settings.MaxAge);
    }

    public static async Task<ILoad> StartAsync(LoadSettings settings)
    {
        TagClient client = await TagClient.ConnectAsync(settings.Endpoint);
        var blocks = new TagList[TagValues.Count / settings.Count];
        for (int i = 0; i < blocks.Length; i++)
        {
            blocks[i] = await client.ResolveAsync(Enumerable.Range(i * settings.Count, settings.Count).Select(TagValues.BridgedName));
            int unknown = blocks[i].Infos.TakeWhile(static info => info is not null).Count();
            if (unknown < settings.Count)
            {
                throw new PeerException($"The bridge does not know {TagValues.BridgedName((i * settings.Count) + unknown)}.");
            }
        }

        return new BridgeLoad(client, blocks, settings);
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    public async ValueTask RequestAsync(int worker)
    {
        int block = _next[worker]++ % _blocks.Length;
        Generations.Bounds bounds = _generations.Now();
        TagSamples samples = _samples[worker];
        await _client.ReadAsync(_blocks[block], samples);
        int first = block * samples.Count;
        for (int i = 0; i < samples.Count; i++)
        {
            int generation = samples.GetStatus(i).IsGood ? TagValues.GenerationOf(first + i, samples, i) : -1;
            _generations.Check(first + i, generation, samples.GetSourceTime(i), bounds);
        }
    }

    public Task CheckAsync()
    {
        _generations.CheckChanged();
        return Task.CompletedTask;
    }

    public Task<long?> ServerAllocatedAsync() => Task.FromResult<long?>(null);

    public ValueTask DisposeAsync() => _client.DisposeAsync();
}
