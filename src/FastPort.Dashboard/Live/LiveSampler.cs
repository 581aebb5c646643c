using FastPort.Dashboard.Security;
using FastPort.Telemetry;

namespace FastPort.Dashboard.Live;

/// <summary>Takes the figures of one second. Used by one thread at a time.</summary>
internal sealed class LiveSampler(
    FastPortServer server,
    LatencySampler latencies,
    ServerReasons reasons,
    NodeSampler nodes,
    RecentWarnings warnings,
    WrongTokens wrongTokens,
    HostState state,
    TimeProvider time)
{
    private readonly LoadSampler _load = new();
    private readonly long _started = time.GetTimestamp();
    private SessionCountersSnapshot? _before;
    private long _taken;
    private long _warningsSeen;

    /// <summary>Takes the figures. The first ones have no rates.</summary>
    /// <param name="readersDropped">Readers that were dropped so far.</param>
    public LiveFigures Take(long readersDropped)
    {
        long now = time.GetTimestamp();
        TimeSpan uptime = time.GetElapsedTime(_started, now);
        TimeSpan elapsed = _before is null ? TimeSpan.Zero : time.GetElapsedTime(_taken, now);
        SessionCountersSnapshot counters = server.Counters.Snapshot();
        SessionCountersSnapshot? before = _before;

        // Also if a later line throws: the next reading of these figures counts from this moment.
        (_before, _taken) = (counters, now);
        ServerLoad load = server.ReadLoad();
        IReadOnlyList<double> loops = _load.BusyLoops(load, elapsed);
        (IReadOnlyList<LiveLatency> types, IReadOnlyList<LiveLatency> operations, double[]?[] points) = latencies.Read(uptime, elapsed);
        return new LiveFigures
        {
            Point = new LivePoint(
                time.GetUtcNow().ToUnixTimeMilliseconds(),
                Math.Round(uptime.TotalSeconds, 3),
                [
                    Rate(counters.MessagesIn, before?.MessagesIn, elapsed),
                    Rate(counters.MessagesOut, before?.MessagesOut, elapsed),
                    Rate(counters.BytesIn, before?.BytesIn, elapsed),
                    Rate(counters.BytesOut, before?.BytesOut, elapsed),
                    counters.ConnectionsOpen,
                    counters.SessionsOpen,
                    loops.Count == 0 ? null : Math.Round(loops.Average(), 3),
                    _load.Processors(elapsed),
                    load.PendingBytes,
                    load.SendBlockedConnections,
                    Rate(counters.ErrorsSent, before?.ErrorsSent, elapsed),
                    Rate(counters.ConnectionsRejected, before?.ConnectionsRejected, elapsed),
                    Rate(counters.FramesDropped, before?.FramesDropped, elapsed),
                ],
                points),
            State = state.Name,
            UptimeSeconds = Math.Round(uptime.TotalSeconds),
            Totals = new LiveTotals(
                counters.ConnectionsOpen, counters.SessionsOpen, counters.ConnectionsAccepted, counters.ConnectionsClosed,
                counters.ConnectionsRejected, counters.ErrorsSent, counters.FramesDropped, counters.MessagesIn, counters.MessagesOut,
                counters.BytesIn, counters.BytesOut),
            Loops = loops,
            BufferedBytes = load.BufferedBytes,
            MaxBufferedBytes = load.MaxBufferedBytes,
            WorkingSetBytes = Environment.WorkingSet,
            Series = [.. latencies.Series],
            Latencies = types,
            Operations = operations,
            Counts = latencies.ReadCounts(elapsed),
            Nodes = nodes.Read(elapsed),
            Reasons = reasons.Read(counters),
            Warnings = warnings.ReadSince(ref _warningsSeen),
            ReadersDropped = readersDropped,
            WrongTokens = wrongTokens.Count,
        };
    }

    private static double? Rate(long now, long? before, TimeSpan elapsed) =>
        before is null || elapsed <= TimeSpan.Zero ? null : Math.Round((now - before.Value) / elapsed.TotalSeconds, 1);
}
