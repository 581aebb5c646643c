using System.Diagnostics;
using System.Globalization;
using FastPort.Hosting;

namespace FastPort.Client.Load;

/// <summary>Finds what limited the rate of a run, by how busy processor and loops were from its creation on.</summary>
internal sealed class RunBound
{
    // A loop, or all cores, that are busier than this have no room.
    private const double Full = 0.85;

    // A rate this near the one asked for is that rate.
    private const double Reached = 0.99;

    private readonly FastPortServer? _hosted;
    private readonly long _begun = Stopwatch.GetTimestamp();
    private readonly TimeSpan _processor = Environment.CpuUsage.TotalTime;
    private readonly IReadOnlyList<TimeSpan> _idle;

    /// <summary>Begins to look.</summary>
    /// <param name="hosted">The server inside this process; null if there is none.</param>
    public RunBound(FastPortServer? hosted)
    {
        _hosted = hosted;
        _idle = IdleTimes();
    }

    /// <summary>What limited the rate, such as "the rate asked for".</summary>
    public string Describe(LoadSettings settings, LoadMeasurement measured)
    {
        TimeSpan elapsed = Stopwatch.GetElapsedTime(_begun);
        double cores = (Environment.CpuUsage.TotalTime - _processor) / elapsed;
        double[] loops = [.. IdleTimes().Zip(_idle, (now, before) => 1 - ((now - before) / elapsed))];
        return Describe(settings, measured, cores, Environment.ProcessorCount, loops);
    }

    /// <param name="settings">The run.</param>
    /// <param name="measured">Its measurement.</param>
    /// <param name="cores">Cores that this process has used.</param>
    /// <param name="available">Cores that it may use.</param>
    /// <param name="loops">How busy each loop of the server inside this process was, 0 to 1; empty if unknown.</param>
    internal static string Describe(LoadSettings settings, LoadMeasurement measured, double cores, int available, double[] loops)
    {
        double perSecond = measured.Duration > TimeSpan.Zero ? measured.Messages / measured.Duration.TotalSeconds : 0;
        if (settings.Rate is { } rate && perSecond >= rate * Reached)
        {
            return "the rate asked for";
        }

        string busy = string.Create(CultureInfo.InvariantCulture, $"{cores:0.0} of {available} cores busy");
        string whose = settings.Server is null ? "load client and server share" : "the load client has";
        if (cores >= available * Full)
        {
            return $"the cores that {whose}, {busy}";
        }

        if (loops.Length != 0 && loops.Max() >= Full)
        {
            return string.Create(
                CultureInfo.InvariantCulture, $"the server's loops, {loops.Average() * 100:0} % busy; {busy}");
        }

        return settings switch
        {
            { Mode: not LoadMode.Echo } => $"the slower of sender and receiver; {busy} in the load client",
            { Rate: not null } => $"the server, the way to it, or the requests in flight; {busy} in the load client",
            _ => $"the round trip of the requests in flight; {busy} in the load client",
        };
    }

    private IReadOnlyList<TimeSpan> IdleTimes() => _hosted?.ReadLoad().LoopIdleTimes ?? [];
}
