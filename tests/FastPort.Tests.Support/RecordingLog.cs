using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace FastPort.Tests.Support;

/// <summary>Keeps every log line.</summary>
internal sealed class RecordingLog : ILoggerFactory, ILogger
{
    private readonly ConcurrentQueue<LogLine> _lines = new();

    public IReadOnlyList<LogLine> Lines => [.. _lines];

    public IReadOnlyList<LogLine> WithId(int id) => [.. _lines.Where(l => l.Id == id)];

    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider)
    {
    }

    public bool IsEnabled(LogLevel logLevel) => true;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        _lines.Enqueue(new LogLine(eventId.Id, logLevel, formatter(state, exception), exception));

    public void Dispose()
    {
    }
}

internal sealed record LogLine(int Id, LogLevel Level, string Text, Exception? Exception);
