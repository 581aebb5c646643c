namespace FastPort.Comparisons.Processes;

/// <summary>What one run of a load client measured; the names are those of its JSON line.</summary>
internal sealed record LoadResult
{
    public required long Messages { get; init; }

    public required double Seconds { get; init; }

    public required double MessagesPerS { get; init; }

    public required long Errors { get; init; }

    /// <summary>Null, as the other latencies, where messages are not timed.</summary>
    public required double? P50Us { get; init; }

    public required double? P95Us { get; init; }

    public required double? P99Us { get; init; }

    /// <summary>Null where the client does not tell it.</summary>
    public double? P999Us { get; init; }

    public required double? MaxUs { get; init; }

    public required double ClientCpuS { get; init; }

    public required long ClientPeakRssKb { get; init; }

    public required double ServerCpuS { get; init; }

    public required double ServerCpuUsPerMessage { get; init; }

    public required long ServerPeakRssKb { get; init; }

    /// <summary>Bytes that the client has allocated; null where it does not tell.</summary>
    public long? ClientAllocatedBytes { get; init; }

    /// <summary>Bytes that the server has allocated; null where it does not tell.</summary>
    public long? ServerAllocatedBytes { get; init; }

    /// <summary>CPU time of the bridge; null where there is none.</summary>
    public double? BridgeCpuS { get; init; }

    /// <summary>Reads that the server behind a bridge has answered; null where they were not counted.</summary>
    public long? SourceReads { get; init; }

    /// <summary>The greatest age of a value when it was asked for; null where it was not measured.</summary>
    public double? OldestValueMs { get; init; }

    /// <summary>Requests that were due while the one before was under way; null where none is due at a time.</summary>
    public long? Missed { get; init; }

    /// <summary>
    /// Requests that were due at a time before the reply to the one before had come, sent later or not at all; null where none is due at a
    /// time.
    /// </summary>
    public long? Late { get; init; }

    /// <summary>CPU time that other programs took on the cores of server and client; null where it cannot be told.</summary>
    public double? OtherCpuS { get; init; }

    /// <summary>Messages of each whole second; null where they were not counted.</summary>
    public IReadOnlyList<double>? BySecond { get; init; }

    /// <exception cref="ComparisonException">The text is no result.</exception>
    public static LoadResult Read(string json) => ResultLine.Read<LoadResult>(json, "A load client");
}
