using Microsoft.Extensions.Logging;

namespace FastPort.Telemetry;

/// <summary>Log messages of telemetry: event ids 5000 to 5099. The id of a message never changes.</summary>
internal static partial class TelemetryLog
{
    [LoggerMessage(5000, LogLevel.Debug, "Latency report {Number} written, final: {Final}")]
    internal static partial void ReportWritten(ILogger logger, int number, bool final);

    [LoggerMessage(
        5001,
        LogLevel.Warning,
        "Latency statistics cannot be written to {Path}: {Reason} Retried at every interval; check LatencyStats:OutputDirectory")]
    internal static partial void FilesFailed(ILogger logger, string path, string reason);

    [LoggerMessage(5002, LogLevel.Information, "Latency statistics are written to their files again")]
    internal static partial void FilesRecovered(ILogger logger);

    [LoggerMessage(5003, LogLevel.Warning, "Latency statistics cannot be written to the console; retried at every interval")]
    internal static partial void ConsoleFailed(ILogger logger, Exception error);

    [LoggerMessage(5005, LogLevel.Warning, "The last latency report was not written within {Limit}: the console or the disk is blocked")]
    internal static partial void ReportGivenUp(ILogger logger, TimeSpan limit);

    [LoggerMessage(5006, LogLevel.Warning, "A latency report could not be created; retried at the next interval")]
    internal static partial void ReportFailed(ILogger logger, Exception error);

    [LoggerMessage(5007, LogLevel.Warning, "A second of the latency timeline could not be read; the next column includes it")]
    internal static partial void ColumnFailed(ILogger logger, Exception error);

    [LoggerMessage(5004, LogLevel.Information, "Latency statistics are written to the console again")]
    internal static partial void ConsoleRecovered(ILogger logger);
}
