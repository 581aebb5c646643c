using System.Text.Json;
using System.Text.Json.Serialization;
using FastPort.Telemetry;

namespace FastPortPeer.Messaging;

/// <summary>What one side saw of a run, as its line of JSON; the names are those of benchmarks/Native/zmq_peer.c.</summary>
internal sealed record SideResult
{
    private static readonly JsonSerializerOptions Format = new()
    {
        PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower,
        DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
    };

    public required string Side { get; init; }

    public required long Messages { get; init; }

    public required double Seconds { get; init; }

    public required double CpuS { get; init; }

    public long PeakRssKb { get; init; } = ProcessFigures.PeakKilobytes(Environment.ProcessId);

    public double? P50Us { get; init; }

    public double? P95Us { get; init; }

    public double? P99Us { get; init; }

    public double? MaxUs { get; init; }

    public SideResult With(LatencySnapshot roundTrips) => this with
    {
        P50Us = roundTrips.P50 / 1e3,
        P95Us = roundTrips.P95 / 1e3,
        P99Us = roundTrips.P99 / 1e3,
        MaxUs = roundTrips.Max / 1e3,
    };

    public void Print() => Console.WriteLine(JsonSerializer.Serialize(this, Format));
}
