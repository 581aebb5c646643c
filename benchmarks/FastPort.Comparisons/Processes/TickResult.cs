namespace FastPort.Comparisons.Processes;

/// <summary>
/// What a repetition at a fixed tick has measured; the names are those of its JSON line. Null: there was nothing to measure.
/// </summary>
internal sealed record TickResult
{
    public required int Ticks { get; init; }

    public required int MissedTicks { get; init; }

    public required int Errors { get; init; }

    public required string? FirstError { get; init; }

    public required double? ReadTagsPerS { get; init; }

    public required double? WriteTagsPerS { get; init; }

    public required double? ReadP50Us { get; init; }

    public required double? ReadP95Us { get; init; }

    public required double? ReadP99Us { get; init; }

    public required double? ReadMaxUs { get; init; }

    public required double? ReadCv { get; init; }

    public required double? WriteP50Us { get; init; }

    public required double? WriteP95Us { get; init; }

    public required double? WriteP99Us { get; init; }

    public required double? WriteMaxUs { get; init; }

    public required double? DriftMeanUs { get; init; }

    public required double? DriftP95Us { get; init; }

    public required double? DriftMaxUs { get; init; }

    public required double CpuAverage { get; init; }

    public required double? CpuP95 { get; init; }

    public required long RssMaxBytes { get; init; }

    public required long RssGrowthBytes { get; init; }

    public required long HeapMaxBytes { get; init; }

    public required double GcPauseMs { get; init; }

    /// <exception cref="ComparisonException">The text is no result.</exception>
    public static TickResult Read(string json) => ResultLine.Read<TickResult>(json, "A client");
}
