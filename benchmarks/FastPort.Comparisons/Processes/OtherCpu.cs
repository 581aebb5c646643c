namespace FastPort.Comparisons.Processes;

/// <summary>CPU time that others take of the measured cores, from this object's creation on.</summary>
/// <param name="pinning">The cores.</param>
/// <param name="own">CPU seconds so far of the processes that are measured.</param>
internal sealed class OtherCpu(CpuPinning pinning, Func<double> own)
{
    private readonly CoreTime _cores = CoreMeter.Read(pinning.Both);
    private readonly double _own = own();
    private readonly long _begun = TimeProvider.System.GetTimestamp();

    /// <summary>In cores; null where nothing is pinned.</summary>
    public double? Share()
    {
        double elapsed = TimeProvider.System.GetElapsedTime(_begun).TotalSeconds;
        double others = CoreMeter.Read(pinning.Both).OthersSince(_cores, own() - _own);
        return pinning.IsPinned ? others / elapsed : null;
    }
}
