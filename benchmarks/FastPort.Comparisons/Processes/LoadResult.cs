using System.Text.Json;

namespace FastPort.Comparisons.Processes;

/// <summary>What one run of a load client measured; the names are those of its JSON line.</summary>
internal sealed record LoadResult
{
    private static readonly JsonSerializerOptions Format = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower,
        RespectRequiredConstructorParameters = true,
    };

    public required long Messages { get; init; }

    public required double Seconds { get; init; }

    public required double MessagesPerS { get; init; }

    public required long Errors { get; init; }

    public required double P50Us { get; init; }

    public required double P95Us { get; init; }

    public required double P99Us { get; init; }

    public required double MaxUs { get; init; }

    public required double ClientCpuS { get; init; }

    public required long ClientPeakRssKb { get; init; }

    public required double ServerCpuS { get; init; }

    public required double ServerCpuUsPerMessage { get; init; }

    public required long ServerPeakRssKb { get; init; }

    /// <summary>Bytes that the client has allocated; null where it does not tell.</summary>
    public long? ClientAllocatedBytes { get; init; }

    /// <summary>Bytes that the server has allocated; null where it does not tell.</summary>
    public long? ServerAllocatedBytes { get; init; }

    /// <summary>CPU time that other programs took on the cores of server and client; null where it cannot be told.</summary>
    public double? OtherCpuS { get; init; }

    /// <exception cref="ComparisonException">The text is no result.</exception>
    public static LoadResult Read(string json)
    {
        try
        {
            return JsonSerializer.Deserialize<LoadResult>(json, Format) ?? throw new JsonException("null");
        }
        catch (JsonException exception)
        {
            throw new ComparisonException($"A load client printed no result but: {json}", exception);
        }
    }
}
