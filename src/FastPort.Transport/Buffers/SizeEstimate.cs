namespace FastPort.Buffers;

/// <summary>
/// Estimates the bytes of the next burst: as many as the last burst had. After a large burst the estimate falls by an eighth with each
/// smaller one, so that bursts of changing sizes do not grow an array each time. Not thread-safe. <c>default</c> is the state before the
/// first burst.
/// </summary>
internal struct SizeEstimate
{
    /// <summary>Estimated bytes, 0 before the first burst.</summary>
    public int Expected { get; private set; }

    /// <summary>Records a burst.</summary>
    /// <param name="bytes">Bytes of the burst.</param>
    public void Saw(int bytes) => Expected = Math.Max(bytes, Expected - (Expected >> 3));
}
