namespace FastPort.OpcUa.Server;

/// <summary>
/// The values of a monitored item that wait to be reported (OPC 10000-4, 5.13.1.5). The array grows with the actual values. Not
/// thread-safe.
/// </summary>
/// <param name="size">Maximum number of values; 1 or more.</param>
/// <param name="discardOldest">Whether the oldest value is dropped when there are too many, or the newest waiting one.</param>
/// <param name="freeBytes">Values of up to this many bytes are not counted. Defaults to 0: all are counted.</param>
internal sealed class ValueQueue(int size, bool discardOldest, int freeBytes = 0)
{
    // The status of a data value whose overflow bit is set (OPC 10000-4, 7.38.1).
    private const uint Overflow = 0x0480;
    private const int FirstCapacity = 4;

    // Each with its bytes: to count them takes long.
    private (DataValue Value, long Bytes)[] _values = [];
    private int _first;
    private int _size = size;
    private bool _discardOldest = discardOldest;

    public int Count { get; private set; }

    /// <summary>Sum of <see cref="BytesOf"/> of all values.</summary>
    public long Bytes { get; private set; }

    /// <summary>The approximate memory of a value; 0 if it is not counted.</summary>
    public long BytesOf(in DataValue value) => Counted(ValueBytes.Of(value.Value));

    /// <summary>As <see cref="BytesOf"/>, of a value with so many <see cref="ValueBytes"/>.</summary>
    public long Counted(long bytes) => bytes > freeBytes ? bytes : 0;

    /// <summary>Adds a value. A full queue of two or more values notes the loss at the value next to the one that was discarded.</summary>
    /// <param name="value">The value.</param>
    /// <param name="bytes">Its <see cref="BytesOf"/>.</param>
    public void Add(in DataValue value, long bytes)
    {
        if (Count < _size)
        {
            Grow();
            Set(Index(Count++), value, bytes);
            return;
        }

        // The only value of a queue is always the newest.
        if (_size == 1)
        {
            Set(_first, value, bytes);
            return;
        }

        if (!_discardOldest)
        {
            Set(Index(Count - 1), MarkOverflow(value), bytes);
            return;
        }

        Set(_first, value, bytes);
        _first = Index(1);
        MarkFirst();
    }

    /// <summary>Replaces all values by one, as if the size were 1.</summary>
    public void AddAlone(in DataValue value, long bytes)
    {
        bool isLoss = Count != 0 && _size > 1;
        Clear();
        Add(isLoss ? MarkOverflow(value) : value, bytes);
    }

    /// <summary>Removes and returns the oldest value; there must be one.</summary>
    public DataValue Take()
    {
        DataValue value = _values[_first].Value;
        Set(_first, default, 0);
        _first = Index(1);
        Count--;
        return value;
    }

    /// <summary>Puts back the last taken value. If the queue has filled up since, the value is lost.</summary>
    public void PutBack(in DataValue value)
    {
        if (Count < _size)
        {
            Grow();
            _first = Index(_values.Length - 1);
            Set(_first, value, BytesOf(value));
            Count++;
        }
        else if (_size > 1)
        {
            MarkFirst();
        }
    }

    public void Clear()
    {
        _values = [];
        _first = 0;
        Count = 0;
        Bytes = 0;
    }

    /// <summary>Changes size and policy. Values that no longer fit are discarded by the new policy.</summary>
    public void Resize(int size, bool discardOldest)
    {
        var values = new (DataValue Value, long Bytes)[Count];
        for (int i = 0; i < values.Length; i++)
        {
            values[i] = _values[Index(i)];
        }

        Clear();
        _size = size;
        _discardOldest = discardOldest;
        foreach ((DataValue value, long bytes) in values)
        {
            Add(value, bytes);
        }
    }

    private static DataValue MarkOverflow(in DataValue value) =>
        value with { Status = new StatusCode(value.Status.Value | Overflow) };

    private void MarkFirst() => _values[_first].Value = MarkOverflow(_values[_first].Value);

    // A slot without a value holds the default.
    private void Set(int index, in DataValue value, long bytes)
    {
        Bytes += bytes - _values[index].Bytes;
        _values[index] = (value, bytes);
    }

    private int Index(int i) => (int)(((uint)_first + (uint)i) % (uint)_values.Length);

    // The array of a full queue has exactly its size: the slot behind the last value is then the first one.
    private void Grow()
    {
        if (Count < _values.Length)
        {
            return;
        }

        var larger = new (DataValue Value, long Bytes)[(int)Math.Min(_size, Math.Max(FirstCapacity, 2L * _values.Length))];
        for (int i = 0; i < Count; i++)
        {
            larger[i] = _values[Index(i)];
        }

        _values = larger;
        _first = 0;
    }
}
