namespace FastPortPeer.Soak;

/// <summary>All loads at once for a time; prints its memory at intervals, then every account.</summary>
internal static class SoakDriver
{
    public static async Task RunAsync(SoakTarget target, TimeSpan duration, TimeSpan sampleInterval)
    {
        SoakLoad[] loads = [
            new EchoSoak(target), new SinkSoak(target), new SourceSoak(target), new RelaySoak(target), new ChurnSoak(target),
            new SlowReaderSoak(target)];
        using var stop = new CancellationTokenSource(duration);
        Task sampling = SoakLine.PrintMemoryAsync(sampleInterval, stop.Token);
        await Task.WhenAll(loads.Select(load => load.RunAsync(stop.Token)));
        await sampling;
        foreach (SoakLoad load in loads)
        {
            load.Print();
        }
    }
}
