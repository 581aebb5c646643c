using FastPort.Comparisons.Processes;

namespace FastPort.Comparisons.Measuring;

/// <summary>What one side of a messaging run has counted; the names are those of its JSON line.</summary>
internal sealed record SideResult
{
    public required string Side { get; init; }

    public required long Messages { get; init; }

    public required double Seconds { get; init; }

    public required double CpuS { get; init; }

    public required long PeakRssKb { get; init; }

    public double? P50Us { get; init; }

    public double? P95Us { get; init; }

    public double? P99Us { get; init; }

    public double? MaxUs { get; init; }

    /// <exception cref="ComparisonException">The text is no result.</exception>
    public static SideResult Read(string json) => ResultLine.Read<SideResult>(json, "a messaging peer");
}
