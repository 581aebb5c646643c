namespace FastPort.OpcUa.Server;

/// <summary>
/// Bounds what the index ranges of one request cost: each looks through the whole value or copies it, and one request can name a large
/// value ten thousand times, in a loop that other connections share.
/// </summary>
internal struct PartBudget
{
    // About 20 ms of copying.
    private const long MaxBytes = 64 * 1024 * 1024;

    private long _used;

    /// <summary>
    /// Whether one more part of a value may be read, which looks through texts from their beginning. The first one may in any case.
    /// </summary>
    public bool TryRead(in Variant value) => TryTake(value.Type is BuiltInType.String ? ValueBytes.Of(value) : 0);

    /// <summary>Whether a value may be copied once more. The first one may in any case.</summary>
    public bool TryCopy(in Variant value) => TryTake(ValueBytes.Of(value));

    private bool TryTake(long bytes)
    {
        if (_used > MaxBytes)
        {
            return false;
        }

        _used += bytes;
        return true;
    }
}
