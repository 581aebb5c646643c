using FastPort.OpcUa;
using FastPort.OpcUa.Client;
using OpcUaPeer.Loads;

namespace OpcUaPeer.Ticks;

/// <summary>The simulation's tags through one OPC UA session.</summary>
internal sealed class OpcUaTickTarget : ITickTarget
{
    private const int Written = 200;

    private readonly OpcUaClient _client;
    private readonly NodeId[] _nodes;
    private readonly DataValue[] _values = new DataValue[TagValues.Count];
    private readonly KeyValuePair<NodeId, Variant>[] _writes = new KeyValuePair<NodeId, Variant>[Written];
    private readonly StatusCode[] _statuses = new StatusCode[Written];
    private readonly int[] _numbers = new int[TagValues.Int32Count];
    private readonly double[] _reals = new double[TagValues.DoubleCount];
    private readonly string[] _texts = new string[TagValues.StringCount];

    private OpcUaTickTarget(OpcUaClient client, ushort index)
    {
        _client = client;
        _nodes = [.. Enumerable.Range(0, TagValues.Count).Select(tag => new NodeId(index, TagValues.Id(tag)))];
    }

    public int ReadTags => TagValues.Count;

    public int WriteTags => Written;

    public static async Task<OpcUaTickTarget> ConnectAsync(string endpoint, OpcUaClientOptions options)
    {
        OpcUaClient client = await OpcUaClient.ConnectAsync(endpoint, options);
        try
        {
            var target = new OpcUaTickTarget(client, await Namespaces.FindAsync(client));
            await target.ReadAsync();
            target.Remember();
            return target;
        }
        catch
        {
            await client.DisposeAsync();
            throw;
        }
    }

    public ValueTask ReadAsync() => _client.ReadAsync(_nodes, _values);

    public void CheckRead()
    {
        for (int tag = 0; tag < _values.Length; tag++)
        {
            if (!IsExpected(tag, _values[tag]))
            {
                throw new PeerException($"Tag {tag} has the value {_values[tag]}, which is not the one that it had or got.");
            }
        }
    }

    public ValueTask WriteAsync()
    {
        for (int i = 0; i < Written; i++)
        {
            // Tags stay different from each other: a mix-up is seen.
            _numbers[i] = unchecked(_numbers[i] + TagValues.Int32Count);
            _writes[i] = KeyValuePair.Create(_nodes[i], (Variant)_numbers[i]);
        }

        return _client.WriteAsync(_writes, _statuses);
    }

    public void CheckWrite()
    {
        int bad = Array.FindIndex(_statuses, static status => !status.IsGood);
        if (bad >= 0)
        {
            throw new PeerException($"Tag {bad} was not written: {_statuses[bad]}.");
        }
    }

    public ValueTask DisposeAsync() => _client.DisposeAsync();

    // What the first read brings is checked by type only; nobody else writes, so it stays.
    private void Remember()
    {
        for (int tag = 0; tag < _values.Length; tag++)
        {
            Variant value = _values[tag].Value;
            bool isTyped = tag switch
            {
                < TagValues.Int32Count => value.TryGet(out _numbers[tag]),
                < TagValues.Int32Count + TagValues.DoubleCount => value.TryGet(out _reals[tag - TagValues.Int32Count]),
                _ => value.TryGet(out _texts[tag - TagValues.Int32Count - TagValues.DoubleCount]),
            };
            if (!isTyped || !_values[tag].Status.IsGood)
            {
                throw new PeerException($"Tag {tag} has the value {_values[tag]}: the server has other tags than the simulation.");
            }
        }
    }

    private bool IsExpected(int tag, in DataValue value) => value.Status.IsGood && tag switch
    {
        < TagValues.Int32Count => value.Value.TryGet(out int number) && number == _numbers[tag],
        < TagValues.Int32Count + TagValues.DoubleCount => value.Value.TryGet(out double real)
            && real.Equals(_reals[tag - TagValues.Int32Count]),
        _ => value.Value.TryGet(out string text) && text == _texts[tag - TagValues.Int32Count - TagValues.DoubleCount],
    };
}
