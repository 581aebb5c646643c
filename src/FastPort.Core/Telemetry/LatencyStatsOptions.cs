namespace FastPort.Telemetry;

/// <summary>How <see cref="LatencyStats"/> are kept and written: the configuration section <c>LatencyStats</c>.</summary>
public sealed class LatencyStatsOptions
{
    /// <summary>Name of the configuration section.</summary>
    public const string SectionName = "LatencyStats";

    /// <summary>Highest <see cref="MaxSamplesInMemory"/>.</summary>
    public const int MaxSamplesLimit = 10_000_000;

    /// <summary>Highest <see cref="FileWriteIntervalSeconds"/>: a day.</summary>
    public const int MaxFileWriteIntervalSeconds = 86_400;

    /// <summary>Whether tables go to the console. Defaults to true.</summary>
    public bool EnableConsoleOutput { get; set; } = true;

    /// <summary>Whether files are written. Defaults to true.</summary>
    public bool EnableFileOutput { get; set; } = true;

    /// <summary>
    /// Directory of the files, made when missing; a relative path is taken from the process's working directory. Defaults to <c>Stats</c>.
    /// </summary>
    public string OutputDirectory { get; set; } = "Stats";

    /// <summary>First part of the file names, 1 to 100 characters that are valid in a file name. Defaults to <c>latency_stats</c>.</summary>
    public string OutputFilePrefix { get; set; } = "latency_stats";

    /// <summary>Seconds between two reports, console and files alike, 1 to 86,400. Defaults to 60.</summary>
    public int FileWriteIntervalSeconds { get; set; } = 60;

    /// <summary>Recent samples kept one by one, 0 (none) to 10,000,000; 40 bytes each. Defaults to 10,000.</summary>
    public int MaxSamplesInMemory { get; set; } = 10_000;

    /// <summary>Checks every value.</summary>
    /// <returns>A message per wrong value, naming key, value and allowed range; empty when all is well.</returns>
    public IReadOnlyList<string> Validate()
    {
        var failures = new List<string>();
        if (string.IsNullOrWhiteSpace(OutputDirectory) || OutputDirectory.AsSpan().ContainsAny(Path.GetInvalidPathChars()))
        {
            failures.Add($"{SectionName}:{nameof(OutputDirectory)} is '{Shown(OutputDirectory)}'; give the path of a directory.");
        }

        if (string.IsNullOrWhiteSpace(OutputFilePrefix) || OutputFilePrefix.Length > 100 || OutputFilePrefix.AsSpan().ContainsAny(InvalidInNames))
        {
            failures.Add(
                $"{SectionName}:{nameof(OutputFilePrefix)} is '{Shown(OutputFilePrefix)}'; " +
                "give 1 to 100 characters valid in a file name, no directory separators.");
        }

        if (FileWriteIntervalSeconds is < 1 or > MaxFileWriteIntervalSeconds)
        {
            failures.Add(
                $"{SectionName}:{nameof(FileWriteIntervalSeconds)} is {FileWriteIntervalSeconds}; give 1 to {MaxFileWriteIntervalSeconds} seconds.");
        }

        if (MaxSamplesInMemory is < 0 or > MaxSamplesLimit)
        {
            failures.Add($"{SectionName}:{nameof(MaxSamplesInMemory)} is {MaxSamplesInMemory}; give 0 (none) to {MaxSamplesLimit} samples.");
        }

        return failures;
    }

    // The same on every system, so that a configuration moves between them.
    private static ReadOnlySpan<char> InvalidInNames => "/\\:*?\"<>|\0\r\n\t";

    private static string Shown(string? value) => (value ?? "").Replace("\0", "\\0", StringComparison.Ordinal);
}
