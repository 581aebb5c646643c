namespace FastPort.Telemetry;

/// <summary>One of the three latencies that a role measures.</summary>
/// <param name="Name">Stable name in files, for example <c>round_trip</c>.</param>
/// <param name="Title">Name in tables.</param>
internal sealed record LatencyMetric(string Name, string Title)
{
    private static readonly LatencyMetric[] Client =
        [new("round_trip", "round trip"), new("server", "server"), new("network", "network")];

    private static readonly LatencyMetric[] Server =
        [new("decode_to_send", "decode to send"), new("queue", "queue"), new("handler", "handler")];

    /// <summary>The three latencies of a role: the whole, then its two parts.</summary>
    /// <param name="role">The measuring end.</param>
    public static IReadOnlyList<LatencyMetric> Of(LatencyRole role) => role == LatencyRole.Client ? Client : Server;
}
