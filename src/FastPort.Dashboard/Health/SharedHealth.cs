using FastPort.Dashboard.Live;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace FastPort.Dashboard.Health;

/// <summary>
/// One health report for all requests within <see cref="Age"/>, created by one run at a time: anyone may ask, and a run walks all
/// connections and may log a line. A report is not shared beyond the host state in which it was created: a drain shows at once.
/// Thread-safe.
/// </summary>
/// <param name="health">Runs the checks.</param>
/// <param name="which">Which checks.</param>
/// <param name="state">The state of the host.</param>
/// <param name="time">The clock.</param>
internal sealed class SharedHealth(
    HealthCheckService health, Func<HealthCheckRegistration, bool> which, HostState state, TimeProvider time)
{
    /// <summary>How long a report is shared.</summary>
    public static readonly TimeSpan Age = TimeSpan.FromSeconds(1);

    /// <summary>How long a run may take. After it, the run is canceled and no longer shared: a check may hang.</summary>
    public static readonly TimeSpan LongestRun = TimeSpan.FromSeconds(10);

    // Guards the fields below.
    private readonly Lock _gate = new();
    private Task<HealthReport>? _run;
    private string? _state;
    private long _began;

    /// <summary>The report of a run that is in progress, or began less than <see cref="Age"/> ago.</summary>
    /// <param name="cancellationToken">Ends the wait, not the run.</param>
    public Task<HealthReport> ReadAsync(CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (!IsShared)
            {
                _state = state.Name;
                _began = time.GetTimestamp();

                // On the pool: a check may take its time before its first await. Without the context of the first request: all requests
                // share the report.
                _run = NoContext.Call(static shared => Task.Run(shared.RunAsync, CancellationToken.None), this);
            }

            return _run!.WaitAsync(cancellationToken);
        }
    }

    private bool IsShared => _run is not null && _state == state.Name
        && (_run.IsCompleted ? _run.IsCompletedSuccessfully && time.GetElapsedTime(_began) < Age
            : time.GetElapsedTime(_began) < LongestRun);

    private async Task<HealthReport> RunAsync()
    {
        using var end = new CancellationTokenSource(LongestRun, time);
        try
        {
            return await health.CheckHealthAsync(which, end.Token).WaitAsync(end.Token).ConfigureAwait(false);
        }
        catch (OperationCanceledException)
        {
            return new HealthReport(new Dictionary<string, HealthReportEntry>(), HealthStatus.Unhealthy, LongestRun);
        }
    }
}
