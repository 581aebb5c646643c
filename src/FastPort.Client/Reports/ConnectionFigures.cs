using FastPort.Telemetry;

namespace FastPort.Client.Reports;

/// <summary>The figures of one connection of a run, over all of its sessions.</summary>
/// <param name="Connection">Its number, from 1.</param>
/// <param name="Messages">Messages measured.</param>
/// <param name="Errors">Errors.</param>
/// <param name="DurationSeconds">The measured time.</param>
/// <param name="RoundTrip">Round trips; null if there were none.</param>
/// <param name="ServerTime">Server times; null if there were none.</param>
/// <param name="Network">Network times; null if there were none.</param>
internal sealed record ConnectionFigures(
    ulong Connection, long Messages, long Errors, double DurationSeconds, LatencyFigures? RoundTrip, LatencyFigures? ServerTime,
    LatencyFigures? Network)
{
    /// <summary>The sessions of a report, by their numbers; null without a report.</summary>
    public static IReadOnlyList<ConnectionFigures>? From(LatencyReport? report) => report is null
        ? null
        : [
            .. report.Sessions.OrderBy(static s => s.Key).Select(static s => new ConnectionFigures(
                s.Key,
                s.LifetimeCount,
                s.LifetimeErrors,
                s.Lifetime.TotalSeconds,
                LatencyFigures.From(s.Metrics[0].Lifetime),
                LatencyFigures.From(s.Metrics[1].Lifetime),
                LatencyFigures.From(s.Metrics[2].Lifetime))),
        ];
}
