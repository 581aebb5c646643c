namespace FastPort.OpcUa.Client;

/// <summary>Durations as they are sent: milliseconds in a double (OPC 10000-3, 8.13).</summary>
internal static class Durations
{
    /// <summary>The duration; NaN and negative numbers count as zero, too long a time as a year.</summary>
    public static TimeSpan OfMilliseconds(double milliseconds)
    {
        const double Year = 365.0 * 24 * 3600 * 1000;
        return milliseconds > 0 ? TimeSpan.FromMilliseconds(Math.Min(milliseconds, Year)) : TimeSpan.Zero;
    }
}
