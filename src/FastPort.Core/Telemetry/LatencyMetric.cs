namespace FastPort.Telemetry;

/// <summary>One of the latencies that a series measures.</summary>
/// <param name="Name">Stable name in files, for example <c>round_trip</c>.</param>
/// <param name="Title">Name in tables.</param>
internal sealed record LatencyMetric(string Name, string Title)
{
    /// <summary>A client's latencies of its requests: the total, then its two parts.</summary>
    public static IReadOnlyList<LatencyMetric> Client { get; } =
        [new("round_trip", "round trip"), new("server", "server"), new("network", "network")];

    /// <summary>A server's latencies of its messages: the total, then its two parts.</summary>
    public static IReadOnlyList<LatencyMetric> Server { get; } =
        [new("decode_to_send", "decode to send"), new("queue", "queue"), new("handler", "handler")];

    /// <summary>The latency of an application's operation, in both roles.</summary>
    public static IReadOnlyList<LatencyMetric> Operation { get; } = [new("call", "call")];

    /// <summary>The three latencies of a role's messages.</summary>
    /// <param name="role">The measuring end.</param>
    public static IReadOnlyList<LatencyMetric> Of(LatencyRole role) => role == LatencyRole.Client ? Client : Server;
}
