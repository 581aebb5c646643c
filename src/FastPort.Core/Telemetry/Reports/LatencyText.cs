using System.Globalization;

namespace FastPort.Telemetry;

/// <summary>Formats of names and numbers in tables and files.</summary>
internal static class LatencyText
{
    internal static string RoleName(LatencyRole role) => role == LatencyRole.Client ? "client" : "server";

    internal static string ScopeName(LatencyScope scope) => scope switch
    {
        LatencyScope.All => "all",
        LatencyScope.MessageType => "type",
        LatencyScope.Session => "session",
        _ => "operation",
    };

    /// <summary>What a scope's count counts.</summary>
    internal static string Counted(LatencyScope scope) => scope == LatencyScope.Operation ? "call" : "message";

    /// <summary>Microseconds, with fewer decimals for larger values.</summary>
    internal static string Microseconds(double nanoseconds)
    {
        var microseconds = nanoseconds / 1000;
        var format = Math.Abs(microseconds) switch
        {
            < 10 => "0.000",
            < 1000 => "0.00",
            _ => "#,##0.0",
        };
        return microseconds.ToString(format, CultureInfo.InvariantCulture);
    }

    /// <summary>A ratio such as P99/avg; "-" if there is none.</summary>
    internal static string Ratio(double ratio) => ratio > 0 ? ratio.ToString("0.00", CultureInfo.InvariantCulture) : "-";

    internal static string Count(long count) => count.ToString("#,##0", CultureInfo.InvariantCulture);

    /// <summary>A count with its noun, as in "1 error" and "2 errors".</summary>
    internal static string Count(long count, string noun) => count == 1 ? $"1 {noun}" : $"{Count(count)} {noun}s";

    internal static string Rate(double perSecond) => perSecond.ToString(perSecond < 100 ? "0.0" : "#,##0", CultureInfo.InvariantCulture);

    internal static string Seconds(TimeSpan length) => length.TotalSeconds.ToString("#,##0.00", CultureInfo.InvariantCulture);

    internal static string UtcTime(DateTimeOffset time) =>
        time.UtcDateTime.ToString("yyyy-MM-dd HH:mm:ss'Z'", CultureInfo.InvariantCulture);
}
