using FastPort.Client.Reports;
using Microsoft.Extensions.Logging;

namespace FastPort.Client.Load;

/// <summary>
/// Counts lost connections, and is the logger of the clients: their warnings show why they do not reconnect. A server that stops ends all
/// connections at once, so there is at most one line per second. Thread-safe.
/// </summary>
internal sealed partial class ConnectionWatch(ILogger logger, TimeProvider time) : ILoggerFactory, ILogger
{
    private long _lost;
    private long _loggedAt = long.MinValue;
    private volatile bool _closing;

    /// <summary>Connections that were lost or that the server closed; the client reconnects them.</summary>
    public long Lost => Interlocked.Read(ref _lost);

    /// <summary>From now on, this program closes connections itself: their ends do not count.</summary>
    public void Closing() => _closing = true;

    public void OnDisconnected(CloseReason reason)
    {
        if (_closing)
        {
            return;
        }

        Interlocked.Increment(ref _lost);
        if (MayLog())
        {
            ConnectionLost(logger, SafeText.Message(reason.Message));
        }
    }

    public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Warning && !_closing;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter)
    {
        if (IsEnabled(logLevel) && MayLog())
        {
            logger.Log(logLevel, eventId, state, exception, formatter);
        }
    }

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    ILogger ILoggerFactory.CreateLogger(string categoryName) => this;

    void ILoggerFactory.AddProvider(ILoggerProvider provider) => throw new NotSupportedException();

    void IDisposable.Dispose()
    {
    }

    private bool MayLog()
    {
        long now = time.GetTimestamp();
        long last = Interlocked.Read(ref _loggedAt);
        return (last == long.MinValue || time.GetElapsedTime(last, now) >= TimeSpan.FromSeconds(1))
            && Interlocked.CompareExchange(ref _loggedAt, now, last) == last;
    }

    [LoggerMessage(6000, LogLevel.Warning, "Connections to the server have ended; reconnecting. {Reason}")]
    private static partial void ConnectionLost(ILogger logger, string reason);
}
