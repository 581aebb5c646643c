using System.Text.Json;

namespace FastPort.Comparisons.Processes;

/// <summary>What one run of the load client measured; the names are those of its JSON line.</summary>
internal sealed record LoadResult
{
    public static readonly JsonSerializerOptions Format = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower,
        RespectRequiredConstructorParameters = true,
    };

    public required long Messages { get; init; }

    public required double Seconds { get; init; }

    public required double MessagesPerS { get; init; }

    public required long Errors { get; init; }

    public required double P50Us { get; init; }

    public required double P90Us { get; init; }

    public required double P99Us { get; init; }

    public required double MaxUs { get; init; }

    public required double ClientCpuS { get; init; }

    public required long ClientPeakRssKb { get; init; }

    public required double ServerCpuS { get; init; }

    public required double ServerCpuUsPerMessage { get; init; }

    public required long ServerPeakRssKb { get; init; }

    /// <summary>CPU time that other programs took on the cores of server and client; 0 where nothing is pinned and it cannot be told.</summary>
    public double OtherCpuS { get; init; }
}
