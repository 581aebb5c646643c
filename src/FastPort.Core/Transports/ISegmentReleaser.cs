namespace FastPort.Transports;

/// <summary>Is told of each lent segment whose bytes are no longer needed.</summary>
internal interface ISegmentReleaser
{
    /// <summary>Releases the memory to the writer that lent it. Called once for each segment, under no lock.</summary>
    void Release(SendRing.Segment segment);
}
