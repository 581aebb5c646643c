using System.Globalization;
using FastPort.Comparisons.Reports;

namespace FastPort.Comparisons.Simulation;

/// <summary>The tables of the simulation.</summary>
internal static class SimulationTables
{
    private const double Millisecond = 1e3;
    private const double Second = 1e6;

    public static ReportTable Validation(IEnumerable<(int Senders, int InFlight, Observation Seen)> rows) => new(
        ["two nodes on one machine", "", "relays/s", "p50 us", "p99 us", "entries a batch"],
        [
            .. rows.Select(row => (IReadOnlyList<string>)
            [
                Text($"{row.Senders} x {row.InFlight} in flight"), "", Text($"{row.Seen.RelaysPerSecond:N0}"),
                Text($"{row.Seen.Counters.Relays.At(0.5):N0}"), Text($"{row.Seen.Counters.Relays.At(0.99):N0}"),
                Text($"{row.Seen.Counters.BatchSize:N1}"),
            ]),
        ]);

    public static ReportTable Events(IEnumerable<EventResult> rows) => new(
        [
            "event", "healed: p50, last s", "busiest Redis core", "relays p50 ms", "p99 ms", "failed", "claims p50 ms",
            "p99 ms", "longest renewal ms", "entries a batch", "MB/s at Redis",
        ],
        [
            .. rows.Select(row => (IReadOnlyList<string>)
            [
                row.Name,
                row.Healed.Count == 0 ? "-" : Text($"{row.Healed.At(0.5) / Second:N2}, {row.Healed.Max / Second:N2}"),
                Text($"{row.Seen.Busiest:P0}"), Milliseconds(row.Seen.Counters.Relays, 0.5),
                Milliseconds(row.Seen.Counters.Relays, 0.99), Text($"{row.Seen.Counters.RelaysFailed:N0}"),
                Milliseconds(row.Seen.Counters.Claims, 0.5), Milliseconds(row.Seen.Counters.Claims, 0.99),
                Milliseconds(row.Seen.Counters.Renewals, 1), Text($"{row.Seen.Counters.BatchSize:N2}"),
                Text($"{row.Seen.BytesPerSecond / 1e6:N1}"),
            ]),
        ]);

    public static ReportTable Sweep(IEnumerable<(SimulationSettings Cell, double Relays, double Claims)> rows) => new(
        ["nodes", "Redis", "relays/s", "claims/s"],
        [
            .. rows.Select(row => (IReadOnlyList<string>)
            [
                Text($"{row.Cell.Nodes:N0}"),
                row.Cell.Shards == 1 ? "1" : Text($"{row.Cell.Shards}, {(row.Cell.HasShardedChannels ? "sharded" : "plain")} channels"),
                Text($"{row.Relays:N0}"), Text($"{row.Claims:N0}"),
            ]),
        ]);

    public static ReportTable Rendezvous(IEnumerable<(SimulationSettings Cell, double PerSecond)> rows) => new(
        ["topics", "nodes that want one", "publications/s"],
        [
            .. rows.Select(row => (IReadOnlyList<string>)
            [
                row.Cell.HasRendezvous ? "to the topic's own node, and from it to each" : "to each",
                Text($"{row.Cell.InterestedNodes:N0}"), Text($"{row.PerSecond:N0}"),
            ]),
        ]);

    private static string Milliseconds(Latencies latencies, double share) =>
        latencies.Count == 0 ? "-" : Text($"{latencies.At(share) / Millisecond:N1}");

    private static string Text(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
