using System.Diagnostics;
using FastPort.Telemetry;

namespace OpcUaPeer.Loads;

/// <summary>The client: as many workers as requests under way, each with a loop of its own.</summary>
internal sealed class LoadClient(ILoad load, LoadSettings settings)
{
    private static readonly double NanosecondsPerTick = 1e9 / Stopwatch.Frequency;

    private readonly LatencyHistogram[] _roundTrips = [.. Enumerable.Range(0, settings.Workers).Select(_ => new LatencyHistogram())];

    public static async Task RunAsync(LoadSettings settings)
    {
        await using ILoad load = settings.BridgeId is null ? await OpcUaLoad.StartAsync(settings) : await BridgeLoad.StartAsync(settings);
        await RunLines.AnswerAsync(new LoadClient(load, settings).MeasureAsync);
    }

    private async Task<string> MeasureAsync(double leadIn, double seconds)
    {
        await RequestAsync(leadIn);
        foreach (LatencyHistogram histogram in _roundTrips)
        {
            histogram.Reset();
        }

        long? serverAllocated = await load.ServerAllocatedAsync();
        var usage = ProcessUsage.Read(settings.ServerId, settings.BridgeId);
        long begun = Stopwatch.GetTimestamp();
        long[][] bySecond = await RequestAsync(seconds);
        double elapsed = Stopwatch.GetElapsedTime(begun).TotalSeconds;
        usage = ProcessUsage.Read(settings.ServerId, settings.BridgeId).Since(usage);
        serverAllocated = await load.ServerAllocatedAsync() - serverAllocated;
        await load.CheckAsync();

        var all = new LatencyHistogram();
        foreach (LatencyHistogram histogram in _roundTrips)
        {
            all.Merge(histogram);
        }

        return new LoadFigures(all.Snapshot(), elapsed, usage, settings.ServerId)
        {
            ServerAllocated = serverAllocated,
            BySecond = [.. Enumerable.Range(0, (int)seconds).Select(second => bySecond.Sum(worker => worker[second]))],
        }.ToLine();
    }

    // Returns each worker's messages by second.
    private Task<long[][]> RequestAsync(double seconds)
    {
        long begun = Stopwatch.GetTimestamp();
        return Task.WhenAll(Enumerable.Range(0, settings.Workers).Select(worker => Task.Run(() => WorkAsync(worker, begun, seconds))));
    }

    private async Task<long[]> WorkAsync(int worker, long begun, double seconds)
    {
        long until = begun + (long)(seconds * Stopwatch.Frequency);
        var bySecond = new long[(int)seconds + 1];
        LatencyHistogram roundTrips = _roundTrips[worker];
        long sent = Stopwatch.GetTimestamp();
        while (sent < until)
        {
            await load.RequestAsync(worker);
            long now = Stopwatch.GetTimestamp();
            roundTrips.Record((long)((now - sent) * NanosecondsPerTick));
            sent = now;
            if (now < until)
            {
                bySecond[(now - begun) / Stopwatch.Frequency]++;
            }
        }

        return bySecond;
    }
}
