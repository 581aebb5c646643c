using Microsoft.Extensions.Logging;

namespace FastPort.Logging;

/// <summary>
/// A logger that does not throw: a full disk must not end a connection, a session's queue or an event loop. An exception of the underlying
/// logger is dropped together with its log line. Thread-safe if the underlying logger is.
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
            // Dropped: there is no place to report it.
        }
    }
}
