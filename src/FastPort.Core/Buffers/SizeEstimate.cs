namespace FastPort.Buffers;

/// <summary>
/// How many bytes the next burst is likely to need: as many as the last one held. The room made for a large burst falls back by an eighth
/// with each smaller one, so that bursts of changing sizes do not grow an array anew each time. Not thread-safe. <c>default</c> has seen
/// none.
/// </summary>
internal struct SizeEstimate
{
    /// <summary>Bytes, 0 before the first burst.</summary>
    public int Expected { get; private set; }

    /// <summary>To be told of each burst.</summary>
    /// <param name="bytes">What it held.</param>
    public void Saw(int bytes) => Expected = Math.Max(bytes, Expected - (Expected >> 3));
}
