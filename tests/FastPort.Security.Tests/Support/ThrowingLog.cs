using Microsoft.Extensions.Logging;

namespace FastPort.Security.Tests.Support;

/// <summary>A logger whose disk is full.</summary>
internal sealed class ThrowingLog : ILogger
{
    private int _calls;

    public int Calls => Volatile.Read(ref _calls);

    public bool IsEnabled(LogLevel logLevel) => true;

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        Interlocked.Increment(ref _calls);
        throw new IOException("The disk of the log is full.");
    }
}
