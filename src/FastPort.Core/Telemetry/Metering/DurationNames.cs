namespace FastPort.Telemetry.Metering;

/// <summary>Names of the instruments of one latency. Stable: docs/metrics.md lists them.</summary>
/// <param name="Name">What <c>.count</c>, <c>.sum</c> and <c>.quantile</c> are appended to.</param>
/// <param name="Description">What is measured.</param>
internal sealed record DurationNames(string Name, string Description)
{
    /// <summary>
    /// Tag of a message type: the name of a registered type (<see cref="LatencySeries.Name"/>), never a text from a peer.
    /// </summary>
    public const string TypeKey = "message.type";

    /// <summary>Tag of an operation of the application.</summary>
    public const string OperationKey = "operation";

    /// <summary>The calls of an application's operations.</summary>
    public static DurationNames Operation { get; } =
        new("fastport.operation.duration", "From the start of an operation of the application to its end");

    private static DurationNames[] Server { get; } =
    [
        new("fastport.request.duration", "From the last byte of a request in memory until its reply is passed to the transport"),
        new("fastport.request.queue.duration", "From the last byte of a request in memory until its handler starts"),
        new("fastport.request.handler.duration", "From the start of a handler to its end"),
    ];

    private static DurationNames[] Client { get; } =
    [
        new("fastport.client.request.duration", "From a request passed to the transport until its reply is decoded"),
        new("fastport.client.request.server.duration", "The server's part of a round trip"),
        new("fastport.client.request.network.duration", "A round trip without the server's part"),
    ];

    /// <summary>The latencies of a role's messages, in the order of <see cref="LatencyMetric.Of"/>.</summary>
    public static DurationNames[] Of(LatencyRole role) => role == LatencyRole.Client ? Client : Server;
}
