namespace FastPort.OpcUa.Server;

/// <summary>
/// The values of a monitored item that wait to be reported (OPC 10000-4, 5.13.1.5). The array grows with what is really there. Not
/// thread-safe.
/// </summary>
internal sealed class ValueQueue(int size, bool discardOldest)
{
    // The status of a data value whose overflow bit is set (OPC 10000-4, 7.38.1).
    private const uint Overflow = 0x0480;
    private const int FirstCapacity = 4;

    private DataValue[] _values = [];
    private int _first;
    private int _size = size;
    private bool _discardOldest = discardOldest;

    public int Count { get; private set; }

    /// <summary>Adds a value. A full queue of two or more values notes the loss at the value next to the one that was discarded.</summary>
    public void Add(in DataValue value)
    {
        if (Count < _size)
        {
            Grow();
            _values[Index(Count++)] = value;
            return;
        }

        // The only value of a queue is always the newest.
        if (_size == 1)
        {
            _values[_first] = value;
            return;
        }

        if (!_discardOldest)
        {
            _values[Index(Count - 1)] = MarkOverflow(value);
            return;
        }

        _values[_first] = value;
        _first = Index(1);
        _values[_first] = MarkOverflow(_values[_first]);
    }

    /// <summary>Removes and returns the oldest value; there must be one.</summary>
    public DataValue Take()
    {
        DataValue value = _values[_first];
        _values[_first] = default;
        _first = Index(1);
        Count--;
        return value;
    }

    public void Clear()
    {
        _values = [];
        _first = 0;
        Count = 0;
    }

    /// <summary>Changes size and policy. Values that do not fit any more are discarded as the new policy says.</summary>
    public void Resize(int size, bool discardOldest)
    {
        DataValue[] values = new DataValue[Count];
        for (int i = 0; i < values.Length; i++)
        {
            values[i] = _values[Index(i)];
        }

        Clear();
        _size = size;
        _discardOldest = discardOldest;
        foreach (DataValue value in values)
        {
            Add(value);
        }
    }

    private static DataValue MarkOverflow(in DataValue value) =>
        value with { Status = new StatusCode(value.Status.Value | Overflow) };

    private int Index(int i) => (int)(((uint)_first + (uint)i) % (uint)_values.Length);

    // The array of a full queue has exactly its size: the slot behind the last value is then the first one.
    private void Grow()
    {
        if (Count < _values.Length)
        {
            return;
        }

        var larger = new DataValue[(int)Math.Min(_size, Math.Max(FirstCapacity, 2L * _values.Length))];
        for (int i = 0; i < Count; i++)
        {
            larger[i] = _values[Index(i)];
        }

        _values = larger;
        _first = 0;
    }
}
