namespace FastPortPeer.Soak;

/// <summary>All loads at once for a time; prints its memory at intervals, then every account.</summary>
internal static class SoakDriver
{
    public static async Task RunAsync(string endpoint, string webSocket, TimeSpan duration, TimeSpan sampleInterval)
    {
        SoakLoad[] loads = [
            new EchoSoak(endpoint), new SinkSoak(endpoint), new SourceSoak(endpoint), new RelaySoak(endpoint), new ChurnSoak(endpoint),
            new SlowReaderSoak(endpoint), new EchoSoak(webSocket), new SinkSoak(webSocket), new SourceSoak(webSocket),
            new RelaySoak(webSocket)];
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
