using FastPort.Connections;
using Microsoft.Extensions.Logging;

namespace FastPort.Client.Load;

/// <summary>
/// Counts lost connections. A server that stops loses all of them at once, so they are logged as one line a second, not one each.
/// Thread-safe.
/// </summary>
internal sealed partial class ConnectionWatch(ILogger logger, TimeProvider time)
{
    private long _lost;
    private long _loggedAt = long.MinValue;
    private volatile bool _closing;

    /// <summary>Connections that were lost or left by the server, and made anew.</summary>
    public long Lost => Interlocked.Read(ref _lost);

    /// <summary>From here on ends of connections are this program's own doing.</summary>
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
            ConnectionLost(logger, reason.Message);
        }
    }

    [LoggerMessage(6000, LogLevel.Warning, "Connections to the server have ended; connecting again. {Reason}")]
    private static partial void ConnectionLost(ILogger logger, string reason);
}
