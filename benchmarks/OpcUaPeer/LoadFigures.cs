using System.Text.Json;
using FastPort.Telemetry;

namespace OpcUaPeer;

/// <summary>What a run has measured.</summary>
/// <param name="RoundTrips">Of each message; of a change, the time until it came.</param>
/// <param name="Seconds">How long it lasted.</param>
/// <param name="Usage">What the processes took meanwhile.</param>
/// <param name="ServerId">The server's process.</param>
internal sealed record LoadFigures(LatencySnapshot RoundTrips, double Seconds, ProcessUsage Usage, int ServerId)
{
    private static readonly JsonSerializerOptions Format = new() { PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower };

    /// <summary>Messages there were. Defaults to those with a round trip.</summary>
    public long Messages { get; init; } = RoundTrips.Count;

    /// <summary>Bytes that the server has allocated; null if it does not tell.</summary>
    public long? ServerAllocated { get; init; }

    /// <summary>Reads that the server has answered; null where they were not counted.</summary>
    public long? SourceReads { get; init; }

    /// <summary>The greatest age of a value when it was asked for; null where it was not measured.</summary>
    public TimeSpan? OldestValue { get; init; }

    /// <summary>Requests that were due while the one before was under way; null where none is due at a time.</summary>
    public long? Missed { get; init; }

    /// <summary>Messages of each whole second; null where they were not counted.</summary>
    public IReadOnlyList<long>? BySecond { get; init; }

    /// <summary>As a line of JSON with the names of FastPort.Comparisons's LoadResult.</summary>
    public string ToLine() => JsonSerializer.Serialize(
        new
        {
            Messages,
            Seconds,
            MessagesPerS = Messages / Seconds,
            Errors = 0,
            P50Us = RoundTrips.P50 / 1e3,
            P95Us = RoundTrips.P95 / 1e3,
            P99Us = RoundTrips.P99 / 1e3,
            MaxUs = RoundTrips.Max / 1e3,
            ClientCpuS = Usage.ClientCpu.TotalSeconds,
            ClientPeakRssKb = ProcessFigures.PeakKilobytes(Environment.ProcessId),
            ServerCpuS = Usage.ServerCpu.TotalSeconds,
            ServerCpuUsPerMessage = Usage.ServerCpu.TotalMicroseconds / Messages,
            ServerPeakRssKb = ProcessFigures.PeakKilobytes(ServerId),
            ClientAllocatedBytes = Usage.ClientAllocated,
            ServerAllocatedBytes = ServerAllocated,
            BridgeCpuS = Usage.BridgeCpu?.TotalSeconds,
            SourceReads,
            OldestValueMs = OldestValue?.TotalMilliseconds,
            Missed,
            BySecond,
        },
        Format);
}
