using FastPort.Telemetry;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;

namespace FastPort.Dashboard.Health;

/// <summary>Whether a server accepts connections and makes progress. Thread-safe.</summary>
/// <remarks>
/// Figures that need a time span (accepts, loops) are compared with a reading of 10 to 20 s ago, regardless of how often the check runs.
/// The first reports have none yet.
/// </remarks>
internal sealed class ServerHealthCheck(FastPortServer server, TimeProvider time, IHostApplicationLifetime? lifetime = null)
    : IHealthCheck
{
    /// <summary>Shortest time between two readings that are compared.</summary>
    public static readonly TimeSpan Window = TimeSpan.FromSeconds(10);

    private const double NearlyFull = 0.9;

    // Guards the two readings.
    private readonly Lock _gate = new();
    private Reading? _last;
    private Reading? _before;

    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default) =>
        Task.FromResult(Check(context.Registration.FailureStatus));

    private HealthCheckResult Check(HealthStatus failure)
    {
        if (server.IsStopping || lifetime?.ApplicationStopping.IsCancellationRequested == true)
        {
            return new HealthCheckResult(failure, "The server is stopping.");
        }

        if (server.Endpoints.Count == 0)
        {
            return new HealthCheckResult(failure, "The server does not listen yet.");
        }

        var now = new Reading(time.GetTimestamp(), server.ReadLoad(), server.Counters.Snapshot());
        Reading? before = Compared(now);
        (HealthStatus Status, string Why)[] found =
            [.. Memory(now.Load, failure), .. Accepts(before, now, failure), .. Loops(before, now, failure)];

        // The lowest value is the worst.
        return found.Length == 0
            ? HealthCheckResult.Healthy($"Listening on {string.Join(", ", server.Endpoints)}.")
            : new HealthCheckResult(found.Min(static one => one.Status), string.Join(' ', found.Select(static one => one.Why)));
    }

    private Reading? Compared(Reading now)
    {
        lock (_gate)
        {
            if (_last is null || time.GetElapsedTime(_last.At, now.At) >= Window)
            {
                _before = _last;
                _last = now;
            }

            return _before;
        }
    }

    /// <summary>What is to be said about the memory budget.</summary>
    internal static IEnumerable<(HealthStatus Status, string Why)> Memory(ServerLoad load, HealthStatus failure)
    {
        if (load.BufferedBytes >= load.MaxBufferedBytes * NearlyFull)
        {
            yield return (
                load.BufferedBytes >= load.MaxBufferedBytes ? failure : HealthStatus.Degraded,
                $"Connections hold {load.BufferedBytes} of {load.MaxBufferedBytes} bytes (MaxBufferedMegabytes).");
        }
    }

    private IEnumerable<(HealthStatus, string)> Accepts(Reading? before, Reading now, HealthStatus failure)
    {
        if (before is not null && now.Counters.AcceptErrors - before.Counters.AcceptErrors is > 0 and var errors)
        {
            bool none = now.Counters.ConnectionsAccepted == before.Counters.ConnectionsAccepted;
            yield return (
                none ? failure : HealthStatus.Degraded,
                $"{errors} accepts have failed in {Seconds(before, now)} s{(none ? ", and none has succeeded" : string.Empty)}; "
                + "see the log for the reason.");
        }
    }

    private IEnumerable<(HealthStatus, string)> Loops(Reading? before, Reading now, HealthStatus failure)
    {
        ServerLoad load = now.Load;
        if (before is null || before.Load.LoopIdleTimes.Count != load.LoopIdleTimes.Count)
        {
            yield break;
        }

        int[] busy = [.. Enumerable.Range(0, load.LoopIdleTimes.Count)
            .Where(loop => load.LoopIdleTimes[loop] == before.Load.LoopIdleTimes[loop])];
        int[] stuck = [.. busy.Where(loop => load.LoopRounds[loop] == before.Load.LoopRounds[loop])];
        if (stuck.Length != 0)
        {
            yield return (
                failure,
                $"Event loop {string.Join(", ", stuck)} has not come back from a handler for {Seconds(before, now)} s: an inline handler "
                + "blocks.");
        }

        if (busy.Length != stuck.Length)
        {
            yield return (
                HealthStatus.Degraded,
                $"Event loop {string.Join(", ", busy.Except(stuck))} has had no pause for {Seconds(before, now)} s: there is more work "
                + "than the loop can do.");
        }
    }

    private string Seconds(Reading before, Reading now) =>
        time.GetElapsedTime(before.At, now.At).TotalSeconds.ToString("0", System.Globalization.CultureInfo.InvariantCulture);

    private sealed record Reading(long At, ServerLoad Load, SessionCountersSnapshot Counters);
}
