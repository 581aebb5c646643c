using FastPort;
using FastPort.Telemetry;
using IndustrialGateway.Messages;

namespace IndustrialGateway.Monitoring;

/// <summary>The state of the gateway, from the server's counters and latencies. Thread-safe.</summary>
internal sealed class HealthMonitor(FastPortServer server, LatencyStats latencies, TimeProvider time)
{
    private readonly long _started = time.GetTimestamp();

    public HealthReport Report()
    {
        SessionCountersSnapshot counters = server.Counters.Snapshot();

        // A server's first metric is decode-to-send: queue and handler together.
        LatencySnapshot decodeToSend = latencies.ReadTotals().All.Metrics[0].Lifetime;
        return new HealthReport
        {
            UptimeSeconds = (long)time.GetElapsedTime(_started).TotalSeconds,
            Connections = counters.ConnectionsOpen,
            MessagesIn = counters.MessagesIn,
            MessagesOut = counters.MessagesOut,
            Errors = counters.ErrorsSent,
            P99Us = decodeToSend.P99 / 1000.0,
        };
    }
}
