using FastPort.Comparisons.Candidates;
using FastPort.Comparisons.Simulation;

namespace FastPort.Comparisons;

/// <summary>What the command line asked for.</summary>
internal sealed record ComparisonOptions
{
    /// <summary>Measured seconds of each run.</summary>
    public required double Seconds { get; init; }

    /// <summary>Runs of each candidate in each workload.</summary>
    public required int Repetitions { get; init; }

    /// <summary>Seconds of load on each new .NET process before its first measured run.</summary>
    public required double WarmupSeconds { get; init; }

    /// <summary>Seconds of load before the measured ones of every run: connections open, windows and caches fill.</summary>
    public required double LeadInSeconds { get; init; }

    /// <summary>Texts of which the title of a measured workload contains one; none for all.</summary>
    public IReadOnlyList<string> Only { get; init; } = [];

    /// <summary>How long the soak or the hostile hour lasts; null for the scenario's own time.</summary>
    public double? Minutes { get; init; }

    /// <summary>Folder of another checkout, which <c>pairs</c> compares with; null where none was named.</summary>
    public string? Baseline { get; init; }

    /// <summary>Servers that <c>peers</c> measures beside its own.</summary>
    public IReadOnlyList<OtherServer> Peers { get; init; } = [];

    /// <summary>What is simulated.</summary>
    public SimulationSettings Simulation { get; init; } = new();

    /// <summary>Whether it is only to be seen that every scenario runs.</summary>
    public required bool Quick { get; init; }

    /// <summary>Whether a missing peer or tool is an error rather than a note.</summary>
    public required bool MissingIsError { get; init; }

    /// <summary>File for the JSON report, or null.</summary>
    public string? JsonFile { get; init; }

    /// <summary>The arguments as typed, without the report file.</summary>
    public required string CommandLine { get; init; }

    /// <summary>Whether a workload is measured.</summary>
    public bool Selects(string title) => Only.Count == 0 || Only.Any(text => title.Contains(text, StringComparison.OrdinalIgnoreCase));

    /// <summary>A scenario's sizes; in a quick run the first alone.</summary>
    public IReadOnlyList<int> SizesOf(IReadOnlyList<int> all) => Quick ? [all[0]] : all;
}
