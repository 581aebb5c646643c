namespace FastPort.Tags;

/// <summary>Times on the wire: 100 ns since 1601-01-01 UTC, 0 for none (OPC 10000-6, 5.2.2.5).</summary>
internal static class TagTime
{
    private static readonly long Epoch = new DateTime(1601, 1, 1, 0, 0, 0, DateTimeKind.Utc).Ticks;

    /// <summary>The time of a wire value; default for none. Times outside the calendar become its first or last time.</summary>
    public static DateTime FromWire(long time) =>
        time == 0 ? default
        : new DateTime(time > DateTime.MaxValue.Ticks - Epoch ? DateTime.MaxValue.Ticks : Math.Max(time + Epoch, 0), DateTimeKind.Utc);

    /// <summary>The wire value of a time, 0 for default. A local time is converted.</summary>
    public static long ToWire(DateTime time) =>
        time == default ? 0 : (time.Kind == DateTimeKind.Local ? time.ToUniversalTime() : time).Ticks - Epoch;
}
