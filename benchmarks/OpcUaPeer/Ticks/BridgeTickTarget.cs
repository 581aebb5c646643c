using FastPort;
using FastPort.Tags;
using OpcUaPeer.Loads;

namespace OpcUaPeer.Ticks;

/// <summary>The simulation's tags through a bridge, over FastPort.</summary>
internal sealed class BridgeTickTarget : ITickTarget
{
    private const int Written = 200;

    private readonly TagClient _client;
    private readonly TagList _tags;
    private readonly TagList _written;
    private readonly TimeSpan _maxAge;
    private readonly TagSamples _samples = new();
    private readonly TagSamples _values = new();
    private readonly TagValue[] _expected = new TagValue[TagValues.Count];
    private readonly byte[][] _texts = new byte[TagValues.StringCount][];
    private TagStatus[] _statuses = [];

    private BridgeTickTarget(TagClient client, TagList tags, TagList written, TimeSpan maxAge)
    {
        _client = client;
        _tags = tags;
        _written = written;
        _maxAge = maxAge;
    }

    public int ReadTags => TagValues.Count;

    public int WriteTags => Written;

    public static async Task<BridgeTickTarget> ConnectAsync(string endpoint, TimeSpan maxAge)
    {
        TagClient client = await TagClient.ConnectAsync(new FastPortClientOptions
        {
            Endpoint = endpoint,
            Reconnect = false,
            Loops = 1,

            // What follows an answer does nothing that blocks.
            RunContinuationsOnLoop = true,
        });
        TagList tags = await BridgeTags.FindAsync(client, Enumerable.Range(0, TagValues.Count).Select(TagValues.Name));
        TagList written = await BridgeTags.FindAsync(client, Enumerable.Range(0, Written).Select(TagValues.Name));
        var target = new BridgeTickTarget(client, tags, written, maxAge);
        await target.ReadAsync();
        target.Remember();
        return target;
    }

    public ValueTask ReadAsync() => _client.ReadAsync(_tags, _samples, _maxAge);

    public void CheckRead()
    {
        for (int tag = 0; tag < _expected.Length; tag++)
        {
            bool isExpected = _samples.GetStatus(tag).IsGood && tag switch
            {
                < TagValues.Int32Count => _samples.TryGet(tag, out int number) && number == _expected[tag].Get<int>(),
                < TagValues.Int32Count + TagValues.DoubleCount => _samples.TryGet(tag, out double real)
                    && real.Equals(_expected[tag].Get<double>()),

                // Where it lies: a string of it would be made at each tick.
                _ => _samples.GetTagType(tag) == TagType.String
                    && _samples.GetBytes(tag).SequenceEqual(_texts[tag - TagValues.Int32Count - TagValues.DoubleCount]),
            };
            if (!isExpected)
            {
                throw new PeerException($"{Name(tag)} is {_samples[tag]}, and was or got {_expected[tag]}.");
            }
        }
    }

    public async ValueTask WriteAsync()
    {
        _values.Clear();
        for (int i = 0; i < Written; i++)
        {
            // Tags stay different from each other: a mix-up is seen.
            _expected[i] = unchecked(_expected[i].Get<int>() + TagValues.Int32Count);
            _values.Add(_expected[i]);
        }

        _statuses = await _client.WriteAsync(_written, _values);
    }

    public void CheckWrite()
    {
        int bad = Array.FindIndex(_statuses, static status => !status.IsGood);
        if (bad >= 0)
        {
            throw new PeerException($"{Name(bad)} was not written: {_statuses[bad]}.");
        }
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();

    private static string Name(int tag) => TagValues.Bridged(TagValues.Name(tag));

    // Nobody else writes, so what the first read brings stays.
    private void Remember()
    {
        for (int tag = 0; tag < _expected.Length; tag++)
        {
            _expected[tag] = _samples.GetStatus(tag).IsGood
                ? _samples.GetValue(tag)
                : throw new PeerException($"{Name(tag)} is {_samples[tag]}: the bridge has other tags than the simulation.");
            if (tag >= TagValues.Int32Count + TagValues.DoubleCount)
            {
                _texts[tag - TagValues.Int32Count - TagValues.DoubleCount] = _samples.GetBytes(tag).ToArray();
            }
        }
    }
}
