using Microsoft.Extensions.Logging;

namespace FastPort.TestHost;

/// <summary>
/// Prints each log line as "log", its event id, the time in ms and the text; needs no descriptor of its own. Thread-safe as the console is.
/// </summary>
internal sealed class ConsoleLog(LogLevel lowest = LogLevel.Information) : ILoggerFactory, ILogger
{
    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider)
    {
    }

    public bool IsEnabled(LogLevel logLevel) => logLevel >= lowest;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (IsEnabled(logLevel))
        {
            Console.WriteLine($"log {eventId.Id} {Environment.TickCount64} {formatter(state, exception)}");
        }
    }

    public void Dispose()
    {
    }
}
