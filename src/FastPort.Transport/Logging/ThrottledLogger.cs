using System.Runtime.InteropServices;
using Microsoft.Extensions.Logging;

namespace FastPort.Logging;

/// <summary>
/// The logger of one server, client or backplane. Peers can cause warnings as fast as they can connect. So for each event at Warning or
/// above it passes on a limited number of lines per second, counts the rest and logs the count afterwards (event 2011). It does not throw
/// (<see cref="SafeLogger"/>). Thread-safe.
/// </summary>
internal sealed partial class ThrottledLogger : ILogger
{
    /// <summary>Lines per second and event.</summary>
    public const int LinesPerSecond = 10;

    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly ILogger _inner;
    private readonly TimeProvider _time;
    private readonly ITimer _timer;

    // Guards the fields below. Nothing is logged under it.
    private readonly Lock _gate = new();
    private readonly Dictionary<int, EventLines> _events = [];
    private bool _reportIsDue;

    public ThrottledLogger(ILogger inner, TimeProvider time)
    {
        _inner = SafeLogger.Of(inner);
        _time = time;
        _timer = NoContext.CreateTimer(
            time, static logger => ((ThrottledLogger)logger!).Report(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    }

    public bool IsEnabled(LogLevel logLevel) => _inner.IsEnabled(logLevel);

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => _inner.BeginScope(state);

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (logLevel < LogLevel.Warning || TryTakeLine(eventId.Id))
        {
            _inner.Log(logLevel, eventId, state, exception, formatter);
        }
    }

    private bool TryTakeLine(int eventId)
    {
        long now = _time.GetTimestamp();
        lock (_gate)
        {
            ref EventLines lines = ref CollectionsMarshal.GetValueRefOrAddDefault(_events, eventId, out bool known);
            if (!known || _time.GetElapsedTime(lines.Since, now) >= Second)
            {
                lines.Since = now;
                lines.Passed = 0;
            }

            if (lines.Passed < LinesPerSecond)
            {
                lines.Passed++;
                return true;
            }

            lines.LeftOut++;
            if (!_reportIsDue)
            {
                _reportIsDue = true;
                _timer.Change(Second, Timeout.InfiniteTimeSpan);
            }

            return false;
        }
    }

    private void Report()
    {
        List<(int EventId, long Lines)> leftOut = [];
        lock (_gate)
        {
            _reportIsDue = false;
            foreach (int eventId in _events.Keys)
            {
                ref EventLines lines = ref CollectionsMarshal.GetValueRefOrNullRef(_events, eventId);
                if (lines.LeftOut != 0)
                {
                    leftOut.Add((eventId, lines.LeftOut));
                    lines.LeftOut = 0;
                }
            }
        }

        foreach ((int eventId, long lines) in leftOut)
        {
            LinesLeftOut(_inner, lines, eventId, LinesPerSecond);
        }
    }

    [LoggerMessage(
        2011, LogLevel.Warning,
        "{Lines} more lines of event {Event} were suppressed; the limit is {LinesPerSecond} lines per second and event")]
    private static partial void LinesLeftOut(ILogger logger, long lines, int @event, int linesPerSecond);

    private struct EventLines
    {
        public long Since;
        public int Passed;
        public long LeftOut;
    }
}
