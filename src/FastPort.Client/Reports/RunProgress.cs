using System.Globalization;
using FastPort.Client.Load;
using FastPort.Telemetry;

namespace FastPort.Client.Reports;

/// <summary>The progress of a run: the figures since the last call of <see cref="Next"/>. For one thread at a time.</summary>
internal sealed class RunProgress
{
    private static readonly string[] Ending =
        ["interrupted: waiting for replies in flight; Ctrl+C again ends at once", "ending; Ctrl+C again ends at once", "ending"];

    private readonly LoadSettings _settings;
    private readonly ILoad _load;
    private readonly LoadErrors _errors;
    private readonly TimeProvider _time;
    private readonly CancellationToken _interrupted;
    private readonly long _begun;
    private long _lastAt;
    private long _lastMessages;
    private LatencySnapshot? _last;

    public RunProgress(LoadSettings settings, ILoad load, LoadErrors errors, TimeProvider time, CancellationToken interrupted)
    {
        _interrupted = interrupted;
        _settings = settings;
        _load = load;
        _errors = errors;
        _time = time;
        _begun = _lastAt = time.GetTimestamp();
    }

    /// <summary>The progress of a run that is connecting.</summary>
    public static IReadOnlyList<string> Connecting(int connected, int connections) =>
    [
        string.Create(CultureInfo.InvariantCulture, $"connecting: {connected:#,##0} of {connections:#,##0}"),
    ];

    /// <summary>
    /// Time, rate, percentiles of the round trip if there are any, and errors so far, as texts of several lengths, the longest first.
    /// </summary>
    public IReadOnlyList<string> Next()
    {
        if (_interrupted.IsCancellationRequested)
        {
            return Ending;
        }

        long now = _time.GetTimestamp();
        LatencySnapshot? all = _load.RoundTrips;
        long messages = all?.Count ?? _load.Messages;

        // The end of the warm-up resets the counts.
        long added = messages >= _lastMessages ? messages - _lastMessages : messages;
        LatencySnapshot? recent = all is not null && _last is not null ? all.Since(_last) : all;
        IReadOnlyList<string> texts = Texts(
            _settings, _time.GetElapsedTime(_begun, now), added / _time.GetElapsedTime(_lastAt, now).TotalSeconds, recent, _errors.Total);
        (_lastAt, _lastMessages, _last) = (now, messages, all);
        return texts;
    }

    internal static IReadOnlyList<string> Texts(
        LoadSettings settings, TimeSpan elapsed, double messagesPerSecond, LatencySnapshot? roundTrips, long errors)
    {
        bool warm = elapsed >= settings.WarmUp;
        TimeSpan length = warm ? settings.Duration : settings.WarmUp;
        TimeSpan done = warm ? elapsed - settings.WarmUp : elapsed;
        string time = string.Create(
            CultureInfo.InvariantCulture,
            $"{Math.Min(done.TotalSeconds, length.TotalSeconds):0} of {length.TotalSeconds:0.#} s{(warm ? string.Empty : " warm-up")}");
        string rate = messagesPerSecond.ToString("#,##0", CultureInfo.InvariantCulture);
        string wrong = string.Create(CultureInfo.InvariantCulture, $"{errors:#,##0} errors");
        string p50 = string.Empty, p99 = string.Empty;
        if (roundTrips is { Count: > 0 })
        {
            p50 = string.Create(CultureInfo.InvariantCulture, $"  p50 {roundTrips.P50 / 1e3:#,##0.0} us");
            p99 = string.Create(CultureInfo.InvariantCulture, $"  p99 {roundTrips.P99 / 1e3:#,##0.0} us");
        }

        return
        [
            $"{time}  {rate} messages/s{p50}{p99}  {wrong}",
            $"{time}  {rate}/s{p99}  {wrong}",
            $"{rate}/s{p99}  {wrong}",
            $"{rate}/s  {wrong}",
        ];
    }
}
