using FastPort.Telemetry.Reports;

namespace FastPort.Client.Reports;

/// <summary>What one connection of a run measured, the sessions that it made anew included.</summary>
/// <param name="Connection">Its number, from 1.</param>
/// <param name="Messages">Messages measured.</param>
/// <param name="Errors">Errors.</param>
/// <param name="DurationSeconds">The time they were measured over.</param>
/// <param name="RoundTrip">Round trips; null where there was no message.</param>
/// <param name="ServerTime">Server times; null where there was none.</param>
/// <param name="Network">Network times; null where there was none.</param>
internal sealed record ConnectionFigures(
    ulong Connection, long Messages, long Errors, double DurationSeconds, LatencyFigures? RoundTrip, LatencyFigures? ServerTime,
    LatencyFigures? Network)
{
    /// <summary>The sessions of a report in the order of their numbers; null without a report.</summary>
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
