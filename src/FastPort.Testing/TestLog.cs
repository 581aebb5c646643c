using Microsoft.Extensions.Logging;

namespace FastPort.Testing;

/// <summary>Passes warnings and errors of the host to a test, each with its exception.</summary>
internal sealed class TestLog(Action<string> write) : ILoggerProvider
{
    public ILogger CreateLogger(string categoryName) => new Lines(categoryName, write);

    public void Dispose()
    {
    }

    private sealed class Lines(string category, Action<string> write) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel is >= LogLevel.Warning and < LogLevel.None;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
        {
            if (!IsEnabled(logLevel))
            {
                return;
            }

            string line = $"{logLevel}, {category}[{eventId.Id}]: {formatter(state, exception)}";
            try
            {
                write(exception is null ? line : $"{line}{Environment.NewLine}{exception}");
            }
            catch (InvalidOperationException)
            {
                // The output of a test that has ended takes no line.
            }
        }
    }
}
