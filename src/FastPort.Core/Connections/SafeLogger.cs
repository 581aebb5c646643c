using Microsoft.Extensions.Logging;

namespace FastPort.Connections;

/// <summary>
/// A logger that does not throw: a full disk must end neither a connection, nor a session's queue, nor an event loop. What the logger below
/// throws is dropped with its line, as there is nowhere to tell it. Thread-safe.
/// </summary>
internal sealed class SafeLogger : ILogger
{
    private readonly ILogger _inner;

    private SafeLogger(ILogger inner) => _inner = inner;

    public static ILogger Of(ILogger logger) => logger is SafeLogger ? logger : new SafeLogger(logger);

    public bool IsEnabled(LogLevel logLevel)
    {
        try
        {
            return _inner.IsEnabled(logLevel);
        }
        catch (Exception)
        {
            return false;
        }
    }

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => _inner.BeginScope(state);

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        try
        {
            _inner.Log(logLevel, eventId, state, exception, formatter);
        }
        catch (Exception)
        {
            // Dropped.
        }
    }
}
