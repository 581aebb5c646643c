namespace FastPort.OpcUa.Encoding;

/// <summary>
/// DateTime on the wire: 100 ns since 1601-01-01 UTC, where 0 means no time, and the largest number any time from 9999-12-31 23:59:59 on
/// (OPC 10000-6, 5.2.2.5).
/// </summary>
internal static class UaTime
{
    private const long Epoch = 504_911_232_000_000_000;
    private static readonly long Last = new DateTime(9999, 12, 31, 23, 59, 59, DateTimeKind.Utc).Ticks;

    /// <summary>Ticks in UTC. A time of unknown kind is treated as UTC.</summary>
    public static long UtcTicks(DateTime time) => (time.Kind == DateTimeKind.Local ? time.ToUniversalTime() : time).Ticks;

    public static long ToWire(long ticks) => ticks <= Epoch ? 0 : ticks >= Last ? long.MaxValue : ticks - Epoch;

    public static long ToWire(DateTime time) => ToWire(UtcTicks(time));

    /// <summary>Ticks of a number from the wire: 0 for no time.</summary>
    public static long TicksFromWire(long wire) => wire <= 0 ? 0 : wire >= Last - Epoch ? Last : wire + Epoch;

    public static DateTime FromWire(long wire) => new(TicksFromWire(wire), DateTimeKind.Utc);
}
