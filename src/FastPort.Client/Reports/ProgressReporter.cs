using System.Globalization;
using FastPort.Client.Load;
using FastPort.Telemetry;

namespace FastPort.Client.Reports;

/// <summary>Shows, once a second while a load runs, what the last second brought.</summary>
internal sealed class ProgressReporter : IAsyncDisposable
{
    private readonly StatusLine _line;
    private readonly ILoad _load;
    private readonly LoadErrors _errors;
    private readonly TimeProvider _time;
    private readonly CancellationTokenSource _ending = new();
    private readonly Task _task;

    public ProgressReporter(StatusLine line, ILoad load, LoadErrors errors, TimeProvider time)
    {
        _line = line;
        _load = load;
        _errors = errors;
        _time = time;
        _task = RunAsync();
    }

    /// <summary>One line: rate, percentiles of the round trip where there is one, errors so far.</summary>
    internal static string Text(TimeSpan elapsed, double messagesPerSecond, LatencySnapshot? roundTrips, long errors)
    {
        string latency = roundTrips is { Count: > 0 }
            ? string.Create(CultureInfo.InvariantCulture, $"  p50 {roundTrips.P50 / 1e3:#,##0.0} us  p99 {roundTrips.P99 / 1e3:#,##0.0} us")
            : string.Empty;
        return string.Create(
            CultureInfo.InvariantCulture, $"{elapsed.TotalSeconds,4:0} s  {messagesPerSecond:#,##0} messages/s{latency}  {errors:#,##0} errors");
    }

    public async ValueTask DisposeAsync()
    {
        await _ending.CancelAsync().ConfigureAwait(false);
        await _task.ConfigureAwait(false);
        _ending.Dispose();
        _line.Clear();
    }

    private async Task RunAsync()
    {
        using var timer = new PeriodicTimer(TimeSpan.FromSeconds(1), _time);
        long begun = _time.GetTimestamp();
        long lastAt = begun;
        long lastMessages = 0;
        LatencySnapshot? last = null;
        try
        {
            while (await timer.WaitForNextTickAsync(_ending.Token).ConfigureAwait(false))
            {
                long now = _time.GetTimestamp();
                LatencySnapshot? all = _load.RoundTrips;
                long messages = all?.Count ?? _load.Messages;

                // The end of the warm-up sets the counts back.
                long added = messages >= lastMessages ? messages - lastMessages : messages;
                LatencySnapshot? second = all is not null && last is not null ? all.Since(last) : all;
                _line.Show(Text(_time.GetElapsedTime(begun, now), added / _time.GetElapsedTime(lastAt, now).TotalSeconds, second, _errors.Total));
                (lastAt, lastMessages, last) = (now, messages, all);
            }
        }
        catch (OperationCanceledException)
        {
            // The run has ended.
        }
    }
}
