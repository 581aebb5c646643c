namespace FastPort.Dashboard.Live;

/// <summary>The page's figures at one moment: one event of the stream.</summary>
internal sealed record LiveFigures
{
    public required LivePoint Point { get; init; }

    /// <summary>starting, running, draining or stopped.</summary>
    public required string State { get; init; }

    public required double UptimeSeconds { get; init; }

    public required LiveTotals Totals { get; init; }

    /// <summary>The busy share of each event loop, 0 to 1; empty on transports without event loops.</summary>
    public required IReadOnlyList<double> Loops { get; init; }

    public required long BufferedBytes { get; init; }

    public required long MaxBufferedBytes { get; init; }

    public required long WorkingSetBytes { get; init; }

    /// <summary>Names of the series of <see cref="LivePoint.Latencies"/>.</summary>
    public required IReadOnlyList<string> Series { get; init; }

    /// <summary>All messages, then by type.</summary>
    public required IReadOnlyList<LiveLatency> Latencies { get; init; }

    /// <summary>Operations of the application, for example the calls of an OPC UA server.</summary>
    public required IReadOnlyList<LiveLatency> Operations { get; init; }

    /// <summary>Counts of the application.</summary>
    public required IReadOnlyList<LiveCount> Counts { get; init; }

    /// <summary>The nodes of the server's group; empty if it is not a node.</summary>
    public required IReadOnlyList<LiveNode> Nodes { get; init; }

    /// <summary>Failures, by kind and reason; without the reasons that never occurred.</summary>
    public required IReadOnlyList<LiveReason> Reasons { get; init; }

    /// <summary>Warnings since the event before.</summary>
    public required IReadOnlyList<LiveWarning> Warnings { get; init; }

    /// <summary>Pages that were dropped because they did not read their events.</summary>
    public required long ReadersDropped { get; init; }

    /// <summary>Requests with a wrong token.</summary>
    public required long WrongTokens { get; init; }
}

/// <summary>Counts since the start.</summary>
internal sealed record LiveTotals(
    long Connections,
    long Sessions,
    long Accepted,
    long Closed,
    long Rejected,
    long Errors,
    long Dropped,
    long MessagesIn,
    long MessagesOut,
    long BytesIn,
    long BytesOut);

/// <summary>Latencies of a message type or an operation, in microseconds: of the last minute and since the start.</summary>
internal sealed record LiveLatency(string Name, long Errors, LiveQuantiles Minute, LiveQuantiles Lifetime);

/// <summary>Figures of a distribution, in microseconds.</summary>
internal sealed record LiveQuantiles(long Count, double Rate, double P50, double P90, double P99, double P999, double Max);

/// <summary>A count of the application: its sum, its growth per second, and its ratio if it is one.</summary>
internal sealed record LiveCount(string Owner, string Name, long Count, double? Rate, double? Ratio);

/// <summary>A node. The rest of the lease is known only for the server's own node, the other figures only for other nodes.</summary>
internal sealed record LiveNode(
    string Name,
    bool IsSelf,
    double? LeaseSeconds,
    bool IsCompatible,
    double? LagMicroseconds,
    long QueuedBytes,
    double? Relays,
    double? Batches,
    double? BatchBytes);

/// <summary>How often something went wrong for one reason.</summary>
internal sealed record LiveReason(string Kind, string Reason, long Count);

/// <summary>A line of the log of level Warning and above.</summary>
internal sealed record LiveWarning(long At, string Level, string Source, string Text);

/// <summary>The first event of a stream: the constant data, and the last minutes.</summary>
internal sealed record LiveHistory
{
    public required string Server { get; init; }

    public required string Version { get; init; }

    public required int ProcessId { get; init; }

    public required int Processors { get; init; }

    public required string Runtime { get; init; }

    public required IReadOnlyList<string> Endpoints { get; init; }

    /// <summary>Most seconds that are kept.</summary>
    public required int Seconds { get; init; }

    public required IReadOnlyList<string> Columns { get; init; }

    public required IReadOnlyList<LivePoint> Points { get; init; }

    public required IReadOnlyList<LiveWarning> Warnings { get; init; }

    /// <summary>Whether there is a page of tags.</summary>
    public required bool Tags { get; init; }

    /// <summary>Whether the page offers actions.</summary>
    public required bool Actions { get; init; }

    /// <summary>The lowest level that is logged; null if it cannot be changed.</summary>
    public required string? LogLevel { get; init; }
}
