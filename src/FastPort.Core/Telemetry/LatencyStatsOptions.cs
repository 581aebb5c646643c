using System.Text;
using FastPort.Configuration;

namespace FastPort.Telemetry;

/// <summary>Options of <see cref="LatencyStats"/> and their output: the configuration section <c>LatencyStats</c>.</summary>
public sealed class LatencyStatsOptions : IDescribedOptions
{
    /// <summary>Name of the configuration section.</summary>
    public const string SectionName = "LatencyStats";

    /// <summary>Highest <see cref="MaxSamplesInMemory"/>.</summary>
    internal const int MaxSamplesLimit = 10_000_000;

    /// <summary>Highest <see cref="FileWriteIntervalSeconds"/>: a day.</summary>
    internal const int MaxFileWriteIntervalSeconds = 86_400;

    // File systems allow names of 255 bytes; a server's name, the start, the process and an ending follow.
    private const int MaxPrefixBytes = 100;

    /// <summary>Whether tables are written to the console. Defaults to true.</summary>
    public bool EnableConsoleOutput { get; set; } = true;

    /// <summary>Whether files are written. Defaults to true.</summary>
    public bool EnableFileOutput { get; set; } = true;

    /// <summary>
    /// Whether handled messages are measured even if no report is written, for <see cref="LatencyStats.Read"/>. Reports always measure
    /// handled messages. Defaults to false, which saves some tens of KiB per message type and processor.
    /// </summary>
    public bool MeasureAlways { get; set; }

    /// <summary>
    /// Whether the histograms of each interval are also written to a file <c>.hlog</c>, in the interval log format of HdrHistogram, for its
    /// tools and libraries. Ignored without <see cref="EnableFileOutput"/>. Defaults to false.
    /// </summary>
    public bool EnableHistogramLog { get; set; }

    /// <summary>
    /// Whether the report is also written as an <c>.html</c> page with charts that works offline. Ignored without
    /// <see cref="EnableFileOutput"/>. Defaults to false.
    /// </summary>
    public bool EnableHtmlOutput { get; set; }

    /// <summary>
    /// Directory of the files, created if it does not exist; a relative path starts at the process's working directory. Defaults to
    /// <c>Stats</c>.
    /// </summary>
    public string OutputDirectory { get; set; } = "Stats";

    /// <summary>
    /// First part of the file names, 1 to 100 characters that are valid in a file name, at most 100 bytes in UTF-8. Defaults to
    /// <c>latency_stats</c>.
    /// </summary>
    public string OutputFilePrefix { get; set; } = "latency_stats";

    /// <summary>Seconds between two reports to console and files, 1 to 86,400. Defaults to 60.</summary>
    public int FileWriteIntervalSeconds { get; set; } = 60;

    /// <summary>Recent samples kept individually, 0 (none) to 10,000,000; 40 bytes each. Defaults to 10,000.</summary>
    public int MaxSamplesInMemory { get; set; } = 10_000;

    /// <summary>Checks every value.</summary>
    /// <returns>A message per wrong value, with key, value and allowed range; empty if there is none.</returns>
    public IReadOnlyList<string> Validate()
    {
        List<string> problems = [];
        OptionSection.Visit(SectionName, problems, configured: null, Describe);
        return problems;
    }

    void IDescribedOptions.Describe(OptionSection section) => Describe(section);

    internal void Describe(OptionSection section)
    {
        EnableConsoleOutput = section.Flag(nameof(EnableConsoleOutput), EnableConsoleOutput);
        EnableFileOutput = section.Flag(nameof(EnableFileOutput), EnableFileOutput);
        MeasureAlways = section.Flag(nameof(MeasureAlways), MeasureAlways);
        EnableHistogramLog = section.Flag(nameof(EnableHistogramLog), EnableHistogramLog);
        EnableHtmlOutput = section.Flag(nameof(EnableHtmlOutput), EnableHtmlOutput);
        OutputDirectory = section.Text(
            nameof(OutputDirectory),
            OutputDirectory,
            static path => !string.IsNullOrWhiteSpace(path) && !path.AsSpan().ContainsAny(Path.GetInvalidPathChars()),
            "give the path of a directory");
        OutputFilePrefix = section.Text(
            nameof(OutputFilePrefix),
            OutputFilePrefix,
            static prefix => !string.IsNullOrWhiteSpace(prefix)
                && Encoding.UTF8.GetByteCount(prefix) <= MaxPrefixBytes && !prefix.AsSpan().ContainsAny(InvalidInNames),
            $"give 1 to {MaxPrefixBytes} characters valid in a file name ({MaxPrefixBytes} bytes in UTF-8), no directory separators");
        FileWriteIntervalSeconds = section.Number(
            nameof(FileWriteIntervalSeconds), FileWriteIntervalSeconds, 1, MaxFileWriteIntervalSeconds,
            $"give 1 to {MaxFileWriteIntervalSeconds} seconds");
        MaxSamplesInMemory = section.Number(
            nameof(MaxSamplesInMemory), MaxSamplesInMemory, 0, MaxSamplesLimit, $"give 0 (none) to {MaxSamplesLimit} samples");
    }

    // The same on every system, so that a configuration is valid on all of them.
    private static ReadOnlySpan<char> InvalidInNames => "/\\:*?\"<>|\0\r\n\t";
}
