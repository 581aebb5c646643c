using Microsoft.Extensions.Logging;

namespace FastPort.Transports;

/// <summary>Log messages of the transports; event ids 1000 to 1099.</summary>
internal static partial class TransportLog
{
    [LoggerMessage(1000, LogLevel.Error, "Connection {ConnectionId}: the protocol threw; the connection is aborted")]
    public static partial void ProtocolFault(ILogger logger, long connectionId, Exception exception);

    [LoggerMessage(
        1001, LogLevel.Warning,
        "Accept at {Endpoint} failed: out of file descriptors or memory ({Error}); next try in {DelayMilliseconds} ms. Raise the "
        + "descriptor limit (ulimit -n) or lower the connection limit")]
    public static partial void AcceptPressure(ILogger logger, Endpoint endpoint, string error, double delayMilliseconds);

    [LoggerMessage(1002, LogLevel.Debug, "A connection at {Endpoint} ended before it was accepted ({Error})")]
    public static partial void AcceptTransient(ILogger logger, Endpoint endpoint, string error);

    [LoggerMessage(1003, LogLevel.Critical, "Accept at {Endpoint} failed permanently ({Error}); no new connections are accepted there")]
    public static partial void AcceptFatal(ILogger logger, Endpoint endpoint, string error);

    [LoggerMessage(1004, LogLevel.Information, "Accept at {Endpoint} works again")]
    public static partial void AcceptRecovered(ILogger logger, Endpoint endpoint);

    [LoggerMessage(1005, LogLevel.Error, "A connection accepted at {Endpoint} could not be set up; it is closed")]
    public static partial void AcceptedFault(ILogger logger, Endpoint endpoint, Exception exception);

    [LoggerMessage(
        1006, LogLevel.Error,
        "Connection {ConnectionId}: the release callback of a borrowed buffer threw; it is not called again and the connection continues")]
    public static partial void ReleaseFault(ILogger logger, long connectionId, Exception exception);

    [LoggerMessage(1007, LogLevel.Error, "Event loop {Loop}: a handler threw outside its connection; the loop continues")]
    public static partial void LoopFault(ILogger logger, int loop, Exception exception);

    [LoggerMessage(
        1008, LogLevel.Error,
        "Connection {ConnectionId}: sending threw; the connection is aborted. Memory lent with TrySendBorrowed or ReplyBorrowed must stay "
        + "valid until its release callback is called")]
    public static partial void SendFault(ILogger logger, long connectionId, Exception exception);

    [LoggerMessage(
        1009, LogLevel.Error,
        "Connection {ConnectionId}: reading threw outside the protocol; the connection is aborted. A possible cause is a protocol that "
        + "leaves more bytes unread than a connection may hold (MaxReceiveBytes)")]
    public static partial void ReadFault(ILogger logger, long connectionId, Exception exception);
}
