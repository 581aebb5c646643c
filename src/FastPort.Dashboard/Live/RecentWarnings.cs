using Microsoft.Extensions.Logging;

namespace FastPort.Dashboard.Live;

/// <summary>
/// Keeps the last lines of the host's log of level Warning and above. Thread-safe; the lock is held for the time of adding to a queue.
/// </summary>
internal sealed class RecentWarnings(TimeProvider time) : ILoggerProvider
{
    /// <summary>Lines that are kept.</summary>
    public const int Capacity = 100;

    /// <summary>Characters of a line that are kept.</summary>
    public const int MaxCharacters = 400;

    // Guards the two fields below.
    private readonly Lock _gate = new();
    private readonly Queue<LiveWarning> _lines = new(Capacity);
    private long _added;

    public ILogger CreateLogger(string categoryName) => new Logger(this, categoryName);

    /// <summary>The lines since an earlier reading, oldest first, at most <see cref="Capacity"/>.</summary>
    /// <param name="seen">Result of the earlier reading, 0 for none; becomes that of this one.</param>
    public IReadOnlyList<LiveWarning> ReadSince(ref long seen)
    {
        lock (_gate)
        {
            long missing = Math.Min(_added - seen, _lines.Count);
            seen = _added;
            return missing == 0 ? [] : [.. _lines.Skip(_lines.Count - (int)missing)];
        }
    }

    public void Dispose()
    {
        // Holds nothing but memory.
    }

    private void Add(LogLevel level, string category, string text)
    {
        var line = new LiveWarning(
            time.GetUtcNow().ToUnixTimeMilliseconds(), level.ToString(), category, ShownText.Of(text, MaxCharacters));
        lock (_gate)
        {
            if (_lines.Count == Capacity)
            {
                _lines.Dequeue();
            }

            _lines.Enqueue(line);
            _added++;
        }
    }

    private sealed class Logger(RecentWarnings lines, string category) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel is >= LogLevel.Warning and < LogLevel.None;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (IsEnabled(logLevel))
            {
                string text = formatter(state, exception);
                lines.Add(logLevel, category, exception is null ? text : $"{text} {exception.GetType().Name}: {exception.Message}");
            }
        }
    }
}
