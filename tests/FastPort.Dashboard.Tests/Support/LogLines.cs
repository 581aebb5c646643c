using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace FastPort.Dashboard.Tests.Support;

/// <summary>Keeps every line of a host's log.</summary>
internal sealed class LogLines : ILoggerProvider, ILogger
{
    private readonly ConcurrentQueue<string> _lines = new();

    public IReadOnlyList<string> Lines => [.. _lines];

    public ILogger CreateLogger(string categoryName) => this;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        _lines.Enqueue($"{logLevel} {formatter(state, exception)}");

    public void Dispose()
    {
    }
}
