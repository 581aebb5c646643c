namespace FastPort.Dashboard.Live;

/// <summary>
/// The figures of one second that charts show, and that the history keeps. Named by <see cref="Columns"/>, which has the same order.
/// </summary>
/// <param name="At">Unix time in milliseconds, for labels: the wall clock may be adjusted.</param>
/// <param name="Seconds">Seconds of the monotonic clock since the dashboard's start, by which charts are drawn.</param>
/// <param name="Values">The values; null if unknown.</param>
/// <param name="Latencies">
/// By series: messages per second, P50, P99 and largest, in microseconds; null for a series without messages. Series are only added.
/// </param>
internal sealed record LivePoint(long At, double Seconds, double?[] Values, double[]?[] Latencies)
{
    public static IReadOnlyList<string> Columns { get; } =
    [
        "messagesIn", "messagesOut", "bytesIn", "bytesOut", "connections", "sessions", "loops", "cpu", "pendingBytes", "slowConsumers",
        "errors", "rejected", "dropped",
    ];
}
