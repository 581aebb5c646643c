using System.Text.Json;
using FastPort.Telemetry.Histograms;
using FastPortPeer;

namespace OpcUaPeer;

/// <summary>What a run has measured, as a line of JSON with the names of benchmarks/Native/echo_load.c.</summary>
internal static class LoadLine
{
    private static readonly JsonSerializerOptions Format = new() { PropertyNamingPolicy = JsonNamingPolicy.SnakeCaseLower };

    public static string Of(
        LatencySnapshot roundTrips, long messages, double seconds, TimeSpan clientCpu, TimeSpan serverCpu, int serverId,
        long clientAllocated, long? serverAllocated) =>
        JsonSerializer.Serialize(
            new
            {
                Messages = messages,
                Seconds = seconds,
                MessagesPerS = messages / seconds,
                Errors = 0,
                P50Us = roundTrips.P50 / 1e3,
                P95Us = roundTrips.P95 / 1e3,
                P99Us = roundTrips.P99 / 1e3,
                MaxUs = roundTrips.Max / 1e3,
                ClientCpuS = clientCpu.TotalSeconds,
                ClientPeakRssKb = ProcessFigures.PeakKilobytes(Environment.ProcessId),
                ServerCpuS = serverCpu.TotalSeconds,
                ServerCpuUsPerMessage = serverCpu.TotalMicroseconds / messages,
                ServerPeakRssKb = ProcessFigures.PeakKilobytes(serverId),
                ClientAllocatedBytes = clientAllocated,
                ServerAllocatedBytes = serverAllocated,
            },
            Format);
}
