namespace FastPort.OpcUa.Client;

/// <summary>Durations as they are sent: milliseconds in a double (OPC 10000-3, 8.13).</summary>
internal static class Durations
{
    /// <summary>The duration; what is no time counts as zero, what is too long as a year.</summary>
    public static TimeSpan OfMilliseconds(double milliseconds)
    {
        const double Year = 365.0 * 24 * 3600 * 1000;
        return milliseconds > 0 ? TimeSpan.FromMilliseconds(Math.Min(milliseconds, Year)) : TimeSpan.Zero;
    }
}
