using FastPort.OpcUa.Encoding;

namespace FastPort.OpcUa.Server;

/// <summary>
/// Bounds the cost of one request in addition to its own bytes, in a loop that other connections share: an index range may search the whole
/// value or copy it, and one request can name a large value ten thousand times; each written value is passed to all monitored items of its
/// variable.
/// </summary>
internal struct PartBudget
{
    // About 20 ms of copying.
    private const long MaxBytes = 64 * 1024 * 1024;

    // About 200 ms.
    private const long MaxTold = 1_000_000;

    // An item compares a value with the previous one: this many bytes take about as long as the rest.
    private const int BytesOfOne = 1024;

    private long _used;
    private long _told;

    /// <summary>Whether one more part of a value may be read. The first is always allowed.</summary>
    public bool TryRead(in Variant value, in NumericRange range) => !range.LooksInside(value) || TryCopy(value);

    /// <summary>Whether a value may be copied once more. The first copy is always allowed.</summary>
    public bool TryCopy(in Variant value)
    {
        // The rest of the budget is checked first: counting a value also takes long.
        if (_used > MaxBytes)
        {
            return false;
        }

        _used += ValueBytes.Of(value);
        return true;
    }

    /// <summary>Whether one more value may be passed to monitored items. The first is always allowed.</summary>
    /// <param name="items">How many items get it.</param>
    /// <param name="bytes">Its <see cref="ValueBytes"/>.</param>
    public bool TryTell(int items, long bytes)
    {
        if (_told > MaxTold)
        {
            return false;
        }

        _told += items * (1 + (bytes / BytesOfOne));
        return true;
    }
}
