using System.Diagnostics;
using System.Globalization;

namespace FastPort.Client.Load;

/// <summary>Finds what limited the rate of a run, by how busy processor and loops were from its creation on.</summary>
internal sealed class RunBound
{
    // A loop, or all cores together, that are busier than this have no capacity left.
    private const double Full = 0.85;

    // A rate this close to the requested one counts as reached.
    private const double Reached = 0.99;

    private readonly FastPortServer? _hosted;
    private readonly long _begun = Stopwatch.GetTimestamp();
    private readonly TimeSpan _processor = Environment.CpuUsage.TotalTime;
    private readonly IReadOnlyList<TimeSpan> _idle;
    private readonly (long Busy, long All) _machine = ReadMachine();

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
        (long busy, long all) = ReadMachine();
        double machine = all > _machine.All ? (double)(busy - _machine.Busy) / (all - _machine.All) : 0;
        return Describe(settings, measured, new Use(cores, Environment.ProcessorCount, machine, loops));
    }

    internal static string Describe(LoadSettings settings, LoadMeasurement measured, Use use)
    {
        double perSecond = measured.Duration > TimeSpan.Zero ? measured.Messages / measured.Duration.TotalSeconds : 0;
        if (settings.Rate is { } rate && perSecond >= rate * Reached)
        {
            return "the rate asked for";
        }

        string busy = string.Create(CultureInfo.InvariantCulture, $"{use.Cores:0.0} of {use.Available} cores");
        if (use.Cores >= use.Available * Full)
        {
            return settings.Server is null ? $"the cores that load client and server share: {busy} busy" : $"the load client: {busy} busy";
        }

        if (use.Machine >= Full)
        {
            return string.Create(
                CultureInfo.InvariantCulture, $"the cores of the machine, {use.Machine * 100:0} % busy; the load client had {busy}");
        }

        if (use.Loops.Length != 0 && use.Loops.Max() >= Full)
        {
            return string.Create(
                CultureInfo.InvariantCulture, $"the server's loops, {use.Loops.Average() * 100:0} % busy; the load client had {busy}");
        }

        return settings switch
        {
            { Mode: not LoadMode.Echo } => $"the slower of sender and receiver; the load client had {busy}",
            { Rate: not null } => $"the server, the way to it, or the requests in flight; the load client had {busy}",
            _ => $"the round trip of the requests in flight; the load client had {busy}",
        };
    }

    // Ticks of all cores together since the start of the machine; nothing if the system does not report them.
    private static (long Busy, long All) ReadMachine()
    {
        try
        {
            // cpu user nice system idle iowait irq softirq steal guest guest_nice; the last two are part of the first two.
            string line = File.ReadLines("/proc/stat").First();
            long[] ticks =
            [
                .. line.Split(' ', StringSplitOptions.RemoveEmptyEntries).Skip(1).Take(8)
                    .Select(static text => long.Parse(text, CultureInfo.InvariantCulture)),
            ];
            long all = ticks.Sum();
            return (all - ticks[3] - ticks[4], all);
        }
        catch (Exception e) when (
            e is IOException or UnauthorizedAccessException or FormatException or InvalidOperationException or IndexOutOfRangeException)
        {
            return default;
        }
    }

    private IReadOnlyList<TimeSpan> IdleTimes() => _hosted?.ReadLoad().LoopIdleTimes ?? [];

    /// <summary>What a run has used.</summary>
    /// <param name="Cores">Cores that this process has used.</param>
    /// <param name="Available">Cores that it may use.</param>
    /// <param name="Machine">How busy all cores of the machine were with any program, 0 to 1; 0 if unknown.</param>
    /// <param name="Loops">How busy each loop of the server inside this process was, 0 to 1; empty if unknown.</param>
    internal sealed record Use(double Cores, int Available, double Machine, double[] Loops);
}
