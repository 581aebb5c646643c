using System.Diagnostics;
using System.Globalization;
using System.Threading.Channels;
using FastPort.Telemetry.Histograms;
using FastPortPeer;

namespace OpcUaPeer.Loads;

/// <summary>The client: as many workers as requests under way, each with a loop of its own.</summary>
internal sealed class LoadClient(ILoad load, LoadSettings settings)
{
    private static readonly double NanosecondsPerTick = 1e9 / Stopwatch.Frequency;

    private readonly LatencyHistogram[] _roundTrips = [.. Enumerable.Range(0, settings.Workers).Select(_ => new LatencyHistogram())];

    private readonly RateLines? _rate = settings.HasRateLines ? new RateLines(settings.Count) : null;

    public static async Task RunAsync(ILoad load, LoadSettings settings)
    {
        Console.WriteLine("ready");
        var runs = new LoadClient(load, settings);
        ChannelReader<string> lines = InputLines.Start();
        await foreach (string line in lines.ReadAllAsync())
        {
            string[] words = line.Split(' ');
            double leadIn = double.Parse(words[1], CultureInfo.InvariantCulture);
            double seconds = double.Parse(words[2], CultureInfo.InvariantCulture);
            Console.WriteLine(await runs.MeasureAsync(leadIn, seconds));
        }
    }

    private async Task<string> MeasureAsync(double leadIn, double seconds)
    {
        await RequestAsync(leadIn);
        foreach (LatencyHistogram histogram in _roundTrips)
        {
            histogram.Reset();
        }

        long? serverAllocated = await load.ServerAllocatedAsync();
        long allocated = GC.GetTotalAllocatedBytes(precise: true);
        TimeSpan serverCpu = ProcessFigures.Cpu(settings.ServerId);
        TimeSpan cpu = ProcessFigures.OwnCpu;
        _rate?.Begin();
        long begun = Stopwatch.GetTimestamp();
        await RequestAsync(seconds, _rate);
        double elapsed = Stopwatch.GetElapsedTime(begun).TotalSeconds;
        cpu = ProcessFigures.OwnCpu - cpu;
        serverCpu = ProcessFigures.Cpu(settings.ServerId) - serverCpu;
        allocated = GC.GetTotalAllocatedBytes(precise: true) - allocated;
        serverAllocated = await load.ServerAllocatedAsync() - serverAllocated;
        await load.CheckAsync();

        var all = new LatencyHistogram();
        foreach (LatencyHistogram histogram in _roundTrips)
        {
            all.Merge(histogram);
        }

        LatencySnapshot roundTrips = all.Snapshot();
        return LoadLine.Of(roundTrips, roundTrips.Count, elapsed, cpu, serverCpu, settings.ServerId, allocated, serverAllocated);
    }

    private Task RequestAsync(double seconds, RateLines? rate = null)
    {
        long until = Stopwatch.GetTimestamp() + (long)(seconds * Stopwatch.Frequency);
        return Task.WhenAll(Enumerable.Range(0, settings.Workers).Select(worker => Task.Run(() => WorkAsync(worker, until, rate))));
    }

    private async Task WorkAsync(int worker, long until, RateLines? rate)
    {
        LatencyHistogram roundTrips = _roundTrips[worker];
        long sent = Stopwatch.GetTimestamp();
        while (sent < until)
        {
            await load.RequestAsync(worker);
            long now = Stopwatch.GetTimestamp();
            roundTrips.Record((long)((now - sent) * NanosecondsPerTick));
            rate?.Count(now);
            sent = now;
        }
    }
}
