using System.Text.Json;
using FastPort.Comparisons.Hostile;
using FastPort.Comparisons.Measuring;

namespace FastPort.Comparisons.Scenarios;

/// <summary>What the good clients had in one phase.</summary>
/// <param name="Messages">Requests that were answered, each with its own bytes.</param>
/// <param name="Errors">Those that were not.</param>
/// <param name="Missed">Those that were due and could not be sent in time.</param>
/// <param name="Reconnects">Sessions that were lost.</param>
/// <param name="PerSecond">Messages a second.</param>
/// <param name="P50Us">Half of the round trips take at most this long, from when they were due.</param>
/// <param name="P99Us">99 of 100 do.</param>
/// <param name="P999Us">999 of 1000 do.</param>
/// <param name="MaxUs">All do.</param>
/// <param name="ServerP99Us">99 of 100 are answered this soon after they were in the server's memory.</param>
internal sealed record GoodLoad(
    long Messages, long Errors, long Missed, long Reconnects, double PerSecond, double P50Us, double P99Us, double P999Us, double MaxUs,
    double ServerP99Us)
{
    /// <summary>Reads what FastPort.Client has written.</summary>
    /// <exception cref="ComparisonException">It is no result.</exception>
    public static GoodLoad Read(string json)
    {
        try
        {
            using JsonDocument document = JsonDocument.Parse(json);
            JsonElement result = document.RootElement, latency = result.GetProperty("rtt_us");
            return new GoodLoad(
                result.GetProperty("messages").GetInt64(),
                result.GetProperty("errors").GetInt64(),
                result.GetProperty("missed_sends").GetInt64(),
                result.GetProperty("reconnects").GetInt64(),
                result.GetProperty("messages_per_s").GetDouble(),
                latency.GetProperty("p50").GetDouble(),
                latency.GetProperty("p99").GetDouble(),
                latency.GetProperty("p999").GetDouble(),
                latency.GetProperty("max").GetDouble(),
                result.GetProperty("server_us").GetProperty("p99").GetDouble());
        }
        catch (Exception exception) when (exception is JsonException or KeyNotFoundException or InvalidOperationException)
        {
            throw new ComparisonException($"FastPort.Client wrote no result that can be read: {exception.Message}", exception);
        }
    }

    public Figures Figures(CpuShares cpu) => new()
    {
        [Metric.Throughput] = PerSecond,
        [Metric.RoundTripP50] = P50Us,
        [Metric.RoundTripP99] = P99Us,
        [Metric.RoundTripMax] = MaxUs,
        [Metric.ServerCpuShare] = cpu.Server,
        [Metric.OtherCpuShare] = cpu.Other,
    };
}

/// <summary>A server at rest.</summary>
internal sealed record AtRest(double ServerMegabytes, double SimulationMegabytes, int Descriptors, long Connections);

/// <summary>Resident memory, as medians of the second and the last quarter of an attack.</summary>
internal sealed record MemoryTrend(double EarlyMegabytes, double LateMegabytes);

/// <summary>CPU time in a second of the phase; <c>Other</c> is other programs' on both cores.</summary>
internal sealed record CpuShares(double Server, double Simulation, double Good, double Attackers, double Other);

/// <summary>Everything that a hostile hour has measured.</summary>
internal sealed record HostileFigures
{
    public required GoodLoad Attacked { get; init; }

    public required GoodLoad Burned { get; init; }

    public required CpuShares AttackedCpu { get; init; }

    public required CpuShares BurnedCpu { get; init; }

    public required AtRest Before { get; init; }

    public required AtRest After { get; init; }

    /// <summary>How long it took until everything was back.</summary>
    public required double RecoverySeconds { get; init; }

    public required double ServerPeakMegabytes { get; init; }

    public required double SimulationPeakMegabytes { get; init; }

    /// <summary>How the server's memory went; null where the attack was too short to say.</summary>
    public MemoryTrend? ServerTrend { get; init; }

    /// <summary>The same of the simulation's.</summary>
    public MemoryTrend? SimulationTrend { get; init; }

    /// <summary>The most descriptors that the server had.</summary>
    public required int PeakDescriptors { get; init; }

    /// <summary>The server's counters at the end of the attack.</summary>
    public required StatusLine Counters { get; init; }

    public required LedgerLine Ledger { get; init; }

    public required IReadOnlyList<AttackLine> Attacks { get; init; }
}
