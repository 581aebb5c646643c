using FastPort.Client.Reports;
using FastPort.Connections;
using Microsoft.Extensions.Logging;

namespace FastPort.Client.Load;

/// <summary>
/// Counts lost connections. A server that stops ends all connections at once, so they are logged with at most one line per second.
/// Thread-safe.
/// </summary>
internal sealed partial class ConnectionWatch(ILogger logger, TimeProvider time)
{
    private long _lost;
    private long _loggedAt = long.MinValue;
    private volatile bool _closing;

    /// <summary>Connections that were lost or that the server closed; the client reconnects them.</summary>
    public long Lost => Interlocked.Read(ref _lost);

    /// <summary>From now on this program closes connections itself: their ends do not count.</summary>
    public void Closing() => _closing = true;

    public void OnDisconnected(CloseReason reason)
    {
        if (_closing)
        {
            return;
        }

        Interlocked.Increment(ref _lost);
        long now = time.GetTimestamp();
        long last = Interlocked.Read(ref _loggedAt);
        if ((last == long.MinValue || time.GetElapsedTime(last, now) >= TimeSpan.FromSeconds(1))
            && Interlocked.CompareExchange(ref _loggedAt, now, last) == last)
        {
            ConnectionLost(logger, SafeText.Message(reason.Message));
        }
    }

    [LoggerMessage(6000, LogLevel.Warning, "Connections to the server have ended; reconnecting. {Reason}")]
    private static partial void ConnectionLost(ILogger logger, string reason);
}
